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

static struct choice_page *new_page(struct browser *browser, size_t capacity, struct error *error)
{
	struct choice_page *choice = calloc(1, sizeof(*choice));
	struct choice_row *rows = calloc(capacity + 2, sizeof(*rows));
	if (choice && rows) {
		choice->rows = rows;
		choice->profile = browser_profile(browser);
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

static struct page *make_by_thread(struct browser *browser, size_t entries, enum share_owner of, struct error *error)
{
	struct choice_page *choice = new_page(browser, entries, error);
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
	return make_by_thread(browser, browser_profile(browser)->thread_count, SHARE_OF_THREAD, error);
}

static struct page *make_processes(struct browser *browser, const char *root, struct error *error)
{
	(void)root;
	return make_by_thread(browser, browser_profile(browser)->process_count, SHARE_OF_PROCESS, error);
}

static struct page *make_resources(struct browser *browser, const char *root, struct error *error)
{
	const struct profile *profile = browser_profile(browser);
	struct choice_page *choice = new_page(browser, profile->resource_count, error);
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

static const char *resource_text(const struct page *page, size_t index)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	return profile_string(choice->profile, choice->profile->resources[choice->rows[index].index].name);
}

static const char *thread_text(const struct page *page, size_t index)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	uint32_t thread = choice->rows[index].index;
	return thread == PROFILE_NONE ? "all threads"
				      : profile_string(choice->profile, choice->profile->threads[thread].name);
}

static const char *process_text(const struct page *page, size_t index)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	uint32_t process = choice->rows[index].index;
	return process == PROFILE_NONE ? "all processes"
				       : profile_string(choice->profile, choice->profile->processes[process].name);
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

static void draw_id(struct browser *browser, int row, int column, unsigned style, uint32_t id, const char *text)
{
	char words[32] = "";
	if (id)
		snprintf(words, sizeof(words), "%u", id);
	column = draw_right(browser, row, column, ID_WIDTH, style, words);
	terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, style, text);
}

static void draw_thread(const struct page *page, struct browser *browser, size_t index, int row, unsigned style)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	uint32_t thread = choice->rows[index].index;
	int column = draw_hits(browser, choice, index, row, style);
	draw_id(browser, row, column, style, thread == PROFILE_NONE ? 0 : choice->profile->threads[thread].tid,
		thread_text(page, index));
}

static void draw_process(const struct page *page, struct browser *browser, size_t index, int row, unsigned style)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	uint32_t process = choice->rows[index].index;
	int column = draw_hits(browser, choice, index, row, style);
	draw_id(browser, row, column, style, process == PROFILE_NONE ? 0 : choice->profile->processes[process].pid,
		process_text(page, index));
}

static void draw_resource(const struct page *page, struct browser *browser, size_t index, int row, unsigned style)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	const struct profile_resource *resource = &choice->profile->resources[choice->rows[index].index];
	int column = draw_hits(browser, choice, index, row, style);
	column = terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, style,
			       resource_text(page, index));
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

static int press_resource(struct page *page, struct browser *browser, int32_t key, struct error *error)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	if (key != TERMINAL_ENTER || choice->count == 0)
		return 0;
	browser_selection(browser)->resource = choice->rows[page->cursor].index;
	return return_chosen(browser, error);
}

static int press_thread(struct page *page, struct browser *browser, int32_t key, struct error *error)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	if (key != TERMINAL_ENTER || choice->count == 0)
		return 0;
	uint32_t thread = choice->rows[page->cursor].index;
	browser_selection(browser)->thread = thread == PROFILE_NONE ? VIEW_ANY : thread;
	return return_chosen(browser, error);
}

static int press_process(struct page *page, struct browser *browser, int32_t key, struct error *error)
{
	const struct choice_page *choice = (const struct choice_page *)page;
	if (key != TERMINAL_ENTER || choice->count == 0)
		return 0;
	uint32_t process = choice->rows[page->cursor].index;
	bool *chosen = NULL;
	if (process != PROFILE_NONE) {
		chosen = calloc(choice->profile->process_count, sizeof(*chosen));
		if (!chosen)
			return error_set(error, ERROR_MEMORY, "out of memory");
		chosen[process] = true;
	}
	free(browser->processes[browser->side]);
	browser->processes[browser->side] = chosen;
	browser_selection(browser)->processes = chosen;
	return return_chosen(browser, error);
}

/* --- the same rows of a newer profile --- */

static int resume_thread(struct page *page, const struct page *old)
{
	const struct choice_page *choice = (const struct choice_page *)page, *before = (const struct choice_page *)old;
	uint32_t chosen = before->rows[old->cursor].index;
	for (size_t i = 1; old->cursor > 1 && chosen != PROFILE_NONE && i < choice->count; i++)
		if (choice->profile->threads[choice->rows[i].index].tid == before->profile->threads[chosen].tid)
			page->cursor = i;
	return 0;
}

static int resume_process(struct page *page, const struct page *old)
{
	const struct choice_page *choice = (const struct choice_page *)page, *before = (const struct choice_page *)old;
	uint32_t chosen = before->rows[old->cursor].index;
	for (size_t i = 1; old->cursor > 1 && chosen != PROFILE_NONE && i < choice->count; i++)
		if (choice->profile->processes[choice->rows[i].index].pid == before->profile->processes[chosen].pid)
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
	.text = resource_text,
	.press = press_resource,
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
	.draw = draw_thread,
	.text = thread_text,
	.press = press_thread,
	.resume = resume_thread,
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
	.draw = draw_process,
	.text = process_text,
	.press = press_process,
	.resume = resume_process,
	.keys = "Enter chooses",
};
