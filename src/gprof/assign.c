/* What gmon.out says of addresses becomes what is said of functions. */
#include <stdlib.h>
#include <string.h>

#include "gprof/graph.h"

/* Histograms are reckoned in units of the smallest instruction of the PDP-11: a function that begins at an odd address
 * begins a byte earlier. */
enum { UNIT_BYTES = 2 };

struct assigning {
	struct graph *graph;
	const struct choices *choices;
	const struct gmon_histogram *histogram;
	double bin_units;
	uint32_t first; /* functions before it end before the current bin */
};

static uint64_t start_units(const struct graph *graph, uint32_t symbol)
{
	return graph->image->symbols[symbol].start / UNIT_BYTES;
}

static uint64_t end_units(const struct graph *graph, uint32_t symbol)
{
	return symbol + 1 < graph->function_count ? start_units(graph, symbol + 1)
						  : graph->image->symbols[symbol].end / UNIT_BYTES;
}

/* The part of a bin's samples that each function gets which it overlaps. Bins are cut to whole units at both ends, but
 * their width is not: where that is no whole number, parts need not add up to all of it. */
static void assign_bin(struct assigning *assigning, size_t bin)
{
	struct graph *graph = assigning->graph;
	uint64_t base = assigning->histogram->low / UNIT_BYTES;
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

int graph_assign(struct graph *graph, const struct gmon *gmon, const struct choices *choices)
{
	for (size_t i = 0; i < gmon->histogram_count; i++) {
		const struct gmon_histogram *histogram = &gmon->histograms[i];
		struct assigning assigning = { .graph = graph, .choices = choices, .histogram = histogram };
		assigning.bin_units =
			(double)((histogram->high - histogram->low) / UNIT_BYTES) / (double)histogram->bin_count;
		if (i == 0) {
			graph->rate = histogram->rate;
			graph->abbreviation = histogram->abbreviation;
			memcpy(graph->dimension, histogram->dimension, sizeof(graph->dimension));
			graph->bin_units = assigning.bin_units;
		}
		if (assigning.bin_units <= 0)
			return ERROR_CORRUPT;
		for (size_t bin = 0; bin < histogram->bin_count; bin++)
			if (histogram->bins[bin])
				assign_bin(&assigning, bin);
	}
	return 0;
}

static int count_arc(struct graph *graph, const struct gmon_arc *arc, const struct choices *choices)
{
	uint32_t parent = image_find(graph->image, arc->from), child = image_find(graph->image, arc->self);
	if (child == IMAGE_NONE || parent == IMAGE_NONE) {
		graph->arcs_outside++;
		graph->calls_from_outside += child == IMAGE_NONE ? 0 : arc->count;
		return 0;
	}
	/* With symbols by line, what was called is a function still. */
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
