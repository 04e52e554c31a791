/* Trees of call paths: from their roots down, the same below a function, and from the innermost functions up. */
#include <stdlib.h>
#include <string.h>

#include "analyze/flame.h"
#include "analyze/lookup.h"
#include "analyze/transform.h"
#include "base/array.h"
#include "ui/browse/browser.h"

struct tree_row {
	struct flame_box box;
	uint32_t depth; /* below the first rows */
	bool has_children, is_open;
};

struct tree_screen {
	struct screen screen;
	struct results results; /* the sample tree; empty: callers */
	const struct view *view;
	const uint64_t *errors; /* by node, of a corrected resource; NULL: none */
	struct flame *flame;
	bool is_of_stacks; /* the boxes of `flame` are the nodes of `view` */
	struct tree_row *rows;
	size_t count, capacity;
	bool is_changed;         /* the user has opened or closed a row */
	struct flame_box *boxes; /* scratch */
	size_t box_capacity;
};

/* --- rows --- */

static int by_weight(const void *left, const void *right)
{
	const struct flame_box *a = left, *b = right;
	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return a->label < b->label ? -1 : a->label > b->label;
}

/* Puts the children of a box into tree->boxes, largest first. Returns their number or ERROR_MEMORY. */
static int64_t children_of(struct tree_screen *tree, uint32_t node, uint64_t weight)
{
	struct flame_window window = { .node = node, .from = 0, .to = weight, .depths = 1 };
	int64_t count = flame_visible(tree->flame, &window, tree->boxes, tree->box_capacity);
	if (count > 0 && (size_t)count > tree->box_capacity) {
		if (ARRAY_RESERVE(tree->boxes, tree->box_capacity, (size_t)count) < 0)
			return ERROR_MEMORY;
		count = flame_visible(tree->flame, &window, tree->boxes, tree->box_capacity);
	}
	if (count <= 1)
		return count < 0 ? count : 0;
	/* The first is the box itself. */
	memmove(tree->boxes, tree->boxes + 1, ((size_t)count - 1) * sizeof(*tree->boxes));
	qsort(tree->boxes, (size_t)count - 1, sizeof(*tree->boxes), by_weight);
	return count - 1;
}

/* Inserts the children of a box behind row `at` - 1. */
static int insert_children(struct tree_screen *tree, size_t at, const struct flame_box *box, uint32_t depth)
{
	int64_t count = children_of(tree, box->node, box->weight);
	if (count < 0 || ARRAY_RESERVE(tree->rows, tree->capacity, tree->count + (size_t)count) < 0)
		return ERROR_MEMORY;
	if (count == 0)
		return 0; /* there may be no rows yet */
	memmove(tree->rows + at + count, tree->rows + at, (tree->count - at) * sizeof(*tree->rows));
	for (size_t i = 0; i < (size_t)count; i++) {
		const struct flame_box *child = &tree->boxes[i];
		tree->rows[at + i] = (struct tree_row){ *child, depth, child->own < child->weight, false };
	}
	tree->count += (size_t)count;
	return 0;
}

static int open_row(struct tree_screen *tree, size_t at)
{
	struct tree_row row = tree->rows[at];
	if (!row.has_children || row.is_open)
		return 0;
	int status = insert_children(tree, at + 1, &row.box, row.depth + 1);
	if (status == 0)
		tree->rows[at].is_open = true;
	return status;
}

static void close_row(struct tree_screen *tree, size_t at)
{
	size_t end = at + 1;
	while (end < tree->count && tree->rows[end].depth > tree->rows[at].depth)
		end++;
	memmove(tree->rows + at + 1, tree->rows + end, (tree->count - end) * sizeof(*tree->rows));
	tree->count -= end - at - 1;
	tree->rows[at].is_open = false;
}

/* Returns the row above in the tree, or the row itself if it is one of the first. */
static size_t parent_row(const struct tree_screen *tree, size_t at)
{
	size_t above = at;
	while (above > 0 && tree->rows[above].depth >= tree->rows[at].depth)
		above--;
	return tree->rows[above].depth < tree->rows[at].depth ? above : at;
}

/* Opens the hot path (analyze/hot_path.h), also of callers: a row, and its largest child, and so on, while that child has most of the row's hits. Returns the last opened row, or
 * ERROR_MEMORY. */
static int64_t open_hot(struct tree_screen *tree, size_t at)
{
	for (;;) {
		if (open_row(tree, at) < 0)
			return ERROR_MEMORY;
		if (!tree->rows[at].is_open || tree->rows[at + 1].box.weight * 2 < tree->rows[at].box.weight)
			return (int64_t)at;
		at++;
	}
}

/* --- the search in what is not open --- */

/* Opens the rows above a node of the view and moves the cursor there. Returns 0 or ERROR_MEMORY. */
static int reveal(struct tree_screen *tree, uint32_t node)
{
	size_t at = 0;
	while (at < tree->count) {
		const struct tree_row *row = &tree->rows[at];
		if (row->box.node == node)
			break;
		if (row->box.node < node && node < tree->view->end[row->box.node] && open_row(tree, at) < 0)
			return ERROR_MEMORY;
		at++;
	}
	if (at < tree->count)
		tree->screen.cursor = at;
	return 0;
}

/* Whether match `a` comes before `b`: the larger first. */
static bool precedes(const struct view *view, uint32_t a, uint32_t b)
{
	return view->weight[a] != view->weight[b] ? view->weight[a] > view->weight[b] : a < b;
}

static bool *matching_labels(const struct view *view, const char *text)
{
	bool *marks = calloc(view->label_count + 1, sizeof(*marks));
	for (size_t i = 0; marks && i < view->label_count; i++)
		marks[i] = strcasestr(view->labels[i].text, text) != NULL;
	return marks;
}

/* Finds the next match of the whole tree: in the order of weight, the node behind (or before) the cursor's node. From a row that is no match,
 * it is the largest match (or the smallest). */
static uint32_t next_match(const struct view *view, const bool *marks, uint32_t from, bool forward)
{
	bool is_match = from > 0 && from < view->node_count && marks[view->label[from]];
	uint32_t found = PROFILE_NONE;
	for (uint32_t node = 1; node < view->node_count; node++) {
		if (!marks[view->label[node]] || node == from)
			continue;
		bool is_behind = !is_match || (forward ? precedes(view, from, node) : precedes(view, node, from));
		if (is_behind &&
		    (found == PROFILE_NONE || (forward ? precedes(view, node, found) : precedes(view, found, node))))
			found = node;
	}
	return found;
}

static bool search(struct screen *screen, struct browser *browser, const char *text, bool forward)
{
	struct tree_screen *tree = (struct tree_screen *)screen;
	(void)browser;
	bool *marks = tree->count > 0 ? matching_labels(tree->view, text) : NULL;
	if (!marks)
		return false;
	uint32_t found = next_match(tree->view, marks, tree->rows[screen->cursor].box.node, forward);
	free(marks);
	return found != PROFILE_NONE && reveal(tree, found) == 0;
}

/* --- the screen --- */

static void release(struct screen *screen)
{
	struct tree_screen *tree = (struct tree_screen *)screen;
	flame_free(tree->flame);
	results_release(&tree->results);
	free(tree->rows);
	free(tree->boxes);
}

static size_t count(const struct screen *screen)
{
	return ((const struct tree_screen *)screen)->count;
}

static const char *text(const struct screen *screen, size_t index)
{
	const struct tree_screen *tree = (const struct tree_screen *)screen;
	return tree->view->labels[tree->rows[index].box.label].text;
}

static const char *function(const struct screen *screen, size_t index)
{
	const struct tree_screen *tree = (const struct tree_screen *)screen;
	return tree->view->labels[tree->rows[index].box.label].owner;
}

static void head(const struct screen *screen, struct browser *browser, int row)
{
	(void)screen;
	int column = draw_right(browser, row, 0, SHARE_WIDTH, STYLE_FAINT, "with callees");
	if (shows_own(browser))
		column = draw_right(browser, row, column, SHARE_WIDTH, STYLE_FAINT, "own");
	if (shows_amount(browser))
		column = draw_right(browser, row, column, AMOUNT_WIDTH, STYLE_FAINT, "amount");
	terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, STYLE_FAINT, "call path");
}

static void head_of_callers(const struct screen *screen, struct browser *browser, int row)
{
	(void)screen;
	int column = draw_right(browser, row, 0, SHARE_WIDTH, STYLE_FAINT, "on this path");
	if (shows_own(browser))
		column = draw_right(browser, row, column, SHARE_WIDTH, STYLE_FAINT, "begins here");
	if (shows_amount(browser))
		column = draw_right(browser, row, column, AMOUNT_WIDTH, STYLE_FAINT, "amount");
	terminal_text(&browser->terminal, row, column + 2, browser->terminal.columns, STYLE_FAINT,
		      "function, and its callers below it");
}

static void draw(const struct screen *screen, struct browser *browser, size_t index, int row, unsigned style)
{
	enum { INDENT = 2, INDENT_PART = 2 };
	const struct tree_screen *tree = (const struct tree_screen *)screen;
	const struct tree_row *shown = &tree->rows[index];
	struct terminal *terminal = &browser->terminal;
	const struct view *view = tree->view;
	const uint64_t *error = tree->errors ? &tree->errors[shown->box.node] : NULL;
	int column = draw_share(browser, row, 0, style, view, shown->box.weight, error);
	/* The errors of the tree belong to whole nodes. */
	if (shown->box.own > 0 && shows_own(browser))
		draw_share(browser, row, column, style | share_style(view, shown->box.own), view, shown->box.own, NULL);
	column += shows_own(browser) ? SHARE_WIDTH : 0;
	if (shows_amount(browser))
		column = draw_amount(browser, row, column, style, view, shown->box.weight);
	column += 2;
	/* Names stay visible at any depth: the indent is at most half of the rest of the row. */
	int most = (terminal->columns - column) / INDENT_PART, indent = (int)shown->depth * INDENT;
	column += indent < most ? indent : most > 0 ? most : 0;
	column = terminal_text(terminal, row, column, terminal->columns, style,
			       terminal_sign(terminal, !shown->has_children ? SIGN_LEAF
						       : shown->is_open     ? SIGN_OPEN
									    : SIGN_CLOSED));
	column = draw_name(browser, row, column + 1, style | share_style(view, shown->box.own), view, shown->box.label);
	if (tree->is_of_stacks && view_is_tail(view, shown->box.node))
		terminal_text(terminal, row, column, terminal->columns, style, " (tail)");
}

static int press(struct screen *screen, struct browser *browser, int32_t key, struct error *error)
{
	struct tree_screen *tree = (struct tree_screen *)screen;
	int64_t status = 1;
	(void)browser;
	if (tree->count == 0)
		return 0;
	const struct tree_row *row = &tree->rows[screen->cursor];
	bool was_open = row->is_open;
	if (key == TERMINAL_ENTER || key == ' ')
		key = was_open ? TERMINAL_LEFT : TERMINAL_RIGHT;
	if (key == TERMINAL_RIGHT || key == 'l') {
		status = open_row(tree, screen->cursor);
		if (was_open)
			screen->cursor++;
	} else if (key == TERMINAL_LEFT || key == 'h') {
		if (was_open)
			close_row(tree, screen->cursor);
		else
			screen->cursor = parent_row(tree, screen->cursor);
	} else if (key == 'e') {
		status = open_hot(tree, screen->cursor);
		screen->cursor = status > 0 ? (size_t)status : screen->cursor;
	} else {
		return 0;
	}
	tree->is_changed = true;
	return status < 0 ? error_set(error, ERROR_MEMORY, "out of memory") : 1;
}

/* --- the tree of a newer profile --- */

/* Returns the row of this text below row `above` (SIZE_MAX: of the first rows), or SIZE_MAX. */
static size_t child_row(const struct tree_screen *tree, size_t above, const char *name)
{
	uint32_t depth = above == SIZE_MAX ? 0 : tree->rows[above].depth + 1;
	for (size_t i = above + 1; i < tree->count && tree->rows[i].depth >= depth; i++)
		if (tree->rows[i].depth == depth && strcmp(text(&tree->screen, i), name) == 0)
			return i;
	return SIZE_MAX;
}

static void close_all(struct tree_screen *tree)
{
	for (size_t i = tree->count; i-- > 0;)
		if (tree->rows[i].depth == 0 && tree->rows[i].is_open)
			close_row(tree, i);
}

static size_t row_of_node(const struct tree_screen *tree, uint32_t node)
{
	size_t row = 0;
	while (row < tree->count && tree->rows[row].box.node != node)
		row++;
	return row < tree->count ? row : 0;
}

/* Opens in `tree`, which is closed, what is open in an older one. Sets *cursor to the node on whose path the older cursor is; or the
 * nearest one above it. `above` has the row of the newer tree for each depth of the older one, SIZE_MAX - 1 if it is not there. An
 * ancestor of a row comes before it, so opening the row does not move them. */
static int open_as(struct tree_screen *tree, const struct tree_screen *old, size_t *above, uint32_t *cursor)
{
	const size_t none = SIZE_MAX - 1;
	for (size_t i = 0; i < old->count; i++) {
		const struct tree_row *row = &old->rows[i];
		if (!row->is_open && i != old->screen.cursor)
			continue;
		size_t parent = row->depth > 0 ? above[row->depth - 1] : SIZE_MAX;
		size_t found = parent == none ? none : child_row(tree, parent, text(&old->screen, i));
		above[row->depth] = found == SIZE_MAX ? none : found;
		for (uint32_t depth = row->depth + 1; i == old->screen.cursor && depth-- > 0 && *cursor == FLAME_ROOT;)
			*cursor = above[depth] == none ? FLAME_ROOT : tree->rows[above[depth]].box.node;
		if (row->is_open && above[row->depth] != none && open_row(tree, found) < 0)
			return ERROR_MEMORY;
	}
	return 0;
}

/* Opens what was open in an older tree. The cursor stays on its path. Until the user opens or closes a row, the hot path is open, as it
 * is now. */
static int resume(struct screen *screen, const struct screen *older)
{
	struct tree_screen *tree = (struct tree_screen *)screen;
	const struct tree_screen *old = (const struct tree_screen *)older;
	uint32_t deepest = 0, cursor = FLAME_ROOT;
	if (!old->is_changed && older->cursor == 0)
		return 0;
	for (size_t i = 0; i < old->count; i++)
		deepest = old->rows[i].depth > deepest ? old->rows[i].depth : deepest;
	size_t *above = calloc((size_t)deepest + 1, sizeof(*above));
	if (!above)
		return ERROR_MEMORY;
	tree->is_changed = true;
	close_all(tree);
	int status = open_as(tree, old, above, &cursor);
	free(above);
	screen->cursor = row_of_node(tree, cursor);
	return status;
}

/* Makes the first rows, and opens the hot path below them. */
static struct screen *finish(struct tree_screen *tree, struct error *error)
{
	const struct flame_box root = { .node = FLAME_ROOT, .weight = UINT64_MAX };
	if (tree->flame && insert_children(tree, 0, &root, 0) == 0 && (tree->count == 0 || open_hot(tree, 0) >= 0))
		return &tree->screen;
	if (tree->flame)
		error_set(error, ERROR_MEMORY, "out of memory");
	release(&tree->screen);
	free(tree);
	return NULL;
}

static struct screen *make_tree(struct browser *browser, const char *root, struct error *error)
{
	struct tree_screen *tree = calloc(1, sizeof(*tree));
	if (!tree) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	if (browser_report(browser, "tree", root, &tree->results, error) == 0) {
		const struct result *result = &tree->results.items[0];
		tree->view = result->tree;
		tree->errors = result->errors;
		tree->flame = flame_of_stacks(tree->view, error);
		tree->is_of_stacks = true;
	}
	return finish(tree, error);
}

static struct screen *make_callers(struct browser *browser, const char *root, struct error *error)
{
	struct label_set roots = { 0 };
	struct tree_screen *tree = calloc(1, sizeof(*tree));
	if (!tree) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	tree->view = browser_view(browser, error);
	if (tree->view && (!root || lookup_functions(tree->view, root, &roots, error) == 0))
		tree->flame = flame_of_callers(tree->view, root ? &roots : NULL, error);
	label_set_release(&roots);
	return finish(tree, error);
}

#define TREE_SCREEN                                                                                           \
	.release = release, .count = count, .draw = draw, .text = text, .function = function, .press = press, \
	.resume = resume, .keys = "Enter opens, e the hot path"

static bool path(const struct screen *screen, size_t index, struct buffer *text)
{
	const struct tree_screen *tree = (const struct tree_screen *)screen;
	enum view_by by = tree->view->options.by;
	if (by == VIEW_MODULE || by == VIEW_GROUP)
		return false;
	transform_path_append(tree->view, tree->rows[index].box.node, text);
	return true;
}

const struct screen_kind screen_tree = {
	.name = "tree",
	.help = "the tree of all call paths",
	.key = 't',
	.make = make_tree,
	.head = head,
	.path = path,
	.search = search,
	TREE_SCREEN,
};

const struct screen_kind screen_callees = {
	.name = "callees",
	.help = "what a function calls, all its calls taken together",
	.key = 'c',
	.takes_function = true,
	.make = make_tree,
	.head = head,
	.search = search,
	TREE_SCREEN,
};

const struct screen_kind screen_inverted = {
	.name = "inverted tree",
	.help = "the innermost functions, by their own use, and who calls them",
	.key = 'U',
	.make = make_callers,
	.head = head_of_callers,
	TREE_SCREEN,
};

const struct screen_kind screen_callers = {
	.name = "callers",
	.help = "who calls a function: the paths to it, outwards",
	.key = 'u',
	.takes_function = true,
	.make = make_callers,
	.head = head_of_callers,
	TREE_SCREEN,
};
