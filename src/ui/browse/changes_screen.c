/* The changes between two profiles, by function. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cxx_name.h"
#include "render/render.h"
#include "reports/diff.h"
#include "ui/browse/browser.h"

enum { CHANGE_WIDTH = 12, PERCENT_WIDTH = 9, MARK_WIDTH = 3, HUNDRED = 100 };

struct changes_screen {
	struct screen screen;
	struct results results;
	const struct diff_list *list;
	struct short_names
		*names; /* of the functions, in the order of the list; NULL: not needed yet, or memory is exhausted */
};

static void release(struct screen *screen)
{
	struct changes_screen *changes = (struct changes_screen *)screen;
	short_names_free(changes->names);
	results_release(&changes->results);
}

static int build(struct browser *browser, struct changes_screen *changes, struct error *error)
{
	const struct view_options *selection = browser_selection(browser);
	const struct view_options view = { .by = selection->by, .thread = VIEW_ANY };
	struct diff_request request = {
		.profiles = browser->profiles,
		.names = browser->names,
		.counts = { 1, 1 },
		.views = (const struct view_options[DIFF_SIDES]){ view, view },
		.resources = &browser->settings[0].view.resource,
		.resource_count = 1,
		.spread = browser->settings[0].spread,
		.chance = DIFF_CHANCE,
		.resources_named = true,
		.sections = { { .report = report_find("body") } },
		.section_count = 1,
	};
	struct error uncompared = { 0 };
	int status = diff_build(&request, &changes->results, &uncompared, error);
	if (status < 0)
		return status;
	if (changes->results.count == 0 || !changes->results.items[0].changes)
		return error_set(error, ERROR_NOT_FOUND, "%s",
				 uncompared.code ? uncompared.message : "the profiles have nothing to compare");
	changes->list = changes->results.items[0].changes;
	return 0;
}

static struct screen *make(struct browser *browser, const char *root, struct error *error)
{
	struct changes_screen *changes = calloc(1, sizeof(*changes));
	(void)root;
	if (!changes) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	if (build(browser, changes, error) == 0)
		return &changes->screen;
	release(&changes->screen);
	free(changes);
	return NULL;
}

static size_t count(const struct screen *screen)
{
	return ((const struct changes_screen *)screen)->list->count;
}

static const char *text(const struct screen *screen, size_t index)
{
	const struct diff_list *list = ((const struct changes_screen *)screen)->list;
	return list->names[path_labels(list->paths, &list->entries[index].path)[0]];
}

/* Whether a row has room for the shares in A and B. */
static bool shows_sides(const struct browser *browser)
{
	return browser->terminal.columns >= DIFF_SIDES * PERCENT_WIDTH + CHANGE_WIDTH + MARK_WIDTH + NAME_LEAST;
}

/* Makes the short names of all rows. A suffix that tells functions apart stays: "main@gzip". */
static void make_names(struct changes_screen *changes)
{
	const struct diff_list *list = changes->list;
	struct short_names_item *items = calloc(list->count + 1, sizeof(*items));
	for (size_t i = 0; i < list->count && items; i++) {
		const char *name = text(&changes->screen, i);
		items[i] = (struct short_names_item){ name, (uint32_t)cxx_name_until(name, strlen(name), 0, '@') };
	}
	changes->names = items ? short_names_new(items, list->count) : NULL;
	free(items);
}

static void head(const struct screen *screen, struct browser *browser, int row)
{
	const struct diff_list *list = ((const struct changes_screen *)screen)->list;
	char total[64] = "";
	int column = 0;
	for (int side = 0; side < DIFF_SIDES && shows_sides(browser); side++)
		column = draw_right(browser, row, column, PERCENT_WIDTH, STYLE_FAINT, side == DIFF_A ? "A" : "B");
	column = draw_right(browser, row, column, CHANGE_WIDTH, STYLE_FAINT, "B - A");
	if (isfinite(diff_total_change(list)))
		snprintf(total, sizeof(total), "; in all %+.1f %%", HUNDRED * diff_total_change(list));
	column = terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, STYLE_FAINT,
			       "*: significant  function, by its own use");
	terminal_text(&browser->terminal, row, column, browser->terminal.columns, STYLE_FAINT, total);
}

static void draw(const struct screen *screen, struct browser *browser, size_t index, int row, unsigned style)
{
	struct changes_screen *changes = (struct changes_screen *)screen;
	const struct diff_entry *entry = &changes->list->entries[index];
	const struct view *view = changes->results.items[0].view;
	const char *unit = profile_string(view->profile, view->resource->unit);
	double change = entry->gticks[DIFF_B] - entry->gticks[DIFF_A];
	char words[64], amount[48];
	int column = 0;
	for (int side = 0; side < DIFF_SIDES && shows_sides(browser); side++) {
		snprintf(words, sizeof(words), "%.1f %%", HUNDRED * entry->fraction[side]);
		column = draw_right(browser, row, column, PERCENT_WIDTH, style, words);
	}
	snprintf(words, sizeof(words), "%s%s", change >= 0 ? "+" : "-",
		 render_amount(amount, sizeof(amount), fabs(change), unit));
	if (entry->significant)
		style |= change > 0 ? STYLE_HOT : STYLE_BETTER;
	column = draw_right(browser, row, column, CHANGE_WIDTH, style, words);
	terminal_text(&browser->terminal, row, column + 1, 1, style, entry->significant ? "*" : " ");
	if (!changes->names && !browser->is_long)
		make_names(changes);
	draw_short(browser, row, column + MARK_WIDTH, style, changes->names, (uint32_t)index, text(screen, index));
}

const struct screen_kind screen_changes = {
	.name = "changes",
	.help = "what changed from profile A to profile B, by function",
	.key = 'd',
	.needs_two = true,
	.make = make,
	.release = release,
	.count = count,
	.head = head,
	.draw = draw,
	.text = text,
	.function = text,
};
