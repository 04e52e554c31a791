/*
 * The tree of call paths is walked once. Each node continues the context of its parent by the frames of its
 * location, outermost first:
 *
 *     node of main()                  context [main], at line 8
 *       node of digest() <- each()    context [main:8 @ digest], at line 2; context [main:8 @ digest:2 @ each], at line 2
 *
 * A node makes steps: contexts that it enters and calls that it makes. A recursive path makes the same step at several
 * nodes; the step gets the hits below the uppermost of them, so that a sample counts once.
 *
 * Counted calls are no samples: a call is a hit at the node of its callee, and only the steps of that node get it.
 */
#include "analyze/source_counts.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/key_index.h"
#include "analyze/source_names.h"
#include "base/array.h"

/* The end of a path: the context of its innermost frame, and the position there. */
struct place {
	uint32_t context; /* PROFILE_NONE: the next function begins anew */
	struct source_position position;
};

/* The hits of one instruction in a line. */
struct instruction {
	uint32_t line;
	uint64_t hits;
};

struct step {
	bool is_call; /* else a context */
	uint32_t id;
};

struct counting {
	const struct profile *profile;
	struct source_counts *counts;
	enum source_nesting nesting;
	bool is_calls;         /* the hits are counted calls */
	uint64_t *own, *below; /* per node: hits at it, and at or below it */
	struct place *places;  /* per node */
	uint32_t *first_child, *next_child;
	struct step *steps; /* of the nodes from the root to the current one */
	size_t step_count, step_capacity;
	uint32_t *open_calls, *open_contexts; /* per call and context: its steps on the current path */
	size_t open_call_capacity, open_context_capacity;
	uint32_t *function_of; /* per function of the profile: index in counts->functions, or PROFILE_NONE */
	struct instruction *instructions;
	size_t instruction_count, instruction_capacity;
	struct key_index by_name, by_context, by_line, by_call, by_instruction;
	uint32_t *entered; /* values of by_context */
	size_t entered_count, entered_capacity;
};

/* --- functions --- */

static int64_t add_function(struct counting *counting, const struct profile_function *function)
{
	struct source_counts *counts = counting->counts;
	const char *linkage = profile_string(counting->profile, function->linkage);
	int64_t name = strings_add(&counts->names, linkage, source_name_length(linkage));
	if (name < 0)
		return name;
	const struct key_index_key key = { .a = (uint32_t)name };
	int64_t id = key_index_add(&counting->by_name, &key, counts->function_count);
	if (id < 0)
		return id;
	if (id == (int64_t)counts->function_count) {
		if (ARRAY_RESERVE(counts->functions, counts->function_capacity, counts->function_count + 1) < 0)
			return ERROR_MEMORY;
		counts->functions[counts->function_count++] = (struct source_function){
			.name = strings_get(&counts->names, (uint32_t)name),
		};
	}
	struct source_function *entry = &counts->functions[id];
	if (entry->line != 0 && function->line != 0 && (entry->file != function->file || entry->line != function->line))
		entry->is_shared = true;
	if (entry->line == 0) {
		entry->line = function->line;
		entry->file = function->file;
	}
	return id;
}

/* Returns a function's entry, or PROFILE_NONE if a compiler could not find it by a name. */
static int64_t function_of(struct counting *counting, uint32_t function)
{
	const struct profile_function *row = &counting->profile->functions[function];
	if (counting->function_of[function] == PROFILE_NONE &&
	    source_name_is_usable(profile_string(counting->profile, row->linkage))) {
		int64_t id = add_function(counting, row);
		if (id < 0)
			return id;
		counting->function_of[function] = (uint32_t)id;
	}
	return counting->function_of[function];
}

/* --- contexts --- */

static bool is_active(const struct source_counts *counts, uint32_t context, uint32_t function)
{
	for (; context != PROFILE_NONE; context = counts->contexts[context].parent)
		if (counts->contexts[context].function == function)
			return true;
	return false;
}

static uint32_t outermost(const struct source_counts *counts, uint32_t context)
{
	while (counts->contexts[context].parent != PROFILE_NONE)
		context = counts->contexts[context].parent;
	return context;
}

/* Returns whether a call continues its context. A recursive one does not: contexts would be endless. */
static bool continues(const struct counting *counting, const struct place *from, uint32_t function, bool inlined)
{
	const struct source_counts *counts = counting->counts;
	if (from->context == PROFILE_NONE || is_active(counts, from->context, function))
		return false;
	if (inlined || counting->nesting == NEST_ALL)
		return true;
	uint32_t root = counts->contexts[outermost(counts, from->context)].function;
	return counting->nesting == NEST_FILE && counts->functions[root].file == counts->functions[function].file;
}

static int64_t add_context(struct counting *counting, const struct place *from, uint32_t function)
{
	struct source_counts *counts = counting->counts;
	if (ARRAY_RESERVE(counts->contexts, counts->context_capacity, counts->context_count + 1) < 0 ||
	    ARRAY_RESERVE(counting->open_contexts, counting->open_context_capacity, counts->context_count + 1) < 0)
		return ERROR_MEMORY;
	counting->open_contexts[counts->context_count] = 0;
	counts->contexts[counts->context_count] = (struct source_context){
		.parent = from->context,
		.function = function,
		.call = from->position,
	};
	return (int64_t)counts->context_count++;
}

/* Returns the context of a function that is called from a place. */
static int64_t enter(struct counting *counting, const struct place *from, uint32_t function, bool inlined)
{
	static const struct place anew = { .context = PROFILE_NONE };
	/* An inlined call and another one at the same place are one context unless only inlined calls continue. */
	const struct key_index_key key = { from->context, from->position.offset, from->position.discriminator,
					   function << 1 | (inlined && from->context != PROFILE_NONE) };
	int64_t known = key_index_add(&counting->by_context, &key, counting->entered_count);
	if (known < 0)
		return known;
	if (known < (int64_t)counting->entered_count)
		return counting->entered[known];
	if (ARRAY_RESERVE(counting->entered, counting->entered_capacity, counting->entered_count + 1) < 0)
		return ERROR_MEMORY;
	counting->entered[counting->entered_count++] = PROFILE_NONE;
	int64_t context;
	if (from->context == PROFILE_NONE)
		context = add_context(counting, from, function);
	else if (!continues(counting, from, function, inlined))
		context = enter(counting, &anew, function, false);
	else if (inlined && continues(counting, from, function, false))
		context = enter(counting, from, function, false);
	else
		context = add_context(counting, from, function);
	if (context >= 0)
		counting->entered[known] = (uint32_t)context;
	return context;
}

/* --- steps --- */

static int add_step(struct counting *counting, bool is_call, uint32_t id)
{
	if (ARRAY_RESERVE(counting->steps, counting->step_capacity, counting->step_count + 1) < 0)
		return ERROR_MEMORY;
	counting->steps[counting->step_count++] = (struct step){ .is_call = is_call, .id = id };
	return 0;
}

static int step_into(struct counting *counting, uint32_t context, uint64_t hits)
{
	if (counting->open_contexts[context]++ == 0 || counting->is_calls)
		counting->counts->contexts[context].head += hits;
	return add_step(counting, false, context);
}

static int step_call(struct counting *counting, const struct place *from, uint32_t function, uint64_t hits)
{
	struct source_counts *counts = counting->counts;
	if (from->context == PROFILE_NONE || hits == 0)
		return 0;
	const struct key_index_key key = { from->context, from->position.offset, from->position.discriminator,
					   function };
	int64_t call = key_index_add(&counting->by_call, &key, counts->call_count);
	if (call < 0)
		return (int)call;
	if (call == (int64_t)counts->call_count) {
		if (ARRAY_RESERVE(counts->calls, counts->call_capacity, counts->call_count + 1) < 0 ||
		    ARRAY_RESERVE(counting->open_calls, counting->open_call_capacity, counts->call_count + 1) < 0)
			return ERROR_MEMORY;
		counting->open_calls[call] = 0;
		counts->calls[counts->call_count++] = (struct source_call){ .context = from->context,
									    .position = from->position,
									    .function = function };
	}
	if (counting->open_calls[call]++ == 0 || counting->is_calls)
		counts->calls[call].count += hits;
	return add_step(counting, true, (uint32_t)call);
}

/* Takes back the steps of a node. */
static void step_back(struct counting *counting, size_t step_count)
{
	while (counting->step_count > step_count) {
		const struct step *step = &counting->steps[--counting->step_count];
		uint32_t *open = step->is_call ? counting->open_calls : counting->open_contexts;
		open[step->id]--;
	}
}

/* --- lines --- */

static int count_line(struct counting *counting, const struct place *at, uint32_t location, uint64_t hits)
{
	struct source_counts *counts = counting->counts;
	const struct key_index_key key = { at->context, at->position.offset, at->position.discriminator, 0 };
	int64_t line = key_index_add(&counting->by_line, &key, counts->line_count);
	if (line < 0)
		return (int)line;
	if (line == (int64_t)counts->line_count) {
		if (ARRAY_RESERVE(counts->lines, counts->line_capacity, counts->line_count + 1) < 0)
			return ERROR_MEMORY;
		counts->lines[counts->line_count++] =
			(struct source_line){ .context = at->context, .position = at->position };
	}
	const struct key_index_key instruction_key = { .a = (uint32_t)line, .b = location };
	int64_t id = key_index_add(&counting->by_instruction, &instruction_key, counting->instruction_count);
	if (id < 0)
		return (int)id;
	if (id == (int64_t)counting->instruction_count) {
		if (ARRAY_RESERVE(counting->instructions, counting->instruction_capacity,
				  counting->instruction_count + 1) < 0)
			return ERROR_MEMORY;
		counting->instructions[counting->instruction_count++] = (struct instruction){ .line = (uint32_t)line };
	}
	struct instruction *instruction = &counting->instructions[id];
	instruction->hits += hits;
	counts->contexts[at->context].hits += hits;
	if (instruction->hits > counts->lines[line].count)
		counts->lines[line].count = instruction->hits;
	return 0;
}

/* --- the walk --- */

/* A position of a frame in its function. Returns false, and counts the hits that end there, if it has none. */
static bool position_of(struct counting *counting, const struct profile_frame *frame, uint64_t hits,
			struct source_position *position)
{
	const struct profile_function *function = &counting->profile->functions[frame->function];
	struct source_losses *losses = &counting->counts->losses;
	if (frame->line >= function->line && frame->line != 0) {
		*position = (struct source_position){ frame->line - function->line,
						      source_base_discriminator(frame->discriminator) };
		return true;
	}
	*(frame->line == 0 ? &losses->line_zero : &losses->above_start) += hits;
	return false;
}

/* Continues a path by one frame: sets *at to the place of the frame. `hits` end at the frame itself. */
static int add_frame(struct counting *counting, const struct profile_frame *frame, uint64_t hits, uint64_t below,
		     bool inlined, struct place *at)
{
	const struct place from = *at;
	int64_t function = frame->kind == FRAME_NATIVE ? function_of(counting, frame->function) : PROFILE_NONE;
	at->context = PROFILE_NONE;
	if (function < 0)
		return (int)function;
	int status = function == PROFILE_NONE ? 0 : step_call(counting, &from, (uint32_t)function, below);
	if (status < 0)
		return status;
	if (function == PROFILE_NONE || counting->profile->functions[frame->function].line == 0) {
		counting->counts->losses.without_lines += hits;
		return 0;
	}
	int64_t context = enter(counting, &from, (uint32_t)function, inlined);
	status = context < 0 ? (int)context : step_into(counting, (uint32_t)context, below);
	if (status == 0 && position_of(counting, frame, hits, &at->position))
		at->context = (uint32_t)context;
	return status;
}

static bool is_of_file(const struct profile *profile, const struct profile_location *location)
{
	return location->frame_count > 0 && location->first_frame != PROFILE_NONE &&
	       profile->modules[location->module].kind == MODULE_FILE;
}

static int visit(struct counting *counting, uint32_t node)
{
	const struct profile *profile = counting->profile;
	uint32_t location = profile->nodes[node].location;
	const struct profile_location *row = &profile->locations[location];
	uint64_t hits = counting->own[node];
	struct place at = counting->places[profile->nodes[node].parent];
	int status = 0;
	if (is_of_file(profile, row)) {
		for (uint32_t i = row->frame_count; i-- > 0 && status == 0;) {
			const struct profile_frame *frame = &profile->frames[row->first_frame + i];
			uint64_t ending = i == 0 ? hits : 0;
			status = add_frame(counting, frame, ending, counting->is_calls ? ending : counting->below[node],
					   frame->inlined, &at);
		}
	} else {
		at.context = PROFILE_NONE;
		counting->counts->losses.without_lines += hits;
	}
	counting->places[node] = at;
	if (status == 0 && hits > 0 && at.context != PROFILE_NONE)
		status = count_line(counting, &at, location, hits);
	return status;
}

/* Visits the nodes with hits, depth first. `path` has room for the steps before each node of a path. */
static int walk(struct counting *counting, size_t *path)
{
	const struct profile *profile = counting->profile;
	size_t depth = 0;
	uint32_t node = counting->first_child[PROFILE_ROOT];
	while (node != PROFILE_NONE) {
		path[depth++] = counting->step_count;
		int status = visit(counting, node);
		if (status < 0)
			return status;
		uint32_t next = counting->first_child[node];
		for (; next == PROFILE_NONE && node != PROFILE_ROOT; node = profile->nodes[node].parent) {
			step_back(counting, path[--depth]);
			next = counting->next_child[node];
		}
		node = next;
	}
	return 0;
}

static void link_children(struct counting *counting)
{
	const struct profile *profile = counting->profile;
	for (size_t i = profile->node_count; i-- > 1;)
		counting->below[profile->nodes[i].parent] += counting->below[i];
	for (size_t i = 0; i < profile->node_count; i++)
		counting->first_child[i] = PROFILE_NONE;
	for (size_t i = profile->node_count; i-- > 1;) {
		uint32_t parent = profile->nodes[i].parent;
		if (counting->below[i] == 0)
			continue;
		counting->next_child[i] = counting->first_child[parent];
		counting->first_child[parent] = (uint32_t)i;
	}
}

static bool is_calls(const struct profile *profile, uint32_t resource)
{
	const struct profile_resource *row = &profile->resources[resource];
	return !resource_has_samples(row) && strcmp(profile_string(profile, row->unit), "call") == 0;
}

static int count(struct counting *counting, uint32_t resource)
{
	const struct profile *profile = counting->profile;
	size_t nodes = profile->node_count, functions = profile->function_count;
	counting->is_calls = is_calls(profile, resource);
	counting->own = calloc(nodes, sizeof(*counting->own));
	counting->below = calloc(nodes, sizeof(*counting->below));
	counting->places = calloc(nodes, sizeof(*counting->places));
	counting->first_child = calloc(nodes, sizeof(*counting->first_child));
	counting->next_child = calloc(nodes, sizeof(*counting->next_child));
	counting->function_of = malloc((functions + 1) * sizeof(*counting->function_of));
	size_t *path = calloc(nodes, sizeof(*path));
	int status = ERROR_MEMORY;
	if (counting->own && counting->below && counting->places && counting->first_child && counting->next_child &&
	    counting->function_of && path) {
		memset(counting->function_of, 0xff, functions * sizeof(*counting->function_of));
		for (size_t i = 0; i < profile->hit_count; i++)
			if (profile->hits[i].resource == resource)
				counting->own[profile->hits[i].node] += profile->hits[i].count;
		memcpy(counting->below, counting->own, nodes * sizeof(*counting->own));
		link_children(counting);
		counting->places[PROFILE_ROOT].context = PROFILE_NONE;
		counting->counts->hits = counting->below[PROFILE_ROOT];
		counting->counts->losses.without_lines = counting->own[PROFILE_ROOT];
		status = walk(counting, path);
	}
	free(path);
	return status;
}

/* --- the result --- */

static int compare_positions(const struct source_position *a, const struct source_position *b)
{
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->discriminator > b->discriminator) - (a->discriminator < b->discriminator);
}

static int compare_lines(const void *left, const void *right)
{
	const struct source_line *a = left, *b = right;
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return compare_positions(&a->position, &b->position);
}

static int compare_calls(const void *left, const void *right, void *functions)
{
	const struct source_function *names = functions;
	const struct source_call *a = left, *b = right;
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	int order = compare_positions(&a->position, &b->position);
	return order ? order : strcmp(names[a->function].name, names[b->function].name);
}

static void finish(struct source_counts *counts)
{
	if (counts->line_count > 0)
		qsort(counts->lines, counts->line_count, sizeof(*counts->lines), compare_lines);
	if (counts->call_count > 0)
		qsort_r(counts->calls, counts->call_count, sizeof(*counts->calls), compare_calls, counts->functions);
	for (size_t i = 0; i < counts->line_count; i++)
		counts->contexts[counts->lines[i].context].own += counts->lines[i].count;
	for (size_t i = counts->context_count; i-- > 0;) {
		struct source_context *context = &counts->contexts[i];
		context->total += context->own;
		if (context->parent != PROFILE_NONE)
			counts->contexts[context->parent].total += context->total;
	}
	for (size_t i = 0; i < counts->function_count; i++)
		counts->losses.names += counts->functions[i].is_shared;
}

static void counting_release(struct counting *counting)
{
	key_index_release(&counting->by_name);
	key_index_release(&counting->by_context);
	key_index_release(&counting->by_line);
	key_index_release(&counting->by_call);
	key_index_release(&counting->by_instruction);
	free(counting->own);
	free(counting->below);
	free(counting->places);
	free(counting->first_child);
	free(counting->next_child);
	free(counting->steps);
	free(counting->open_calls);
	free(counting->open_contexts);
	free(counting->function_of);
	free(counting->instructions);
	free(counting->entered);
}

struct source_counts *source_counts_new(const struct profile *profile, uint32_t resource, enum source_nesting nesting,
					struct error *error)
{
	struct counting counting = { .profile = profile, .nesting = nesting };
	struct source_counts *counts = counting.counts = calloc(1, sizeof(*counts));
	int status = counts ? strings_init(&counts->names) : ERROR_MEMORY;
	if (status == 0)
		status = count(&counting, resource);
	counting_release(&counting);
	if (status == 0) {
		finish(counts);
		return counts;
	}
	error_set(error, status, "cannot count the lines of the profile: %s", error_text(status));
	source_counts_free(counts);
	return NULL;
}

void source_counts_free(struct source_counts *counts)
{
	if (!counts)
		return;
	strings_release(&counts->names);
	free(counts->functions);
	free(counts->contexts);
	free(counts->lines);
	free(counts->calls);
	free(counts);
}
