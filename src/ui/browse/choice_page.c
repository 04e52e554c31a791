/* Lists from which the user chooses what is shown: resources, threads, processes. Row 0 of the last two is: all. */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/shares.h"
#include "profile/companion.h"
#include "render/render.h"
#include "ui/browse/browser.h"

enum { HITS_WIDTH = 14, ID_WIDTH = 9 };

struct choice_row {
	uint32_t index; /* in the profile's table; PROFILE_NONE: all */
	uint64_t hits;  /* of the chosen resource; for a resource its own */
};

struct choice_page {
	struct page page;
	const struct profile *profile;
	const struct setting *setting;
	const struct view *view; /* of all hits of the resource; NULL: the shares are exact */
	struct choice_row *rows;
	size_t count;
	uint64_t total;
};

static void release(struct page *page)
{
	free(((struct choice_page *)page)->rows);
}

static size_t count(const struct page *page)
{
	return ((const struct choice_page *)page)->count;
}

static int by_hits(const void *left, const void *right)
{
	const struct choice_row *a = left, *b = right;
	if (a->hits != b->hits)
		return a->hits < b->hits ? 1 : -1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static struct choice_page *new_page(struct browser *browser, const char *setting, size_t capacity, struct error *error)
{
	struct choice_page *choice = calloc(1, sizeof(*choice));
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
static int take_view(struct choice_page *choice, struct browser *browser, struct error *error)
{
	struct view_options all = *browser_selection(browser);
	all.processes = NULL;
	all.label_sets = NULL;
	all.thread = VIEW_ANY;
	all.from_ns = all.to_ns = 0;
	if (choice->profile->resources[all.resource].kind != RESOURCE_SAMPLED)
		return 0;
	choice->view = view_cache_get(&browser->views[browser->side], choice->profile, &all, error);
	return choice->view ? 0 : error->code;
}

/* Fills in the hits of the chosen resource, whatever is selected of it, and sorts the rows by them. `rows` are by index, behind the
 * first, which is: all. */
static int count_hits(struct choice_page *choice, uint32_t resource, enum share_owner of, struct error *error)
{
	const struct view_options options = { .resource = resource, .thread = VIEW_ANY };
	struct share_list *list = analyze_shares(choice->profile, &options, of, error);
	if (!list)
		return error->code;
	for (size_t i = 0; i < list->count; i++) {
		choice->total += list->shares[i].hits;
		if (list->shares[i].owner != PROFILE_NONE)
			choice->rows[list->shares[i].owner + 1].hits = list->shares[i].hits;
	}
	share_list_free(list);
	choice->rows[0] = (struct choice_row){ PROFILE_NONE, choice->total };
	qsort(choice->rows + 1, choice->count - 1, sizeof(*choice->rows), by_hits);
	return 0;
}

static struct page *make_by_thread(struct browser *browser, const char *setting, size_t entries, enum share_owner of,
				   struct error *error)
{
	struct choice_page *choice = new_page(browser, setting, entries, error);
	if (!choice)
		return NULL;
	choice->count = entries + 1;
	for (size_t i = 0; i < entries; i++)
		choice->rows[i + 1].index = (uint32_t)i;
	if (take_view(choice, browser, error) == 0 &&
	    count_hits(choice, browser_selection(browser)->resource, of, error) == 0)
		return &choice->page;
	release(&choice->page);
	free(choice);
	return NULL;
}

static struct page *make_threads(struct browser *browser, const char *root, struct error *error)
{
	(void)root;
	return make_by_thread(browser, "thread", browser_profile(browser)->thread_count, SHARE_OF_THREAD, error);
}

static struct page *make_processes(struct browser *browser, const char *root, struct error *error)
{
	(void)root;
	return make_by_thread(browser, "process", browser_profile(browser)->process_count, SHARE_OF_PROCESS, error);
}

static struct page *make_resources(struct browser *browser, const char *root, struct error *error)
{
	const struct profile *profile = browser_profile(browser);
	struct choice_page *choice = new_page(browser, "resource", profile->resource_count, error);
	(void)root;
	if (!choice)
		return NULL;
	for (uint32_t i = 0; i < profile->resource_count; i++) {
		if (companion_is(profile, i))
			continue;
		if (i == browser_selection(browser)->resource)
			choice->page.cursor = choice->count;
		choice->rows[choice->count++].index = i;
	}
	for (size_t i = 0; i < profile->hit_count; i++)
		for (size_t row = 0; row < choice->count; row++)
			if (choice->rows[row].index == profile->hits[i].resource)
				choice->rows[row].hits += profile->hits[i].count;
	return &choice->page;
}

/* --- rows --- */

/* Returns the TID or PID; 0: all. */
static uint32_t id_of(const struct page *page, size_t index)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	uint32_t row = choice->rows[index].index;
	return row == PROFILE_NONE           ? 0
	       : page->kind == &page_threads ? choice->profile->threads[row].tid
					     : choice->profile->processes[row].pid;
}

static const char *text(const struct page *page, size_t index)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	uint32_t row = choice->rows[index].index;
	return row != PROFILE_NONE           ? choice->setting->row_name(choice->profile, row)
	       : page->kind == &page_threads ? "all threads"
					     : "all processes";
}

static int draw_hits(const struct browser *browser, const struct choice_page *choice, size_t index, int row,
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

static void draw_id(const struct page *page, struct browser *browser, size_t index, int row, unsigned style)
{
	char words[32] = "";
	int column = draw_hits(browser, (const struct choice_page *)page, index, row, style);
	if (id_of(page, index))
		snprintf(words, sizeof(words), "%u", id_of(page, index));
	column = draw_right(browser, row, column, ID_WIDTH, style, words);
	terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, style, text(page, index));
}

static void draw_resource(const struct page *page, struct browser *browser, size_t index, int row, unsigned style)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	const struct profile_resource *resource = &choice->profile->resources[choice->rows[index].index];
	int column = draw_hits(browser, choice, index, row, style);
	column =
		terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, style, text(page, index));
	column = terminal_text(&browser->terminal, row, column, browser->terminal.columns, style, "  ");
	terminal_text(&browser->terminal, row, column, browser->terminal.columns, style | STYLE_FAINT,
		      profile_string(choice->profile, resource->title));
}

static void head_resources(const struct page *page, struct browser *browser, int row)
{
	(void)page;
	int column = draw_right(browser, row, 0, HITS_WIDTH, STYLE_FAINT, "hits");
	terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, STYLE_FAINT, "resource");
}

static void head_ids(const struct page *page, struct browser *browser, int row)
{
	(void)page;
	int column = draw_right(browser, row, 0, HITS_WIDTH, STYLE_FAINT, "share");
	column = draw_right(browser, row, column, ID_WIDTH, STYLE_FAINT, page->kind == &page_threads ? "TID" : "PID");
	terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, STYLE_FAINT, "name");
}

/* --- the choice --- */

/* Returns to the page before, with the new selection. */
static int return_chosen(struct browser *browser, struct error *error)
{
	if (!browser_back(browser, error))
		return browser_open(browser, &page_tree, NULL, error) < 0 ? error->code : 1;
	return 1;
}

static int press(struct page *page, struct browser *browser, int32_t key, struct error *error)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	if (key != TERMINAL_ENTER || choice->count == 0)
		return 0;
	char number[16];
	uint32_t row = choice->rows[page->cursor].index;
	snprintf(number, sizeof(number), "#%u", row + 1);
	const char *value = page->kind == &page_resources ? text(page, page->cursor) : number;
	int status = setting_read(choice->setting, &browser->settings[browser->side], choice->profile, &value,
				  row != PROFILE_NONE, error);
	return status < 0 ? status : return_chosen(browser, error);
}

/* Finds the chosen row among those of a newer profile. */
static int resume(struct page *page, const struct page *old)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	for (size_t i = 1; old->cursor > 1 && id_of(old, old->cursor) && i < choice->count; i++)
		if (id_of(page, i) == id_of(old, old->cursor))
			page->cursor = i;
	return 0;
}

const struct page_kind page_resources = {
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

const struct page_kind page_threads = {
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

const struct page_kind page_processes = {
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
