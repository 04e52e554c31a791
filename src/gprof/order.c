#include "gprof/print.h"

#include <stdlib.h>

#include "base/compare.h"
#include "gprof/object_map.h"

/*
 * One member of a chain, the keeper, stores the chain and its own position in it; the others lead to the keeper in a
 * few steps (R. E. Tarjan, "Efficiency of a good but not linear set union algorithm", 1975). So only one keeper's
 * position changes when two chains are joined.
 */
struct chained {
	uint32_t next;   /* next function in its chain, or GRAPH_NONE */
	uint32_t up;     /* towards the keeper; the keeper's is itself */
	int64_t from_up; /* number of positions behind `up`; the keeper's: behind the head */
	/* Valid for the keeper: */
	uint32_t head, tail;
	uint32_t length;
};

struct order {
	const struct graph *graph;
	struct chained *functions; /* owned */
	uint32_t *arcs;            /* owned: arcs with calls between two functions, the busiest first */
	size_t arc_count;
	uint32_t *sequence; /* owned: functions in their new order */
	size_t sequence_count;
	bool *is_placed; /* owned */
};

static int by_count(const void *left, const void *right, void *context)
{
	const struct graph_arc *arcs = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return COMPARE(arcs[b].count, arcs[a].count) ?: COMPARE(a, b);
}

static void sort_arcs(struct order *order)
{
	const struct graph *graph = order->graph;
	for (uint32_t i = 0; i < graph->arc_count; i++) {
		const struct graph_arc *arc = &graph->arcs[i];
		if (arc->count > 0 && arc->parent != arc->child && arc->parent < graph->function_count &&
		    arc->child < graph->function_count)
			order->arcs[order->arc_count++] = i;
	}
	if (order->arc_count > 0)
		qsort_r(order->arcs, order->arc_count, sizeof(*order->arcs), by_count, graph->arcs);
}

/* Returns the keeper of a function's chain. Sets *position to the function's position in the chain, from 0. */
static uint32_t find_keeper(struct order *order, uint32_t function, int64_t *position)
{
	struct chained *functions = order->functions;
	*position = 0;
	while (functions[function].up != function) {
		struct chained *at = &functions[function];
		const struct chained *above = &functions[at->up];
		if (above->up != at->up) {
			at->from_up += above->from_up;
			at->up = above->up;
		}
		*position += at->from_up;
		function = at->up;
	}
	*position += functions[function].from_up;
	return function;
}

/* Both arguments are keepers. The keeper of the longer chain becomes the keeper of the joined chain. */
static void append_chain(struct order *order, uint32_t first, uint32_t second)
{
	struct chained *before = &order->functions[first], *behind = &order->functions[second];
	uint32_t head = before->head, tail = behind->tail, length = before->length + behind->length;
	order->functions[before->tail].next = behind->head;
	behind->from_up += before->length;
	bool first_keeps = before->length >= behind->length;
	struct chained *keeper = first_keeps ? before : behind, *other = first_keeps ? behind : before;
	other->up = first_keeps ? first : second;
	other->from_up -= keeper->from_up;
	keeper->head = head;
	keeper->tail = tail;
	keeper->length = length;
}

static void join(struct order *order, uint32_t parent, uint32_t child)
{
	const struct chained *functions = order->functions;
	int64_t position_a, position_b;
	uint32_t a = find_keeper(order, parent, &position_a), b = find_keeper(order, child, &position_b);
	if (a == b)
		return;
	int64_t parents_first = functions[a].length - position_a + position_b;
	int64_t childs_first = functions[b].length - position_b + position_a;
	if (parents_first <= childs_first)
		append_chain(order, a, b);
	else
		append_chain(order, b, a);
}

static void append(struct order *order, uint32_t function)
{
	if (order->is_placed[function])
		return;
	order->is_placed[function] = true;
	order->sequence[order->sequence_count++] = function;
}

static void append_all(struct order *order)
{
	const struct graph *graph = order->graph;
	for (size_t i = 0; i < order->arc_count; i++) {
		int64_t ignored;
		uint32_t keeper = find_keeper(order, graph->arcs[order->arcs[i]].parent, &ignored);
		uint32_t at = order->functions[keeper].head;
		if (order->is_placed[at])
			continue;
		for (; at != GRAPH_NONE; at = order->functions[at].next)
			append(order, at);
	}
	for (uint32_t i = 0; i < graph->function_count; i++)
		if (graph->nodes[i].calls + graph->nodes[i].self_calls > 0)
			append(order, i);
	for (uint32_t i = 0; i < graph->function_count; i++)
		append(order, i);
}

static void order_release(struct order *order)
{
	free(order->functions);
	free(order->arcs);
	free(order->sequence);
	free(order->is_placed);
}

/* Returns 0 or ERROR_MEMORY; call order_release in any case. */
static int order_make(struct order *order, const struct graph *graph)
{
	size_t count = graph->function_count;
	*order = (struct order){ .graph = graph };
	order->functions = calloc(count + 1, sizeof(*order->functions));
	order->arcs = calloc(graph->arc_count + 1, sizeof(*order->arcs));
	order->sequence = calloc(count + 1, sizeof(*order->sequence));
	order->is_placed = calloc(count + 1, sizeof(*order->is_placed));
	if (!order->functions || !order->arcs || !order->sequence || !order->is_placed)
		return ERROR_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		order->functions[i] =
			(struct chained){ .next = GRAPH_NONE, .up = i, .head = i, .tail = i, .length = 1 };
	sort_arcs(order);
	for (size_t i = 0; i < order->arc_count; i++)
		join(order, graph->arcs[order->arcs[i]].parent, graph->arcs[order->arcs[i]].child);
	append_all(order);
	return 0;
}

static const char *name_of(const struct gprof_report *report, uint32_t function)
{
	return report->image ? report->image->symbols[function].name : report->graph->names[function];
}

static void print_row(struct gprof_report *report, const char *name)
{
	print_text(report, name);
	fputc('\n', report->out);
}

int print_function_order(struct gprof_report *report, struct error *error)
{
	struct order order;
	int status = order_make(&order, report->graph);
	if (status < 0)
		error_set(error, status, "out of memory");
	else
		print_page(report);
	for (size_t i = 0; i < order.sequence_count && status == 0; i++)
		print_row(report, name_of(report, order.sequence[i]));
	order_release(&order);
	return status;
}

/* Prints each object once. Objects are numbered from 0. */
static int print_objects(struct gprof_report *report, const struct order *order, struct object_map *map)
{
	bool *is_printed = calloc(map->objects.count + 1, sizeof(*is_printed));
	if (!is_printed)
		return ERROR_MEMORY;
	print_page(report);
	for (size_t i = 0; i < order->sequence_count; i++) {
		uint32_t object = object_map_find(map, name_of(report, order->sequence[i]));
		if (object == HASH_MAP_NONE || is_printed[object])
			continue;
		is_printed[object] = true;
		print_row(report, strings_get(&map->objects, object));
	}
	free(is_printed);
	return 0;
}

int print_file_order(struct gprof_report *report, struct error *error)
{
	struct object_map map;
	struct order order = { 0 };
	int status = object_map_read(&map, report->options->map_file, error);
	if (status == 0) {
		status = order_make(&order, report->graph);
		if (status == 0)
			status = print_objects(report, &order, &map);
		if (status == ERROR_MEMORY)
			error_set(error, status, "out of memory");
	}
	order_release(&order);
	object_map_release(&map);
	return status;
}
