/* The flat profile: each function's own time, and the number of its calls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "base/compare.h"
#include "gprof/print.h"

/* The unit of times per call: the unit in which the largest time has at most three digits before the decimal point. */
struct scale {
	char prefix;
	double factor;
};

struct flat {
	struct gprof_report *report;
	const struct graph *graph;
	uint32_t *sorted; /* [count] functions */
	size_t count;
	double total;      /* samples that are 100 % */
	double cumulative; /* samples so far */
	struct scale scale;
	int name_width;
};

static int compare_lines(const void *one, const void *other, void *context)
{
	const struct graph *graph = context;
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	const struct graph_node *left = &graph->nodes[a], *right = &graph->nodes[b];
	return COMPARE(right->time, left->time) ?: COMPARE(right->calls, left->calls) ?:
	       strcmp(graph_name(graph, a), graph_name(graph, b)) ?: COMPARE(a, b);
}

static bool is_listed(const struct flat *flat, uint32_t node)
{
	return !print_is_unused(flat->report, node) && choices_allow(flat->report->choices, CHOICE_FLAT, node);
}

static double seconds(const struct flat *flat, double samples)
{
	return flat->graph->rate > 0 ? samples / flat->graph->rate : 0;
}

static struct scale find_scale(const struct flat *flat)
{
	static const struct scale scales[] = { { 'T', 1e-12 }, { 'G', 1e-9 }, { 'M', 1e-6 }, { 'K', 1e-3 },
					       { ' ', 1 },     { 'm', 1e3 },  { 'u', 1e6 },  { 'n', 1e9 },
					       { 'p', 1e12 },  { 'f', 1e15 }, { 'a', 1e18 } };
	enum { MILLI = 5, SCALES = sizeof(scales) / sizeof(scales[0]) };
	if (flat->report->options->traditional)
		return scales[MILLI];
	double most = 0;
	for (size_t i = 0; i < flat->graph->function_count; i++) {
		const struct graph_node *node = &flat->graph->nodes[i];
		double each = node->calls ? (node->time + node->below) / (double)node->calls : 0;
		most = each > most ? each : most;
	}
	most = seconds(flat, most);
	size_t i = 0;
	while (most > 0 && i + 1 < SCALES && scales[i].factor * most < 1000)
		i++;
	return scales[i > 0 ? i - 1 : 0];
}

static int error_width(const struct flat *flat)
{
	enum { NAME_LEAST = 8, NAME_MOST = 40 };
	int widest = NAME_LEAST;
	for (size_t i = 0; i < flat->count; i++) {
		int width = print_name_width(flat->report, flat->sorted[i]);
		widest = width > widest && width <= NAME_MOST ? width : widest;
	}
	return widest;
}

/* The number of samples determines the errors; counted times have none. */
static bool has_errors(const struct flat *flat)
{
	const struct print_options *options = flat->report->options;
	return !options->no_errors && !options->exact_times && !options->traditional && flat->graph->samples > 0;
}

static void print_heading(struct flat *flat)
{
	FILE *out = flat->report->out;
	const struct graph *graph = flat->graph;
	const char *dimension = graph->dimension[0] ? graph->dimension : "seconds";
	char unit[16];
	if (flat->report->options->traditional) {
		print_granularity(flat->report, flat->total, seconds(flat, flat->total), "accumulated");
		fputs("  %   cumulative   self              self     total           \n"
		      " time   seconds   seconds    calls  ms/call  ms/call  name    \n",
		      out);
		return;
	}
	fprintf(out, "Flat profile:\n\nEach sample counts as %g %s.\n", graph->rate > 0 ? 1 / graph->rate : 0,
		dimension);
	if (flat->total <= 0)
		fputs(" no time accumulated\n\n", out);
	fputs("  %   cumulative   self              self     total           \n", out);
	snprintf(unit, sizeof(unit), "%c%c/call", flat->scale.prefix, graph->abbreviation ? graph->abbreviation : 's');
	fprintf(out, "%5.5s %9.9s  %8.8s %8.8s %8.8s %8.8s  ", "time", dimension, dimension, "calls", unit, unit);
	if (has_errors(flat))
		fprintf(out, "%-*s  +- %% time\n", flat->name_width, "name");
	else
		fprintf(out, "%-8.8s\n", "name");
}

static void print_line(struct flat *flat, uint32_t number)
{
	FILE *out = flat->report->out;
	const struct graph_node *node = &flat->graph->nodes[number];
	bool traditional = flat->report->options->traditional;
	flat->cumulative += node->time;
	fprintf(out, traditional ? "%5.1f %10.2f %8.2f" : "%6.2f %9.2f %8.2f",
		flat->total > 0 ? 100 * node->time / flat->total : 0, seconds(flat, flat->cumulative),
		seconds(flat, node->time));
	if (node->calls) {
		double factor = flat->scale.factor, calls = (double)node->calls;
		fprintf(out, " %8llu %8.2f %8.2f  ", (unsigned long long)node->calls,
			seconds(flat, factor * node->time) / calls,
			seconds(flat, factor * (node->time + node->below)) / calls);
	} else {
		fprintf(out, " %8s %8s %8s  ", "", "", "");
	}
	/* Without calls there is no call graph, and names refer to no entry. */
	if (traditional && flat->graph->arc_count > 0) {
		print_name(flat->report, number);
	} else {
		int width = print_name_alone(flat->report, number);
		if (has_errors(flat) && flat->total > 0)
			fprintf(out, "%*s  +- %.2f", width < flat->name_width ? flat->name_width - width : 0, "",
				100 * analyze_error((uint64_t)llround(node->time), (uint64_t)llround(flat->total),
						    flat->graph->samples));
	}
	fputc('\n', out);
}

static const char explanation[] = "\n"
				  " %time       the function's own samples, as a share of all\n"
				  " cumulative  the seconds of this line and those above it\n"
				  " self        seconds in the function itself, without what it called\n"
				  " calls       how often others called it; empty where calls were not counted\n"
				  " self/call   self, for one call\n"
				  " total/call  the same with what it called, as the call graph passes time on\n"
				  " name        the function\n";

static const char explanation_of_errors[] =
	" +- % time   a sample is luck: the true share lies so far above or below at most, 95 times out of 100\n"
	"             (Wilson's interval)\n";

static void print_explanation(const struct flat *flat)
{
	if (flat->report->options->brief)
		return;
	fputs(explanation, flat->report->out);
	if (has_errors(flat))
		fputs(explanation_of_errors, flat->report->out);
}

int print_flat(struct gprof_report *report, struct error *error)
{
	struct flat flat = { .report = report, .graph = report->graph, .total = report->graph->total_time };
	flat.sorted = malloc((flat.graph->function_count + 1) * sizeof(*flat.sorted));
	if (!flat.sorted)
		return error_memory(error);
	for (uint32_t i = 0; i < flat.graph->function_count; i++)
		if (is_listed(&flat, i))
			flat.sorted[flat.count++] = i;
	qsort_r(flat.sorted, flat.count, sizeof(*flat.sorted), compare_lines, report->graph);
	flat.scale = find_scale(&flat);
	flat.name_width = error_width(&flat);
	print_page(report);
	print_heading(&flat);
	for (size_t i = 0; i < flat.count; i++)
		print_line(&flat, flat.sorted[i]);
	print_explanation(&flat);
	free(flat.sorted);
	return 0;
}
