#include "analyze/instructions.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analyze/build.h"
#include "analyze/nodes_of_function.h"

#define NO_INSTRUCTION SIZE_MAX

struct counting {
	const struct view *view;
	struct instruction_list *list;
	bool *is_included;              /* per location: one of the functions is shown there */
	size_t *instruction;            /* per location: in list->code, or NO_INSTRUCTION */
	uint32_t *on_stack;             /* per instruction: how often it is in the present stack */
	struct nodes_of_function nodes; /* the nodes at these locations */
};

static bool has_function(const struct view *view, const struct label_set *functions,
			 const struct profile_location *location)
{
	uint32_t first, count = location_shown_frames(view, location, &first);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t function = view->profile->frames[first + i].function;
		if (label_set_has(functions, view->function_label[function]))
			return true;
	}
	return false;
}

/* Marks the locations of the functions, and finds the nodes there. The caller releases `counting` in any case. */
static int counting_init(struct counting *counting, const struct view *view, const struct label_set *functions,
			 struct error *error)
{
	const struct profile *profile = view->profile;
	*counting = (struct counting){ .view = view };
	if (!view->function_label)
		return error_set(error, ERROR_USAGE, "cannot show instructions: the view is not by function");
	int status = label_set_check(view, functions, error);
	if (status < 0)
		return status;
	counting->is_included = calloc(profile->location_count + 1, sizeof(*counting->is_included));
	if (!counting->is_included)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < profile->location_count; i++)
		counting->is_included[i] = has_function(view, functions, &profile->locations[i]);
	status = nodes_of_function_init(&counting->nodes, view, counting->is_included);
	return status < 0 ? error_set(error, status, "out of memory") : 0;
}

static void counting_release(struct counting *counting)
{
	free(counting->is_included);
	free(counting->instruction);
	free(counting->on_stack);
	nodes_of_function_release(&counting->nodes);
}

/* --- addresses --- */

static int compare_addresses(const void *left, const void *right)
{
	const struct code_address *a = left, *b = right;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* Returns the function that the code of a location belongs to: its outermost frame. */
static uint32_t container_of(const struct profile *profile, const struct profile_location *location)
{
	return profile->frames[location->first_frame + location->frame_count - 1].function;
}

/* Collects the addresses of the nodes with hits, each once. */
static size_t list_addresses(const struct counting *counting, struct code_address *addresses)
{
	const struct profile *profile = counting->view->profile;
	size_t count = 0, kept = 0;
	for (size_t i = 0; i < counting->nodes.count; i++) {
		const struct function_node *node = &counting->nodes.nodes[i];
		const struct profile_location *location = &profile->locations[node->location];
		if (node->weight > 0)
			addresses[count++] = (struct code_address){ location->module, container_of(profile, location),
								    location->address };
	}
	qsort(addresses, count, sizeof(*addresses), compare_addresses);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || compare_addresses(&addresses[i], &addresses[kept - 1]) != 0)
			addresses[kept++] = addresses[i];
	return kept;
}

int analyze_code_addresses(const struct view *view, const struct label_set *functions, struct code_address **addresses,
			   size_t *count, struct error *error)
{
	struct counting counting;
	*addresses = NULL;
	*count = 0;
	int status = counting_init(&counting, view, functions, error);
	if (status == 0) {
		*addresses = calloc(counting.nodes.count + 1, sizeof(**addresses));
		if (*addresses)
			*count = list_addresses(&counting, *addresses);
		else
			status = error_set(error, ERROR_MEMORY, "out of memory");
	}
	counting_release(&counting);
	return status;
}

/* --- hits --- */

/* Counts a node's weight for its instruction, unless a node above it has counted it already. */
static void enter_node(void *context, const struct function_node *node)
{
	struct counting *counting = context;
	size_t instruction = counting->instruction[node->location];
	if (instruction == NO_INSTRUCTION) {
		counting->list->unplaced += node->hits;
		return;
	}
	counting->list->hits[instruction].body += node->hits;
	if (counting->on_stack[instruction]++ == 0)
		counting->list->hits[instruction].total += node->weight;
}

static void leave_node(void *context, const struct function_node *node)
{
	struct counting *counting = context;
	size_t instruction = counting->instruction[node->location];
	if (instruction != NO_INSTRUCTION)
		counting->on_stack[instruction]--;
}

static void find_instructions(struct counting *counting)
{
	const struct profile *profile = counting->view->profile;
	struct instruction_list *list = counting->list;
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		counting->instruction[i] = NO_INSTRUCTION;
		if (!counting->is_included[i])
			continue;
		size_t range = code_list_range(&list->code, location->module, location->address);
		if (range == SIZE_MAX)
			continue;
		list->functions[range] = container_of(profile, location);
		counting->instruction[i] = code_list_find(&list->code, location->module, location->address);
	}
}

static int count_hits(struct counting *counting, struct error *error)
{
	struct instruction_list *list = counting->list;
	list->hits = calloc(list->code.count + 1, sizeof(*list->hits));
	list->functions = calloc(list->code.range_count + 1, sizeof(*list->functions));
	counting->instruction = calloc(counting->view->profile->location_count + 1, sizeof(*counting->instruction));
	counting->on_stack = calloc(list->code.count + 1, sizeof(*counting->on_stack));
	if (!list->hits || !list->functions || !counting->instruction || !counting->on_stack)
		return error_set(error, ERROR_MEMORY, "out of memory");
	list->total = counting->view->total;
	list->independent = counting->view->independent;
	for (size_t i = 0; i < list->code.range_count; i++)
		list->functions[i] = PROFILE_NONE;
	find_instructions(counting);
	nodes_of_function_walk(&counting->nodes, enter_node, leave_node, counting);
	return 0;
}

struct instruction_list *analyze_instructions(const struct view *view, const struct label_set *functions,
					      struct code_list *code, struct error *error)
{
	struct counting counting = { 0 };
	struct instruction_list *list = calloc(1, sizeof(*list));
	if (!list) {
		code_list_release(code);
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	list->code = *code;
	*code = (struct code_list){ 0 };
	int status = counting_init(&counting, view, functions, error);
	counting.list = list;
	if (status == 0)
		status = count_hits(&counting, error);
	counting_release(&counting);
	if (status == 0)
		return list;
	instruction_list_free(list);
	return NULL;
}

void instruction_list_free(struct instruction_list *list)
{
	if (!list)
		return;
	code_list_release(&list->code);
	free(list->hits);
	free(list->functions);
	free(list);
}
