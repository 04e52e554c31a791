/*
 * Prints the sample tree. With a limit, the heaviest nodes are printed. No child is heavier than its parent, so the
 * heaviest nodes form a connected tree. It is grown from the root, always by the heaviest node on its rim.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/subtree.h"
#include "base/error.h"
#include "render/emit.h"
#include "render/names.h"
#include "reports/report.h"

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	result->tree = result->view;
	if (request->root)
		result->tree = result->subtree = subtree_new(result->view, roots, error);
	return result->tree ? 0 : error->code;
}

/* Builds the inverted tree. */
static int build_inverted(const struct report_request *request, const struct label_set *roots, struct result *result,
			  struct error *error)
{
	(void)request;
	(void)roots;
	result->tree = result->subtree = subtree_inverted(result->view, error);
	return result->tree ? 0 : error->code;
}

struct pending {
	uint32_t node;
	uint32_t depth;
};

struct walk {
	const struct view *view;
	double threshold;
	bool *kept;            /* [node_count] */
	struct pending *stack; /* [node_count]: the nodes that walk_kept has yet to print */
	uint32_t *siblings;    /* [node_count]: scratch; also the rim of the growing tree */
	uint32_t *chain;       /* [node_count]: the nodes that are printed together */
	uint32_t *labels;      /* [node_count]: scratch of the printer */
	bool folds;            /* nodes of equal hits, each the only child of the node before, are printed together */
	size_t reaching;       /* number of nodes that reach the threshold */
};

/* By decreasing weight, ties by text. */
static int compare_nodes(const void *a, const void *b, void *context)
{
	const struct view *view = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	if (view->weight[left] != view->weight[right])
		return view->weight[left] < view->weight[right] ? 1 : -1;
	return strcmp(view->labels[view->label[left]].text, view->labels[view->label[right]].text);
}

/* Writes the kept children of a node in printing order to walk->siblings. Returns their number. */
static size_t kept_children(const struct walk *walk, uint32_t node)
{
	const struct view *view = walk->view;
	size_t count = 0;
	for (uint32_t i = view->child_start[node]; i < view->child_start[node + 1]; i++)
		if (walk->kept[view->child[i]])
			walk->siblings[count++] = view->child[i];
	if (count > 1)
		qsort_r(walk->siblings, count, sizeof(*walk->siblings), compare_nodes, (void *)view);
	return count;
}

static bool reaches(const struct walk *walk, uint32_t node)
{
	uint64_t weight = walk->view->weight[node];
	return walk->view->options.zeros || fraction_of(weight, walk->view->total) >= walk->threshold;
}

/* A binary heap of the rim, heaviest node first; among equal weights the smaller id is first. */
static bool is_before(const struct view *view, uint32_t a, uint32_t b)
{
	return view->weight[a] != view->weight[b] ? view->weight[a] > view->weight[b] : a < b;
}

static void rim_push(const struct view *view, uint32_t *rim, size_t count, uint32_t node)
{
	size_t at = count;
	while (at > 0 && is_before(view, node, rim[(at - 1) / 2])) {
		rim[at] = rim[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	rim[at] = node;
}

static uint32_t rim_pop(const struct view *view, uint32_t *rim, size_t count)
{
	uint32_t first = rim[0], moved = rim[count - 1];
	size_t at = 0;
	for (size_t child = 1; child < count - 1; child = 2 * at + 1) {
		if (child + 1 < count - 1 && is_before(view, rim[child + 1], rim[child]))
			child++;
		if (!is_before(view, rim[child], moved))
			break;
		rim[at] = rim[child];
		at = child;
	}
	rim[at] = moved;
	return first;
}

static void select_heaviest(struct walk *walk, size_t limit)
{
	const struct view *view = walk->view;
	uint32_t *rim = walk->siblings; /* not in use before printing */
	size_t rim_count = 0, kept = 0;
	uint32_t node = 0;
	for (;;) {
		for (uint32_t i = view->child_start[node]; i < view->child_start[node + 1]; i++)
			if (reaches(walk, view->child[i]))
				rim_push(view, rim, rim_count++, view->child[i]);
		if (rim_count == 0 || kept == limit)
			return;
		node = rim_pop(view, rim, rim_count--);
		walk->kept[node] = true;
		kept++;
	}
}

static void choose(struct walk *walk, size_t limit)
{
	for (uint32_t node = 1; node < walk->view->node_count; node++) {
		walk->kept[node] = reaches(walk, node);
		walk->reaching += walk->kept[node];
	}
	if (limit > 0 && limit < walk->reaching) {
		memset(walk->kept, 0, walk->view->node_count * sizeof(*walk->kept));
		select_heaviest(walk, limit);
	}
}

/* Extends a chain of `count` nodes while the last has one kept child, with as many hits. A mark of a tail call ends it. Puts that child's kept children into
 * walk->siblings, sets *children to their number, and returns the length of the chain. */
static size_t extend_chain(const struct walk *walk, size_t *children)
{
	const uint64_t *weight = walk->view->weight;
	size_t length = 1;
	while ((*children = kept_children(walk, walk->chain[length - 1])) == 1 && walk->chain[0] != 0 &&
	       weight[walk->siblings[0]] == weight[walk->chain[0]] &&
	       !view_is_tail(walk->view, walk->chain[length - 1]))
		walk->chain[length++] = walk->siblings[0];
	return length;
}

/* Calls `print` for each kept node, parents first; if the walk folds, for each chain of nodes. */
static void walk_kept(const struct walk *walk,
		      void (*print)(void *, const uint32_t *nodes, size_t count, uint32_t depth), void *context)
{
	size_t count = 0;
	walk->stack[count++] = (struct pending){ .node = 0, .depth = 0 };
	while (count > 0) {
		struct pending pending = walk->stack[--count];
		size_t children, length = 1;
		walk->chain[0] = pending.node;
		if (walk->folds)
			length = extend_chain(walk, &children);
		else
			children = kept_children(walk, pending.node);
		if (pending.node != 0)
			print(context, walk->chain, length, pending.depth - 1);
		while (children > 0)
			walk->stack[count++] =
				(struct pending){ .node = walk->siblings[--children], .depth = pending.depth + 1 };
	}
}

struct tree_printer {
	FILE *out;
	const struct view *view;
	const struct result *result;
	const struct render_options *options;
	struct sheet sheet;
	struct name_printer names;
	uint32_t *labels; /* [node_count]: scratch */
	size_t folded;    /* number of nodes that share the row of another */
};

/* Prints a chain of nodes as one row: "main → run → work (0.9800 ±0.0100) [98]". */
static void print_text_node(void *context, const uint32_t *nodes, size_t count, uint32_t depth)
{
	enum { FIGURES_BYTES = 64 };
	struct tree_printer *printer = context;
	const struct view *view = printer->view;
	uint32_t last = nodes[count - 1];
	char fraction[FIGURES_BYTES], hits[FIGURES_BYTES];
	size_t indent = (size_t)depth * 2, most = printer->names.columns / 2;
	int used = snprintf(fraction, sizeof(fraction), "%s (%.4f", view_is_tail(view, last) ? " (tail)" : "",
			    fraction_of(view->weight[last], view->total));
	if (has_errors(printer->result))
		snprintf(fraction + used, sizeof(fraction) - (size_t)used, " ±%.4f",
			 row_error(printer->result, last, view->weight[last]));
	snprintf(hits, sizeof(hits), "[%" PRIu64 "]", view->weight[last]);
	indent = printer->names.short_names && indent > most ? most : indent;
	for (size_t i = 0; i < count; i++)
		printer->labels[i] = view->label[nodes[i]];
	fprintf(printer->out, "%*s", (int)indent, "");
	path_print(&printer->names, printer->labels, count, " → ",
		   name_room(&printer->names, indent + strlen(fraction) + strlen(") ") + strlen(hits)));
	fprintf(printer->out, "%s) ", fraction);
	paint_on(printer->out, PAINT_DIM, printer->options);
	fputs(hits, printer->out);
	paint_off(printer->out, printer->options);
	fputc('\n', printer->out);
	printer->folded += count - 1;
}

static void print_table_node(void *context, const uint32_t *nodes, size_t count, uint32_t depth)
{
	struct tree_printer *printer = context;
	const struct view *view = printer->view;
	uint32_t node = nodes[count - 1];
	struct sheet *sheet = &printer->sheet;
	sheet_row(sheet);
	sheet_count(sheet, "depth", depth);
	sheet_text(sheet, "name", view->labels[view->label[node]].text);
	sheet_number(sheet, "fraction", fraction_of(view->weight[node], view->total));
	sheet_number(sheet, "error", row_error(printer->result, node, view->weight[node]));
	sheet_count(sheet, "hits", view->weight[node]);
	sheet_count(sheet, "own_hits", view->hits[node]);
	if (sheet->json && view_is_tail(view, node))
		sheet_flag(sheet, "tail", true);
	sheet_row_end(sheet);
}

static void print_table(struct tree_printer *printer, const struct render_document *document,
			const struct result *result, const struct walk *walk, size_t shown)
{
	sheet_open(&printer->sheet, document, result, "resource,depth,name,fraction,error,hits,own_hits");
	walk_kept(walk, print_table_node, printer);
	sheet_close(&printer->sheet, walk->view->node_count - 1 - shown);
}

static void print_text(struct tree_printer *printer, const struct result *result, const struct walk *walk, size_t shown)
{
	char format[96];
	FILE *out = printer->out;
	snprintf(format, sizeof(format), "frame_designator (usage_fraction%s) [#%s]",
		 has_errors(result) ? " ±error" : "", raw_name(walk->view));
	heading_print(out, result, format, printer->options);
	if (rootless_print(out, walk->view, result->root, walk->view->node_count > 1))
		return;
	name_printer_init(&printer->names, out, walk->view, printer->options);
	walk_kept(walk, print_text_node, printer);
	name_printer_release(&printer->names);
	left_out_print(out, walk->view->node_count - 1, walk->reaching, shown, printer->options);
	folded_print(out, printer->folded, "frames share the row of their only caller", printer->options);
}

static void print_walk(const struct render_document *document, const struct result *result, struct walk *walk)
{
	const struct render_options *options = &document->options;
	struct tree_printer printer = {
		.out = document->out, .view = result->tree, .result = result, .options = options, .labels = walk->labels
	};
	choose(walk, options->limit);
	size_t shown = shown_entries(walk->reaching, options);
	if (options->format == RENDER_TEXT)
		print_text(&printer, result, walk, shown);
	else
		print_table(&printer, document, result, walk, shown);
}

static void print(struct render_document *document, const struct result *result)
{
	const struct view *view = result->tree;
	const struct render_options *options = &document->options;
	struct walk walk = { .view = view, .threshold = options->threshold };
	walk.folds = options->format == RENDER_TEXT && options->columns > 0;
	walk.kept = calloc(view->node_count, sizeof(*walk.kept));
	walk.stack = malloc(view->node_count * sizeof(*walk.stack));
	walk.siblings = malloc(view->node_count * sizeof(*walk.siblings));
	walk.chain = malloc(view->node_count * sizeof(*walk.chain));
	walk.labels = malloc(view->node_count * sizeof(*walk.labels));
	if (walk.kept && walk.stack && walk.siblings && walk.chain && walk.labels)
		print_walk(document, result, &walk);
	else
		render_failed(options);
	free(walk.kept);
	free(walk.stack);
	free(walk.siblings);
	free(walk.chain);
	free(walk.labels);
}

static const struct result_type type = {
	.text = print,
	.table = print,
};

const struct report report_tree = {
	.name = "tree",
	.letter = 'T',
	.argument = REPORT_TAKES_SUBTREE,
	.help = "The tree of all call paths",
	.summary = "the sample tree, or the part of it below a function",
	.detail = "Below a function: its outermost calls are taken together as one tree; fractions\n"
		  "are of the whole selection. Names are as for 'down'.\n",
	.refuses = { { REPORT_GROUP, "it shows whole paths" } },
	.parts = { { "Sample Tree Profile", &type, build } },
};

const struct report report_inverted = {
	.name = "inverted",
	.argument = REPORT_TAKES_NOTHING,
	.help = "The tree of callers: functions by their own use, and below each who called it",
	.summary = "the tree from the innermost functions, by their own use, to their callers",
	.detail = "The own hits of a row are those of the paths that begin there.\n",
	.refuses = { { REPORT_GROUP | SETTING_ZEROS, "it shows whole paths" } },
	.parts = { { "Inverted Tree Profile", &type, build_inverted } },
};
