/* Lists from which the user chooses what is shown: resources, threads, processes. Row 0 of the last two is: all. */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/shares.h"
#include "profile/companion.h"
#include "render/render.h"
#include "ui/browse/browser.h"

enum { HITS_WIDTH = 14, ID_WIDTH = 9 };

struct choice_row {
	uint32_t index;  /* in the profile's table; PROFILE_NONE: all */
	uint64_t hits;   /* of the chosen resource; for a resource its own */
	uint64_t recent; /* of them, those since the profile before */
};

struct choice_screen {
	struct screen screen;
	const struct profile *profile;
	const struct setting *setting;
	const struct view *view; /* of all hits of the resource; NULL: the shares are exact */
	struct choice_row *rows;
	size_t count;
	uint64_t total;
	double per_hit; /* percentage of one processor for each recent hit; 0: not shown */
};

static void release(struct screen *screen)
{
	free(((struct choice_screen *)screen)->rows);
}

static size_t count(const struct screen *screen)
{
	return ((const struct choice_screen *)screen)->count;
}

static int by_hits(const void *left, const void *right)
{
	const struct choice_row *a = left, *b = right;
	if (a->hits != b->hits)
		return a->hits < b->hits ? 1 : -1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static struct choice_screen *new_screen(struct browser *browser, const char *setting, size_t capacity,
					struct error *error)
{
	struct choice_screen *choice = calloc(1, sizeof(*choice));
	struct choice_row *rows = calloc(capacity + 2, sizeof(*rows));
	if (choice && rows) {
		choice->rows = rows;
		choice->profile = browser_profile(browser);
		choice->setting = setting_of_command(setting);
		return choice;
	}
	free(choice);
	free(rows);
	error_set(error, ERROR_MEMORY, "out of memory");
	return NULL;
}

/* Sampled shares have an error. Returns 0 or a negative error. */
static int take_view(struct choice_screen *choice, struct browser *browser, struct error *error)
{
	struct view_options all = *browser_selection(browser);
	all.processes = NULL;
	all.label_sets = NULL;
	all.thread = VIEW_ANY;
	all.from_ns = all.to_ns = 0;
	all.transforms = NULL;
	if (choice->profile->resources[all.resource].kind != RESOURCE_SAMPLED)
		return 0;
	choice->view = view_cache_get(&browser->views[browser->side], choice->profile, &all, error);
	return choice->view ? 0 : error->code;
}

/* Fills in the hits since the profile before. */
static int count_recent(struct choice_screen *choice, struct browser *browser, const struct view_options *options,
			enum share_owner of, struct error *error)
{
	struct view_options recent;
	choice->per_hit = live_recent(browser, options, &recent);
	if (choice->per_hit <= 0)
		return 0;
	struct share_list *list = analyze_shares(choice->profile, &recent, of, error);
	if (!list)
		return error->code;
	for (size_t i = 0; i < list->count; i++) {
		choice->rows[0].recent += list->shares[i].hits;
		if (list->shares[i].owner != PROFILE_NONE)
			choice->rows[list->shares[i].owner + 1].recent = list->shares[i].hits;
	}
	share_list_free(list);
	return 0;
}

/* Fills in the hits of the chosen resource, whatever is selected of it, and sorts the rows by them. `rows` are by index, behind the
 * first, which is: all. */
static int count_hits(struct choice_screen *choice, struct browser *browser, enum share_owner of, struct error *error)
{
	const struct view_options options = { .resource = browser_selection(browser)->resource, .thread = VIEW_ANY };
	if (count_recent(choice, browser, &options, of, error) < 0)
		return error->code;
	struct share_list *list = analyze_shares(choice->profile, &options, of, error);
	if (!list)
		return error->code;
	for (size_t i = 0; i < list->count; i++) {
		choice->total += list->shares[i].hits;
		if (list->shares[i].owner != PROFILE_NONE)
			choice->rows[list->shares[i].owner + 1].hits = list->shares[i].hits;
	}
	share_list_free(list);
	choice->rows[0].index = PROFILE_NONE;
	choice->rows[0].hits = choice->total;
	qsort(choice->rows + 1, choice->count - 1, sizeof(*choice->rows), by_hits);
	return 0;
}

static struct screen *make_by_thread(struct browser *browser, const char *setting, size_t entries, enum share_owner of,
				     struct error *error)
{
	struct choice_screen *choice = new_screen(browser, setting, entries, error);
	if (!choice)
		return NULL;
	choice->count = entries + 1;
	for (size_t i = 0; i < entries; i++)
		choice->rows[i + 1].index = (uint32_t)i;
	if (take_view(choice, browser, error) == 0 && count_hits(choice, browser, of, error) == 0)
		return &choice->screen;
	release(&choice->screen);
	free(choice);
	return NULL;
}

static struct screen *make_threads(struct browser *browser, const char *root, struct error *error)
{
	(void)root;
	return make_by_thread(browser, "thread", browser_profile(browser)->thread_count, SHARE_OF_THREAD, error);
}

static struct screen *make_processes(struct browser *browser, const char *root, struct error *error)
{
	(void)root;
	return make_by_thread(browser, "process", browser_profile(browser)->process_count, SHARE_OF_PROCESS, error);
}

static struct screen *make_resources(struct browser *browser, const char *root, struct error *error)
{
	const struct profile *profile = browser_profile(browser);
	struct choice_screen *choice = new_screen(browser, "resource", profile->resource_count, error);
	(void)root;
	if (!choice)
		return NULL;
	for (uint32_t i = 0; i < profile->resource_count; i++) {
		if (companion_is(profile, i))
			continue;
		if (i == browser_selection(browser)->resource)
			choice->screen.cursor = choice->count;
		choice->rows[choice->count++].index = i;
	}
	for (size_t i = 0; i < profile->hit_count; i++)
		for (size_t row = 0; row < choice->count; row++)
			if (choice->rows[row].index == profile->hits[i].resource)
				choice->rows[row].hits += profile->hits[i].count;
	return &choice->screen;
}

/* --- rows --- */

/* Returns the TID or PID; 0: all. */
static uint32_t id_of(const struct screen *screen, size_t index)
{
	const struct choice_screen *choice = (const struct choice_screen *)screen;
	uint32_t row = choice->rows[index].index;
	return row == PROFILE_NONE               ? 0
	       : screen->kind == &screen_threads ? choice->profile->threads[row].tid
						 : choice->profile->processes[row].pid;
}

static const char *text(const struct screen *screen, size_t index)
{
	const struct choice_screen *choice = (const struct choice_screen *)screen;
	uint32_t row = choice->rows[index].index;
	return row != PROFILE_NONE               ? choice->setting->row_name(choice->profile, row)
	       : screen->kind == &screen_threads ? "all threads"
						 : "all processes";
}

static int draw_hits(const struct browser *browser, const struct choice_screen *choice, size_t index, int row,
		     unsigned style)
{
	char words[64];
	uint64_t hits = choice->rows[index].hits;
	if (choice->view && choice->view->total > 0)
		render_share(words, sizeof(words), choice->view, hits, NULL,
			     terminal_sign(&browser->terminal, SIGN_ERROR));
	else if (choice->total > 0)
		snprintf(words, sizeof(words), "%.1f %%", 100 * (double)hits / (double)choice->total);
	else
		snprintf(words, sizeof(words), "%llu", (unsigned long long)hits);
	return draw_right(browser, row, 0, HITS_WIDTH, style, words);
}

static void draw_id(const struct screen *screen, struct browser *browser, size_t index, int row, unsigned style)
{
	char words[32] = "";
	const struct choice_screen *choice = (const struct choice_screen *)screen;
	int column = draw_hits(browser, choice, index, row, style);
	if (choice->per_hit > 0)
		column = draw_cpu(browser, row, column, style, choice->rows[index].recent, choice->per_hit);
	if (id_of(screen, index))
		snprintf(words, sizeof(words), "%u", id_of(screen, index));
	column = draw_right(browser, row, column, ID_WIDTH, style, words);
	terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, style, text(screen, index));
}

static void draw_resource(const struct screen *screen, struct browser *browser, size_t index, int row, unsigned style)
{
	const struct choice_screen *choice = (const struct choice_screen *)screen;
	const struct profile_resource *resource = &choice->profile->resources[choice->rows[index].index];
	int column = draw_hits(browser, choice, index, row, style);
	column = terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, style,
			       text(screen, index));
	column = terminal_text(&browser->terminal, row, column, browser->terminal.columns, style, "  ");
	terminal_text(&browser->terminal, row, column, browser->terminal.columns, style | STYLE_FAINT,
		      profile_string(choice->profile, resource->title));
}

static void head_resources(const struct screen *screen, struct browser *browser, int row)
{
	(void)screen;
	int column = draw_right(browser, row, 0, HITS_WIDTH, STYLE_FAINT, "hits");
	terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, STYLE_FAINT, "resource");
}

static void head_ids(const struct screen *screen, struct browser *browser, int row)
{
	int column = draw_right(browser, row, 0, HITS_WIDTH, STYLE_FAINT, "share");
	if (((const struct choice_screen *)screen)->per_hit > 0)
		column = draw_right(browser, row, column, CPU_WIDTH, STYLE_FAINT, "CPU %");
	column = draw_right(browser, row, column, ID_WIDTH, STYLE_FAINT,
			    screen->kind == &screen_threads ? "TID" : "PID");
	terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, STYLE_FAINT, "name");
}

/* --- the choice --- */

/* Returns to the screen before, with the new selection. */
static int return_chosen(struct browser *browser, struct error *error)
{
	if (!browser_back(browser, error))
		return browser_open(browser, &screen_tree, NULL, error) < 0 ? error->code : 1;
	return 1;
}

static int press(struct screen *screen, struct browser *browser, int32_t key, struct error *error)
{
	const struct choice_screen *choice = (const struct choice_screen *)screen;
	if (key != TERMINAL_ENTER || choice->count == 0)
		return 0;
	char number[16];
	uint32_t row = choice->rows[screen->cursor].index;
	snprintf(number, sizeof(number), "#%u", row + 1);
	const char *value = screen->kind == &screen_resources ? text(screen, screen->cursor) : number;
	int status = setting_read(choice->setting, &browser->settings[browser->side], choice->profile, &value,
				  row != PROFILE_NONE, error);
	return status < 0 ? status : return_chosen(browser, error);
}

/* Finds the chosen row among the rows of a newer profile. */
static int resume(struct screen *screen, const struct screen *old)
{
	const struct choice_screen *choice = (const struct choice_screen *)screen;
	for (size_t i = 1; old->cursor > 1 && id_of(old, old->cursor) && i < choice->count; i++)
		if (id_of(screen, i) == id_of(old, old->cursor))
			screen->cursor = i;
	return 0;
}

const struct screen_kind screen_resources = {
	.name = "resources",
	.help = "choose another resource",
	.key = 'r',
	.make = make_resources,
	.release = release,
	.count = count,
	.head = head_resources,
	.draw = draw_resource,
	.text = text,
	.press = press,
	.keys = "Enter chooses",
};

const struct screen_kind screen_threads = {
	.name = "threads",
	.help = "choose a thread",
	.key = 'T',
	.make = make_threads,
	.release = release,
	.count = count,
	.head = head_ids,
	.draw = draw_id,
	.text = text,
	.press = press,
	.resume = resume,
	.keys = "Enter chooses",
};

const struct screen_kind screen_processes = {
	.name = "processes",
	.help = "choose a process",
	.key = 'P',
	.make = make_processes,
	.release = release,
	.count = count,
	.head = head_ids,
	.draw = draw_id,
	.text = text,
	.press = press,
	.resume = resume,
	.keys = "Enter chooses",
};
