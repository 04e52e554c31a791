/* The call graph: the callers and callees of each function. */
#include <stdlib.h>
#include <string.h>

#include "gprof/print.h"

struct graph_page {
	struct gprof_report *report;
	const struct graph *graph;
	FILE *out;
	uint32_t *lines; /* room for the arcs of a node, or the members of a cycle */
	double whole;    /* samples that are 100 % */
	double rate;
	int below_width;
};

static bool is_shown(const struct graph_page *page, uint32_t number)
{
	const struct print_options *options = page->report->options;
	const struct graph_node *node = &page->graph->nodes[number];
	bool is_unused = node->calls == 0 && node->self_calls == 0 && node->shown_time == 0 && node->shown_below == 0;
	if (!node->is_printed || (is_unused && !options->all_symbols))
		return false;
	return !options->by_line ||
	       (!graph_is_cycle(page->graph, number) && page->graph->image->symbols[number].is_function);
}

static void print_heading(struct graph_page *page)
{
	const struct print_options *options = page->report->options;
	if (!options->traditional)
		fputs(options->brief ? "\t\t\tCall graph\n\n" : "\t\t     Call graph (explanation follows)\n\n",
		      page->out);
	print_granularity(page->report, page->graph->shown_time, page->graph->shown_time / page->rate, "propagated");
	if (!options->traditional) {
		fputs("index % time    self  children    called     name\n", page->out);
		return;
	}
	static const char relatives[] = "%6.6s %5.5s %7.7s %11.11s %7.7s/%-7.7s     %-8.8s\n";
	fprintf(page->out, relatives, "", "", "", "", "called", "total", "parents");
	fprintf(page->out, "%-6.6s %5.5s %7.7s %11.11s %7.7s+%-7.7s %-8.8s\t%5.5s\n", "index", "%time", "self",
		"descendants", "called", "self", "name", "index");
	fprintf(page->out, relatives, "", "", "", "", "called", "total", "children");
	fputc('\n', page->out);
}

/* Prints the line of the function itself, or of a cycle as a whole. */
static void print_primary(struct graph_page *page, uint32_t number)
{
	const struct graph_node *node = &page->graph->nodes[number];
	char index[16];
	snprintf(index, sizeof(index), "[%u]", node->index);
	fprintf(page->out, "%-6.6s %5.1f %7.2f %*.2f", index,
		100 * (node->shown_time + node->shown_below) / page->whole, node->shown_time / page->rate,
		page->below_width, node->shown_below / page->rate);
	bool is_cycle = graph_is_cycle(page->graph, number);
	if (node->calls + node->self_calls == 0 && !is_cycle)
		fprintf(page->out, " %7s %7s ", "", "");
	else if (node->self_calls)
		fprintf(page->out, " %7llu+%-7llu ", (unsigned long long)node->calls,
			(unsigned long long)node->self_calls);
	else
		fprintf(page->out, " %7llu %7s ", (unsigned long long)node->calls, "");
	print_name(page->report, number);
	fputc('\n', page->out);
}

static void print_member(struct graph_page *page, uint32_t number)
{
	const struct graph_node *node = &page->graph->nodes[number];
	fprintf(page->out, "%6s %5s %7.2f %*.2f %7llu", "", "", node->shown_time / page->rate, page->below_width,
		node->shown_below / page->rate, (unsigned long long)node->calls);
	if (node->self_calls)
		fprintf(page->out, "+%-7llu     ", (unsigned long long)node->self_calls);
	else
		fprintf(page->out, " %7s     ", "");
	print_name(page->report, number);
	fputc('\n', page->out);
}

/* Prints the line of a caller or a callee, `shown`. Calls within a cycle pass no time on. */
static void print_relative(struct graph_page *page, const struct graph_arc *arc, uint32_t shown)
{
	const struct graph *graph = page->graph;
	uint32_t cycle = graph->nodes[arc->child].cycle, head = cycle == GRAPH_NONE ? arc->child : cycle;
	if (graph_are_siblings(graph, arc->parent, arc->child))
		fprintf(page->out, "%6s %5s %7s %*s %7llu %7s     ", "", "", "", page->below_width, "",
			(unsigned long long)arc->count, "");
	else
		fprintf(page->out, "%6s %5s %7.2f %*.2f %7llu/%-7llu     ", "", "", arc->time / page->rate,
			page->below_width, arc->below / page->rate, (unsigned long long)arc->count,
			(unsigned long long)graph->nodes[head].calls);
	print_name(page->report, shown);
	fputc('\n', page->out);
}

static void print_function_entry(struct graph_page *page, uint32_t number)
{
	const struct graph *graph = page->graph;
	size_t parents = graph_parents(graph, number, page->lines);
	if (parents == 0)
		fprintf(page->out, "%6s %5s %7s %*s %7s %7s     <spontaneous>\n", "", "", "", page->below_width, "", "",
			"");
	for (size_t i = 0; i < parents; i++)
		print_relative(page, &graph->arcs[page->lines[i]], graph->arcs[page->lines[i]].parent);
	print_primary(page, number);
	size_t children = graph_children(graph, number, page->lines);
	for (size_t i = 0; i < children; i++)
		print_relative(page, &graph->arcs[page->lines[i]], graph->arcs[page->lines[i]].child);
}

static int print_entry(struct graph_page *page, uint32_t number)
{
	if (graph_is_cycle(page->graph, number)) {
		int64_t members = graph_members(page->graph, number, page->lines);
		if (members < 0)
			return (int)members;
		print_primary(page, number);
		for (int64_t i = 0; i < members; i++)
			print_member(page, page->lines[i]);
	} else {
		print_function_entry(page, number);
	}
	const char *space = page->report->options->traditional ? "\n" : "";
	fprintf(page->out, "%s-----------------------------------------------\n%s", space, space);
	return 0;
}

static const char explanation[] =
	"\n"
	" Each entry is about the function with the number at the left margin. The lines above it are its callers,\n"
	" those below it are its callees. In the function's own line:\n"
	"\n"
	" % time    its time and its callees', as a share of all\n"
	" self      seconds in the function itself\n"
	" children  seconds that its callees passed on to it\n"
	" called    how often others called it, and +how often it called itself\n"
	" name      the function, the cycle that it is in, and its number: [n] where it has an entry, (n) where not\n"
	"\n"
	" In a caller's line, self and children are the parts of the function's two times that were spent for that\n"
	" caller, in a callee's line the parts of the callee's times that were spent for the function; called is\n"
	" a/b where a of b calls were of that pair.\n";

static const char explanation_of_guess[] =
	" Only the calls are counted per pair: each call of a function is taken to have cost the same. Where that\n"
	" is not so, these figures are wrong, and no number of samples makes them right.\n"
	" A function without callers is <spontaneous>: nothing that was compiled for this called it.\n"
	" A cycle is a group of functions that call each other: time is passed into and out of it as a whole. Its\n"
	" entry lists its members; calls among them show a count alone.\n";

static const char explanation_of_truth[] =
	" These times are of the call paths themselves: nothing is passed on by counts. A sample counts once for a\n"
	" function and once for a pair, however often a recursion has them on its path; so there are no cycles.\n";

int print_graph(struct gprof_report *report, struct error *error)
{
	const struct graph *graph = report->graph;
	size_t count = graph->function_count + graph->cycle_count;
	size_t room = graph->arc_count > count ? graph->arc_count : count;
	struct graph_page page = {
		.report = report,
		.graph = graph,
		.out = report->out,
		.lines = malloc((room + 1) * sizeof(*page.lines)),
		.whole = graph->whole_time > 0   ? graph->whole_time
			 : graph->shown_time > 0 ? graph->shown_time
						 : 1,
		.rate = graph->rate > 0 ? graph->rate : 1,
		.below_width = report->options->traditional ? 11 : 7,
	};
	int code = page.lines ? 0 : ERROR_MEMORY;
	if (code == 0) {
		print_page(report);
		print_heading(&page);
	}
	for (size_t i = 0; code == 0 && i < count; i++)
		if (is_shown(&page, graph->entries[i]))
			code = print_entry(&page, graph->entries[i]);
	free(page.lines);
	if (code < 0)
		return error_set(error, code, "%s", error_text(code));
	if (!report->options->brief) {
		fputs(explanation, report->out);
		fputs(report->options->true_times ? explanation_of_truth : explanation_of_guess, report->out);
	}
	return 0;
}

int print_truth(const struct truth *truth, FILE *out, const struct print_options *options, bool has_output,
		struct error *error)
{
	static const struct choices all = { 0 };
	struct graph graph;
	struct print_options own = *options;
	int code = truth_graph(truth, false, &graph);
	if (code < 0)
		return error_set(error, code, "%s", error_text(code));
	own.true_times = true;
	own.exact_times = truth->is_exact;
	struct gprof_report report = {
		.out = out, .graph = &graph, .choices = &all, .options = &own, .has_output = has_output
	};
	code = print_graph(&report, error);
	if (code == 0)
		code = print_index(&report, error);
	graph_release(&graph);
	return code;
}
