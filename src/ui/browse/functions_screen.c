/* The list of functions: what each used itself and with its callees. */
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "ui/browse/browser.h"

struct function_row {
	uint64_t total, own;
	uint64_t total_error, own_error; /* of a corrected resource, in gticks */
	uint64_t recent;                 /* with callees, since the profile before */
	uint32_t label;
};

enum order { BY_TOTAL, BY_OWN, BY_NAME, ORDERS };

struct functions_screen {
	struct screen screen;
	struct results totals, owns;
	const struct view *view;
	struct function_row *rows;
	size_t count;
	enum order order;
	bool is_corrected;
	double per_hit; /* percentage of one processor for each recent hit; 0: not shown */
};

static int compare(const void *left, const void *right, void *context)
{
	const struct function_row *a = left, *b = right;
	enum order order = *(const enum order *)context;
	uint64_t of_a = order == BY_OWN ? a->own : a->total, of_b = order == BY_OWN ? b->own : b->total;
	if (order != BY_NAME && of_a != of_b)
		return of_a < of_b ? 1 : -1;
	return a->label < b->label ? -1 : a->label > b->label;
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(((const struct view_label *)left)->text, ((const struct view_label *)right)->text);
}

static void sort(struct functions_screen *functions)
{
	qsort_r(functions->rows, functions->count, sizeof(*functions->rows), compare, &functions->order);
}

/* Joins the two lists by label: every function of the second is in the first. */
static int join(struct functions_screen *functions, struct error *error)
{
	const struct result *totals = &functions->totals.items[0], *owns = &functions->owns.items[0];
	const struct path_list *list = totals->paths;
	uint32_t *row_of = calloc(totals->view->label_count + 1, sizeof(*row_of));
	functions->view = totals->view;
	functions->rows = calloc(list->count + 1, sizeof(*functions->rows));
	functions->is_corrected = totals->errors != NULL;
	if (!row_of || !functions->rows) {
		free(row_of);
		return error_set(error, ERROR_MEMORY, "out of memory");
	}
	for (size_t i = 0; i < list->count; i++) {
		uint32_t label = path_labels(list, &list->entries[i])[0];
		functions->rows[i] = (struct function_row){ .total = list->entries[i].hits,
							    .total_error = totals->errors ? totals->errors[i] : 0,
							    .label = label };
		row_of[label] = (uint32_t)i;
	}
	functions->count = list->count;
	for (size_t i = 0; i < owns->paths->count; i++) {
		struct function_row *row =
			&functions->rows[row_of[path_labels(owns->paths, &owns->paths->entries[i])[0]]];
		row->own = owns->paths->entries[i].hits;
		row->own_error = owns->errors ? owns->errors[i] : 0;
	}
	free(row_of);
	return 0;
}

/* Returns the label with this text, or NULL. */
static const struct view_label *label_of(const struct view *view, const char *text)
{
	const struct view_label wanted = { .text = text };
	return bsearch(&wanted, view->labels, view->label_count, sizeof(*view->labels), compare_texts);
}

/* Adds the hits since the profile before to the rows. */
static int add_recent(struct functions_screen *functions, struct browser *browser, struct error *error)
{
	struct view_options recent;
	functions->per_hit = live_recent(browser, browser_selection(browser), &recent);
	if (functions->per_hit <= 0)
		return 0;
	recent.by = functions->view->options.by;
	const struct view *view = view_cache_get(&browser->views[0], browser->profiles[0], &recent, error);
	struct path_list *list = view ? analyze_functions(view, error) : NULL;
	uint64_t *hits = list ? calloc(functions->view->label_count + 1, sizeof(*hits)) : NULL;
	for (size_t i = 0; hits && i < list->count; i++) {
		const char *text = view->labels[path_labels(list, &list->entries[i])[0]].text;
		const struct view_label *label = label_of(functions->view, text);
		if (label)
			hits[label - functions->view->labels] = list->entries[i].hits;
	}
	for (size_t i = 0; hits && i < functions->count; i++)
		functions->rows[i].recent = hits[functions->rows[i].label];
	int status = hits ? 0 : list ? error_set(error, ERROR_MEMORY, "out of memory") : error->code;
	path_list_free(list);
	free(hits);
	return status;
}

static void release(struct screen *screen)
{
	struct functions_screen *functions = (struct functions_screen *)screen;
	results_release(&functions->totals);
	results_release(&functions->owns);
	free(functions->rows);
}

static struct screen *make(struct browser *browser, const char *root, struct error *error)
{
	struct functions_screen *functions = calloc(1, sizeof(*functions));
	(void)root;
	if (!functions) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	if (browser_report(browser, "functions", NULL, &functions->totals, error) == 0 &&
	    browser_report(browser, "body", NULL, &functions->owns, error) == 0 && join(functions, error) == 0 &&
	    add_recent(functions, browser, error) == 0) {
		functions->order = BY_OWN;
		sort(functions);
		return &functions->screen;
	}
	release(&functions->screen);
	free(functions);
	return NULL;
}

static size_t count(const struct screen *screen)
{
	return ((const struct functions_screen *)screen)->count;
}

static const char *text(const struct screen *screen, size_t index)
{
	const struct functions_screen *functions = (const struct functions_screen *)screen;
	return functions->view->labels[functions->rows[index].label].text;
}

static void head(const struct screen *screen, struct browser *browser, int row)
{
	const struct functions_screen *functions = (const struct functions_screen *)screen;
	enum order order = functions->order;
	const unsigned chosen = STYLE_TITLE;
	int column = 0;
	if (shows_own(browser))
		column = draw_right(browser, row, 0, SHARE_WIDTH, order == BY_OWN ? chosen : STYLE_FAINT, "own");
	column =
		draw_right(browser, row, column, SHARE_WIDTH, order == BY_TOTAL ? chosen : STYLE_FAINT, "with callees");
	if (shows_amount(browser))
		column = draw_right(browser, row, column, AMOUNT_WIDTH, STYLE_FAINT, "amount");
	if (functions->per_hit > 0 && shows_cpu(browser))
		column = draw_right(browser, row, column, CPU_WIDTH, STYLE_FAINT, "CPU %");
	terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns,
		      order == BY_NAME ? chosen : STYLE_FAINT, "function");
}

static void draw(const struct screen *screen, struct browser *browser, size_t index, int row, unsigned style)
{
	const struct functions_screen *functions = (const struct functions_screen *)screen;
	const struct function_row *shown = &functions->rows[index];
	const struct view *view = functions->view;
	unsigned painted = style | share_style(view, shown->own);
	if (shown->own > 0 && shows_own(browser))
		draw_share(browser, row, 0, painted, view, shown->own,
			   functions->is_corrected ? &shown->own_error : NULL);
	int column = shows_own(browser) ? SHARE_WIDTH : 0;
	column = draw_share(browser, row, column, style, view, shown->total,
			    functions->is_corrected ? &shown->total_error : NULL);
	if (shows_amount(browser))
		column = draw_amount(browser, row, column, style, view, shown->total);
	if (functions->per_hit > 0 && shows_cpu(browser))
		column = draw_cpu(browser, row, column, style, shown->recent, functions->per_hit);
	draw_name(browser, row, column + 2, painted, view, shown->label);
}

static int press(struct screen *screen, struct browser *browser, int32_t key, struct error *error)
{
	struct functions_screen *functions = (struct functions_screen *)screen;
	if (key == TERMINAL_ENTER && functions->count > 0) {
		int status = browser_open(browser, &screen_callees, text(screen, screen->cursor), error);
		return status < 0 ? status : 1;
	}
	if (key != 'o')
		return 0;
	functions->order = (functions->order + 1) % ORDERS;
	sort(functions);
	screen->cursor = 0;
	return 1;
}

/* The cursor stays on its function, unless it is on the first row: there the user looks at whatever is first. */
static int resume(struct screen *screen, const struct screen *old)
{
	struct functions_screen *functions = (struct functions_screen *)screen;
	const struct functions_screen *before = (const struct functions_screen *)old;
	functions->order = before->order;
	sort(functions);
	for (size_t i = 0; old->cursor > 0 && i < functions->count; i++)
		if (strcmp(text(screen, i), text(old, old->cursor)) == 0)
			screen->cursor = i;
	return 0;
}

const struct screen_kind screen_functions = {
	.name = "functions",
	.help = "each function: its own use, and with its callees",
	.key = 'f',
	.make = make,
	.release = release,
	.count = count,
	.head = head,
	.draw = draw,
	.text = text,
	.function = text,
	.press = press,
	.resume = resume,
	.keys = "Enter: its callees, o sorts",
};
