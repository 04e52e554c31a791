/* Assigns the samples and calls of gmon.out, which have addresses, to functions of the call graph. */
#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "gprof/graph.h"

struct assigning {
	struct graph *graph;
	const struct choices *choices;
	const struct gmon_histogram *histogram;
	double bin_units;
	uint32_t first; /* functions before it end before the current bin */
};

static uint64_t start_units(const struct graph *graph, uint32_t symbol)
{
	return graph->image->symbols[symbol].start / GMON_UNIT_BYTES;
}

static uint64_t end_units(const struct graph *graph, uint32_t symbol)
{
	return symbol + 1 < graph->function_count ? start_units(graph, symbol + 1)
						  : graph->image->symbols[symbol].end / GMON_UNIT_BYTES;
}

/* Distributes a bin's samples to the functions that it overlaps. Both ends of a bin are rounded down to whole units,
 * but its width is not: if that is not a whole number, the parts may not add up to all of the samples. */
static void assign_bin(struct assigning *assigning, size_t bin)
{
	struct graph *graph = assigning->graph;
	uint64_t base = assigning->histogram->low / GMON_UNIT_BYTES;
	uint64_t low = base + (uint64_t)(assigning->bin_units * (double)bin);
	uint64_t high = base + (uint64_t)(assigning->bin_units * (double)(bin + 1));
	double count = (double)assigning->histogram->bins[bin];
	bool found = false;
	graph->total_time += count;
	while (assigning->first < graph->function_count && end_units(graph, assigning->first) <= low)
		assigning->first++;
	for (uint32_t i = assigning->first; i < graph->function_count && start_units(graph, i) < high; i++) {
		uint64_t from = start_units(graph, i), to = end_units(graph, i);
		from = from > low ? from : low;
		to = to < high ? to : high;
		if (from >= to)
			continue;
		found = true;
		double credit = (double)(to - from) * count / assigning->bin_units;
		if (choices_allow(assigning->choices, CHOICE_FLAT, i))
			graph->nodes[i].time += credit;
		else
			graph->total_time -= credit;
	}
	graph->samples += assigning->histogram->bins[bin];
	if (!found)
		graph->samples_outside += assigning->histogram->bins[bin];
}

/* All histograms have the same unit. */
static void describe(struct graph *graph, const struct gmon_histogram *histogram)
{
	static const char samples[sizeof(graph->dimension)] = "samples";
	bool is_known = histogram->rate > 0;
	graph->rate = is_known ? histogram->rate : 1;
	graph->abbreviation = is_known ? histogram->abbreviation : samples[0];
	memcpy(graph->dimension, is_known ? histogram->dimension : samples, sizeof(graph->dimension));
}

/* Returns the first function that ends behind an address. */
static uint32_t first_behind(const struct graph *graph, uint64_t units)
{
	return (uint32_t)LOWER_BOUND(i, 0, graph->function_count, end_units(graph, (uint32_t)i) <= units);
}

static double bin_units(const struct gmon_histogram *histogram)
{
	uint64_t units = (histogram->high - histogram->low) / GMON_UNIT_BYTES; /* rounded down, as in gprof */
	return (double)units / (double)histogram->bin_count;
}

void graph_assign(struct graph *graph, const struct gmon *gmon, const struct choices *choices)
{
	if (gmon->histogram_count > 0) {
		describe(graph, &gmon->histograms[0]);
		graph->bin_units = bin_units(&gmon->histograms[0]);
	}
	for (size_t i = 0; i < gmon->histogram_count; i++) {
		const struct gmon_histogram *histogram = &gmon->histograms[i];
		struct assigning assigning = { .graph = graph,
					       .choices = choices,
					       .histogram = histogram,
					       .bin_units = bin_units(histogram),
					       .first = first_behind(graph, histogram->low / GMON_UNIT_BYTES) };
		for (size_t bin = 0; bin < histogram->bin_count; bin++)
			if (histogram->bins[bin])
				assign_bin(&assigning, bin);
	}
}

static int count_arc(struct graph *graph, const struct gmon_arc *arc, const struct choices *choices)
{
	uint32_t parent = image_find(graph->image, arc->from), child = image_find(graph->image, arc->self);
	if (child == IMAGE_NONE || parent == IMAGE_NONE) {
		graph->arcs_outside++;
		graph->calls_from_outside += child == IMAGE_NONE ? 0 : arc->count;
		return 0;
	}
	/* With symbols by line, the callee of an arc is still a function. */
	while (!graph->image->symbols[child].is_function) {
		if (child == 0)
			return 0;
		child--;
	}
	if (!choices_allow_arc(choices, parent, child))
		return 0;
	graph->nodes[child].calls += arc->count;
	return graph_add_arc(graph, parent, child, arc->count);
}

int graph_count(struct graph *graph, const struct gmon *gmon, const struct choices *choices)
{
	const struct gmon_arc **arcs = gmon_arcs_in_order(gmon);
	int code = arcs ? 0 : ERROR_MEMORY;
	for (size_t i = 0; code == 0 && i < gmon->arc_count; i++)
		code = count_arc(graph, arcs[i], choices);
	free(arcs);
	return code;
}
