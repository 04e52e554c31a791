#include "frames/tail_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "frames/jail/tail_calls.h"
#include "frames/tail_choice.h"
#include "frames/tail_search.h"
#include "profile/file_users.h"
#include "profile/tail_calls.h"

/* Rounds of questions about names of functions in other files, names of one pair, and modules that are asked for them. */
enum { ROUNDS_MOST = 3, NAMES_MOST = 32, MODULES_MOST = 64 };

/* A call site and the location of the next inner frame. */
struct pair {
	uint32_t caller, callee; /* locations */
	uint32_t from, to;       /* nodes of the graph; TAIL_NONE: unknown */
	uint32_t chain;          /* index in chains; TAIL_NONE: none */
};

/* A function, or the name of one. */
struct place {
	uint32_t module; /* PROFILE_NONE: a name */
	uint32_t name;
	uint64_t start;
};

/* The steps between two nodes. */
struct chain {
	struct step *steps; /* owned */
	size_t count;
};

struct step {
	bool several, or_none, or_unknown;
	uint32_t *locations; /* owned: of a certain function its own one, else those of the alternatives */
	size_t count;
};

/* A question for a module's file. The first ones are about pairs. */
struct question {
	uint32_t module;
	uint32_t pair; /* TAIL_NONE: none */
	uint32_t name; /* of names; TAIL_NONE: none */
	uint64_t caller, callee;
};

struct tail_frames {
	struct profile *profile;
	const struct frames_options *options;
	struct functions *functions; /* of tail_frames_add */
	struct jail jail;
	struct file_users files;
	struct pair *pairs;
	struct question *questions;
	struct place *places; /* per node of the graph */
	struct chain *chains;
	size_t pair_count, pair_capacity, question_count, question_capacity, place_capacity, chain_count,
		chain_capacity;
	struct tail_graph graph;
	uint32_t anywhere; /* node of the empty name: unknown functions */
	struct strings names;
	struct hash_map by_start; /* (module, start) -> node */
	struct hash_map by_name;  /* name -> node */
	struct hash_map asked;    /* (name, module, node of the callee) */
	struct hash_map by_ends;  /* (from, to) -> chain */
	struct hash_map rows;     /* (caller, callee) that has a row */
	struct hash_map copies;   /* location of one jump -> location of several */
	struct hash_map markers;  /* function that stands for one of several -> location */
};

struct tail_frames *tail_frames_new(struct profile *profile, const struct frames_options *options)
{
	struct tail_frames *frames = calloc(1, sizeof(*frames));
	if (!frames)
		return NULL;
	frames->profile = profile;
	frames->options = options;
	jail_init(&frames->jail, &options->limits, frames);
	hash_map_init(&frames->by_start);
	hash_map_init(&frames->by_name);
	hash_map_init(&frames->asked);
	hash_map_init(&frames->by_ends);
	hash_map_init(&frames->rows);
	hash_map_init(&frames->copies);
	hash_map_init(&frames->markers);
	if (strings_init(&frames->names) == 0 && tail_graph_init(&frames->graph) == 0)
		return frames;
	tail_frames_free(frames);
	return NULL;
}

static void chain_release(struct chain *chain)
{
	for (size_t i = 0; i < chain->count; i++)
		free(chain->steps[i].locations);
	free(chain->steps);
}

void tail_frames_free(struct tail_frames *frames)
{
	if (!frames)
		return;
	jail_release(&frames->jail);
	file_users_release(&frames->files);
	for (size_t i = 0; i < frames->chain_count; i++)
		chain_release(&frames->chains[i]);
	free(frames->pairs);
	free(frames->questions);
	free(frames->places);
	free(frames->chains);
	tail_graph_release(&frames->graph);
	strings_release(&frames->names);
	hash_map_release(&frames->by_start);
	hash_map_release(&frames->by_name);
	hash_map_release(&frames->asked);
	hash_map_release(&frames->by_ends);
	hash_map_release(&frames->rows);
	hash_map_release(&frames->copies);
	hash_map_release(&frames->markers);
	free(frames);
}

static uint64_t pair_key(uint32_t first, uint32_t second)
{
	return (uint64_t)first << 32 | second;
}

/* --- pairs --- */

/* Returns whether a location is in code of a file. Frames of interpreters have theirs from the beginning. */
static bool is_in_file(const struct profile *profile, uint32_t location)
{
	const struct profile_location *row = &profile->locations[location];
	return profile->modules[row->module].kind == MODULE_FILE && !row->by_frames && !row->is_tail;
}

static int find_pairs(struct tail_frames *frames)
{
	const struct profile *profile = frames->profile;
	struct hash_map known;
	int status = 0;
	hash_map_init(&known);
	for (uint32_t i = 1; i < profile->node_count && status == 0; i++) {
		uint32_t parent = profile->nodes[i].parent;
		if (parent == PROFILE_ROOT)
			continue;
		uint32_t caller = profile->nodes[parent].location, callee = profile->nodes[i].location;
		if (!is_in_file(profile, caller) || !is_in_file(profile, callee) ||
		    hash_map_get(&known, pair_key(caller, callee)) != HASH_MAP_NONE)
			continue;
		status = hash_map_put(&known, pair_key(caller, callee), 0);
		if (status == 0)
			status = ARRAY_RESERVE(frames->pairs, frames->pair_capacity, frames->pair_count + 1);
		if (status == 0)
			frames->pairs[frames->pair_count++] = (struct pair){ .caller = caller,
									     .callee = callee,
									     .from = TAIL_NONE,
									     .to = TAIL_NONE,
									     .chain = TAIL_NONE };
	}
	hash_map_release(&known);
	return status;
}

/* --- the graph --- */

static int64_t add_node(struct tail_frames *frames, struct hash_map *map, uint64_t key, const struct place *place)
{
	uint32_t known = hash_map_get(map, key);
	if (known != HASH_MAP_NONE)
		return known;
	if (ARRAY_RESERVE(frames->places, frames->place_capacity, frames->graph.node_count + 1) < 0)
		return ERROR_MEMORY;
	int64_t node = tail_graph_add_node(&frames->graph, place->module == PROFILE_NONE);
	if (node < 0)
		return node;
	frames->places[node] = *place;
	return hash_map_put(map, key, (uint32_t)node) < 0 ? ERROR_MEMORY : node;
}

static int64_t function_node(struct tail_frames *frames, uint32_t module, uint64_t start)
{
	const struct place place = { .module = module, .start = start };
	return add_node(frames, &frames->by_start, hash_u64(start) ^ module, &place);
}

static int64_t name_node(struct tail_frames *frames, const char *name)
{
	int64_t id = strings_add(&frames->names, name, strlen(name));
	const struct place place = { .module = PROFILE_NONE, .name = (uint32_t)id };
	return id < 0 ? id : add_node(frames, &frames->by_name, (uint64_t)id, &place);
}

/* Returns the node of an answer's function or name, TAIL_NONE if it has neither, or a negative error. */
static int64_t node_of(struct tail_frames *frames, uint32_t module, const struct tail_code *code, uint32_t function,
		       uint32_t name)
{
	if (function != TAIL_CODE_NONE)
		return function_node(frames, module, code->starts[function]);
	return name == TAIL_CODE_NONE ? TAIL_NONE : name_node(frames, strings_get(&code->names, name));
}

static int take_jumps(struct tail_frames *frames, uint32_t module, const struct tail_code *code)
{
	for (size_t i = 0; i < code->jump_count; i++) {
		const struct tail_jump *jump = &code->jumps[i];
		int64_t from = function_node(frames, module, code->starts[jump->from]);
		int64_t to = from < 0 ? from : node_of(frames, module, code, jump->to, jump->name);
		int status = to < 0 ? (int)to
				    : tail_graph_add_jump(&frames->graph, (uint32_t)from, (uint32_t)to, jump->address);
		if (status < 0)
			return status;
	}
	return 0;
}

/* Takes the answer to one question. */
static int take_found(struct tail_frames *frames, const struct question *question, const struct tail_code *code,
		      const struct tail_found *found)
{
	struct pair *pair = question->pair == TAIL_NONE ? NULL : &frames->pairs[question->pair];
	int64_t target = node_of(frames, question->module, code, found->target, found->name);
	int64_t callee = target < 0 ? target : node_of(frames, question->module, code, found->callee, TAIL_CODE_NONE);
	if (callee < 0)
		return (int)callee;
	if (pair && question->caller)
		pair->from = (uint32_t)target;
	if (pair && question->callee)
		pair->to = (uint32_t)callee;
	if (question->name == TAIL_NONE || target == TAIL_NONE)
		return 0;
	int64_t name = name_node(frames, strings_get(&frames->names, question->name));
	return name < 0 ? (int)name : tail_graph_add_jump(&frames->graph, (uint32_t)name, (uint32_t)target, 0);
}

/* --- questions --- */

static int add_question(struct tail_frames *frames, const struct question *question)
{
	if (ARRAY_RESERVE(frames->questions, frames->question_capacity, frames->question_count + 1) < 0)
		return ERROR_MEMORY;
	frames->questions[frames->question_count++] = *question;
	return 0;
}

static int open_file(struct tail_frames *frames, uint32_t module)
{
	const struct frames_options *options = frames->options;
	struct error error;
	if (options->open_module)
		return options->open_module(options->context, module, &error);
	return file_users_open(&frames->files, frames->profile,
			       profile_string(frames->profile, frames->profile->modules[module].path));
}

/* Asks for the answers of one module's file. A file that cannot be read, or whose answer makes no sense, has none. */
static int query_module(struct tail_frames *frames, const struct question *questions, size_t count)
{
	uint32_t module = questions[0].module;
	struct tail_query *queries = calloc(count, sizeof(*queries));
	struct tail_code code;
	int fd = queries ? open_file(frames, module) : -1;
	for (size_t i = 0; queries && i < count; i++)
		queries[i] = (struct tail_query){ .caller = questions[i].caller,
						  .callee = questions[i].callee,
						  .name = questions[i].name == TAIL_NONE
								  ? ""
								  : strings_get(&frames->names, questions[i].name) };
	int status = queries ? ERROR_NOT_FOUND : ERROR_MEMORY;
	if (fd >= 0) {
		const char *path = profile_string(frames->profile, frames->profile->modules[module].path);
		status = tail_calls_query(&frames->jail, fd, path, queries, count, &code);
		close(fd);
	}
	free(queries);
	if (status < 0)
		return status == ERROR_MEMORY ? status : 0;
	status = take_jumps(frames, module, &code);
	for (size_t i = 0; i < count && status == 0; i++)
		status = take_found(frames, &questions[i], &code, &code.found[i]);
	tail_code_release(&code);
	return status;
}

static int by_module(const void *left, const void *right)
{
	const struct question *a = left, *b = right;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->pair != b->pair)
		return a->pair < b->pair ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* Asks all questions, and forgets them. */
static int send_questions(struct tail_frames *frames)
{
	int status = 0;
	if (frames->question_count > 0)
		qsort(frames->questions, frames->question_count, sizeof(*frames->questions), by_module);
	for (size_t first = 0, count; first < frames->question_count && status == 0; first += count) {
		const struct question *questions = &frames->questions[first];
		for (count = 1; first + count < frames->question_count; count++)
			if (questions[count].module != questions[0].module)
				break;
		if (frames->jail.is_interrupted)
			break;
		status = query_module(frames, questions, count);
	}
	frames->question_count = 0;
	return status;
}

/* Asks what the call sites call, and which functions contain the callees. */
static int request_pairs(struct tail_frames *frames)
{
	const struct profile *profile = frames->profile;
	int status = 0;
	for (uint32_t i = 0; i < frames->pair_count && status == 0; i++) {
		const struct profile_location *caller = &profile->locations[frames->pairs[i].caller];
		const struct profile_location *callee = &profile->locations[frames->pairs[i].callee];
		struct question question = {
			.module = caller->module, .pair = i, .name = TAIL_NONE, .caller = caller->address
		};
		if (caller->module == callee->module)
			question.callee = callee->address;
		status = add_question(frames, &question);
		if (status < 0 || caller->module == callee->module)
			continue;
		question = (struct question){
			.module = callee->module, .pair = i, .name = TAIL_NONE, .callee = callee->address
		};
		status = add_question(frames, &question);
	}
	return status < 0 ? status : send_questions(frames);
}

/* --- names of other files --- */

/* Asks a module for a name, once for each callee. `callee` 0: that is in another file. */
static int request_name(struct tail_frames *frames, uint32_t module, uint32_t name, uint32_t to, uint64_t callee)
{
	uint64_t key = hash_u64(hash_u64(pair_key(name, module)) + to);
	if (hash_map_get(&frames->asked, key) != HASH_MAP_NONE)
		return 0;
	if (hash_map_put(&frames->asked, key, 0) < 0)
		return ERROR_MEMORY;
	const struct question question = { .module = module, .pair = TAIL_NONE, .name = name, .callee = callee };
	return add_question(frames, &question);
}

/* Writes the names that are within reach of a node, and not behind the end. Returns their number. */
static size_t names_within_reach(const struct tail_frames *frames, uint32_t from, uint32_t to, uint32_t *names)
{
	const struct tail_graph *graph = &frames->graph;
	struct hash_map seen;
	uint32_t queue[4 * NAMES_MOST];
	size_t count = 0, found = 0;
	hash_map_init(&seen);
	if (hash_map_put(&seen, to, 0) == 0)
		queue[count++] = from;
	for (size_t at = 0; at < count && found < NAMES_MOST; at++) {
		const struct tail_node *node = &graph->nodes[queue[at]];
		if (node->is_name && queue[at] != frames->anywhere)
			names[found++] = frames->places[queue[at]].name;
		for (uint32_t i = node->first_out; i != TAIL_NONE && count < 4 * NAMES_MOST;
		     i = graph->edges[i].next_out) {
			uint32_t next = graph->edges[i].to;
			if (hash_map_get(&seen, next) == HASH_MAP_NONE && hash_map_put(&seen, next, 0) == 0)
				queue[count++] = next;
		}
	}
	hash_map_release(&seen);
	return found;
}

/* Asks for the names by which a pair's callee may be reached: its own module first, and then all modules with calls. */
static int request_names(struct tail_frames *frames, const struct pair *pair, const uint32_t *modules,
			 size_t module_count)
{
	const struct profile_location *callee = &frames->profile->locations[pair->callee];
	uint32_t names[NAMES_MOST];
	size_t count = names_within_reach(frames, pair->from, pair->to, names);
	int status = 0;
	for (size_t i = 0; i < count && status == 0; i++) {
		status = request_name(frames, callee->module, names[i], pair->to, callee->address);
		for (size_t m = 0; m < module_count && status == 0; m++)
			if (modules[m] != callee->module)
				status = request_name(frames, modules[m], names[i], TAIL_NONE, 0);
	}
	return status;
}

/* Writes up to MODULES_MOST modules that have calls. */
static size_t calling_modules(const struct tail_frames *frames, uint32_t *modules)
{
	size_t count = 0;
	for (size_t i = 0; i < frames->pair_count && count < MODULES_MOST; i++) {
		uint32_t module = frames->profile->locations[frames->pairs[i].caller].module;
		size_t at = 0;
		while (at < count && modules[at] != module)
			at++;
		if (at == count)
			modules[count++] = module;
	}
	return count;
}

static bool is_open(const struct pair *pair)
{
	return pair->from != TAIL_NONE && pair->to != TAIL_NONE && pair->from != pair->to;
}

/* Returns whether a name is called, and that of the function that runs. */
static bool is_by_name(const struct tail_frames *frames, const struct pair *pair)
{
	const struct tail_graph *graph = &frames->graph;
	uint32_t edge = graph->nodes[pair->from].is_name ? graph->nodes[pair->from].first_out : TAIL_NONE;
	while (edge != TAIL_NONE && graph->edges[edge].to != pair->to)
		edge = graph->edges[edge].next_out;
	return edge != TAIL_NONE;
}

/* Asks for all names, also where a way is known: another one may lead past it. */
static int request_all_names(struct tail_frames *frames)
{
	uint32_t modules[MODULES_MOST];
	size_t module_count = calling_modules(frames, modules);
	int status = 0;
	for (int round = 0; round < ROUNDS_MOST && status == 0; round++) {
		for (size_t i = 0; i < frames->pair_count && status == 0; i++) {
			const struct pair *pair = &frames->pairs[i];
			if (is_open(pair) && !is_by_name(frames, pair))
				status = request_names(frames, pair, modules, round == 0 ? 0 : module_count);
		}
		if (frames->question_count == 0)
			break;
		if (status == 0)
			status = send_questions(frames);
	}
	return status;
}

/* --- chains --- */

/* Adds a location in a function of the graph. Naming gives it frames. */
static int step_add_location(struct tail_frames *frames, struct step *step, uint32_t node, uint64_t address)
{
	int64_t id = profile_add_location(frames->profile, frames->places[node].module, address);
	if (id >= 0)
		step->locations[step->count++] = (uint32_t)id;
	return id < 0 ? (int)id : 0;
}

static int set_step(struct tail_frames *frames, const struct tail_chain *found, const struct tail_step *from,
		    struct step *step)
{
	size_t count = from->node == TAIL_NONE ? from->alternatives : 1;
	step->several = from->several;
	step->or_none = from->or_none;
	step->or_unknown = from->or_unknown;
	step->locations = calloc(count, sizeof(*step->locations));
	if (!step->locations)
		return ERROR_MEMORY;
	if (from->node != TAIL_NONE)
		return step_add_location(frames, step, from->node, from->address);
	int status = 0;
	for (uint32_t i = 0; i < count && status == 0; i++) {
		uint32_t node = found->alternatives[from->first + i];
		status = step_add_location(frames, step, node, frames->places[node].start);
	}
	return status;
}

/* Makes the steps between two nodes. Where only a jump to an unknown function can lead to the second one, they end with the function that
 * has it.
 * Returns the chain's number, TAIL_NONE if no way was found, or a negative error. */
static int64_t make_chain(struct tail_frames *frames, uint32_t from, uint32_t to)
{
	struct tail_chain found;
	uint32_t known = hash_map_get(&frames->by_ends, pair_key(from, to));
	if (known != HASH_MAP_NONE)
		return known;
	if (!tail_search(&frames->graph, from, to, &found) &&
	    !tail_search(&frames->graph, from, frames->anywhere, &found))
		return TAIL_NONE;
	struct chain chain = { .steps = calloc(found.count + 1, sizeof(*chain.steps)) };
	int status = chain.steps ? ARRAY_RESERVE(frames->chains, frames->chain_capacity, frames->chain_count + 1)
				 : ERROR_MEMORY;
	for (size_t i = 0; i < found.count && status == 0; i++)
		status = set_step(frames, &found, &found.steps[i], &chain.steps[chain.count++]);
	if (status == 0)
		status = hash_map_put(&frames->by_ends, pair_key(from, to), (uint32_t)frames->chain_count);
	if (status < 0) {
		chain_release(&chain);
		return status;
	}
	frames->chains[frames->chain_count] = chain;
	return (int64_t)frames->chain_count++;
}

/* Lets names that no file exports lead to unknown functions. */
static int resolve_names(struct tail_frames *frames)
{
	int status = 0;
	for (uint32_t i = 0; i < frames->graph.node_count && status == 0; i++)
		if (frames->graph.nodes[i].is_name && frames->graph.nodes[i].first_out == TAIL_NONE &&
		    i != frames->anywhere)
			status = tail_graph_add_jump(&frames->graph, i, frames->anywhere, 0);
	return status;
}

int tail_frames_find(struct tail_frames *frames)
{
	int64_t anywhere = name_node(frames, "");
	frames->anywhere = (uint32_t)anywhere;
	int status = anywhere < 0 ? (int)anywhere : find_pairs(frames);
	if (status == 0)
		status = request_pairs(frames);
	if (status == 0)
		status = request_all_names(frames);
	if (status == 0)
		status = resolve_names(frames);
	if (status == 0)
		status = tail_graph_open(&frames->graph, frames->anywhere);
	jail_release(&frames->jail);
	for (size_t i = 0; i < frames->pair_count && status == 0; i++) {
		struct pair *pair = &frames->pairs[i];
		int64_t chain = is_open(pair) ? make_chain(frames, pair->from, pair->to) : TAIL_NONE;
		pair->chain = (uint32_t)chain;
		status = chain < 0 ? (int)chain : 0;
	}
	return status;
}

void tail_frames_pass_limits(const struct tail_frames *frames, struct jail *next)
{
	next->budget_ns = frames->jail.budget_ns;
	next->is_interrupted = frames->jail.is_interrupted;
}

/* --- rows --- */

/* Returns the function that a location's code belongs to, not one that is inlined there; PROFILE_NONE: it has no name. */
static uint32_t function_at(const struct profile *profile, uint32_t location)
{
	const struct profile_location *row = &profile->locations[location];
	return row->first_frame == PROFILE_NONE ? PROFILE_NONE
						: profile->frames[row->first_frame + row->frame_count - 1].function;
}

/* Appends a location with one frame, and remembers it in `map`. */
static int64_t append_location(struct tail_frames *frames, struct hash_map *map, uint64_t key, uint32_t like,
			       const struct profile_frame *frame)
{
	struct profile *profile = frames->profile;
	const struct profile_location *row = &profile->locations[like];
	int64_t first = profile_add_frame(profile, frame);
	int64_t id = first < 0 ? first : profile_append_location(profile, row->module, row->address);
	if (id < 0)
		return id;
	profile->locations[id].first_frame = (uint32_t)first;
	profile->locations[id].frame_count = 1;
	profile->locations[id].is_tail = true;
	return hash_map_put(map, key, (uint32_t)id) < 0 ? ERROR_MEMORY : id;
}

/* Returns a location for one of several jumps out of a function: without a line, and without inlined functions. */
static int64_t location_of_several(struct tail_frames *frames, uint32_t location)
{
	const struct profile *profile = frames->profile;
	uint32_t known = hash_map_get(&frames->copies, location);
	if (known != HASH_MAP_NONE)
		return known;
	const struct profile_location *row = &profile->locations[location];
	struct profile_frame frame = profile->frames[row->first_frame + row->frame_count - 1];
	frame.line = 0;
	frame.discriminator = 0;
	return append_location(frames, &frames->copies, location, location, &frame);
}

/* Returns a location that stands for one of several functions, with these names. */
static int64_t location_of_marker(struct tail_frames *frames, uint32_t like, const char **names, size_t count,
				  const char *others)
{
	struct buffer text;
	buffer_init(&text);
	tail_choice_write(&text, names, count, 0, others);
	int64_t function = ERROR_MEMORY;
	if (buffer_error(&text) == 0) {
		int64_t name = profile_add_string(frames->profile, (const char *)text.bytes);
		const struct function_identity identity = { .name = (uint32_t)name };
		function =
			name < 0 ? name
				 : functions_add(frames->functions, frames->profile->locations[like].module, &identity);
	}
	buffer_release(&text);
	if (function < 0)
		return function;
	uint32_t known = hash_map_get(&frames->markers, (uint64_t)function);
	const struct profile_frame frame = { .function = (uint32_t)function };
	return known != HASH_MAP_NONE ? known
				      : append_location(frames, &frames->markers, (uint64_t)function, like, &frame);
}

/* Returns the location that stands for the alternatives of a step, PROFILE_NONE if they are no functions of their own, or a negative
 * error. Parts of a function, which have symbols of their own, are the function. */
static int64_t location_of_alternatives(struct tail_frames *frames, const struct step *step, uint32_t before,
					uint32_t callee)
{
	const struct profile *profile = frames->profile;
	const char *names[TAIL_NODES_MOST];
	uint32_t like = PROFILE_NONE;
	size_t count = 0;
	bool or_none = step->or_none;
	for (size_t i = 0; i < step->count; i++) {
		uint32_t function = function_at(profile, step->locations[i]);
		if (function == PROFILE_NONE || function == before || function == callee) {
			or_none = true;
			continue;
		}
		like = like == PROFILE_NONE ? step->locations[i] : like;
		names[count++] = profile_string(profile, profile->functions[function].name);
	}
	if (count == 0)
		return PROFILE_NONE;
	size_t distinct = tail_choice_unify(names, count);
	if (distinct == 1 && !or_none)
		return location_of_several(frames, like);
	return location_of_marker(frames, like, names, distinct,
				  step->or_unknown ? "unknown"
				  : or_none        ? "none"
						   : NULL);
}

/* Returns the location of a step, PROFILE_NONE if it is left out, or a negative error. */
static int64_t location_of_step(struct tail_frames *frames, const struct step *step, uint32_t before, uint32_t callee)
{
	struct profile *profile = frames->profile;
	uint32_t location = step->locations[0], function = function_at(profile, location);
	if (step->count > 1 || step->or_none)
		return location_of_alternatives(frames, step, before, callee);
	if (function == PROFILE_NONE || function == before || function == callee)
		return PROFILE_NONE;
	if (step->several)
		return location_of_several(frames, location);
	profile->locations[location].is_tail = true;
	return location;
}

/* Adds a row, unless there is one for these ends. */
static int add_row(struct tail_frames *frames, uint32_t caller, uint32_t callee, uint32_t location)
{
	const struct profile_tail_call row = { .caller = caller, .callee = callee, .location = location };
	if (hash_map_get(&frames->rows, pair_key(caller, callee)) != HASH_MAP_NONE)
		return 0;
	if (hash_map_put(&frames->rows, pair_key(caller, callee), 0) < 0)
		return ERROR_MEMORY;
	int64_t id = profile_add_tail_call(frames->profile, &row);
	return id < 0 ? (int)id : 0;
}

static int add_rows(struct tail_frames *frames, const struct pair *pair, uint32_t callee)
{
	const struct chain *chain = &frames->chains[pair->chain];
	uint32_t caller = pair->caller, before = PROFILE_NONE;
	for (size_t i = 0; i < chain->count; i++) {
		int64_t location = location_of_step(frames, &chain->steps[i], before, callee);
		int status = location < 0               ? (int)location
			     : location == PROFILE_NONE ? 0
							: add_row(frames, caller, callee, (uint32_t)location);
		if (status < 0)
			return status;
		if (location == PROFILE_NONE)
			continue;
		caller = (uint32_t)location;
		before = function_at(frames->profile, caller);
	}
	return 0;
}

/* Returns whether a call leads to another function than the one that is called, as far as the code shows. */
static bool is_unknown(const struct tail_frames *frames, const struct pair *pair)
{
	return is_open(pair) && pair->chain == TAIL_NONE && !frames->graph.nodes[pair->from].is_name;
}

int tail_frames_add(struct tail_frames *frames, struct functions *functions)
{
	int status = 0;
	frames->functions = functions;
	for (size_t i = 0; i < frames->pair_count && status == 0; i++) {
		const struct pair *pair = &frames->pairs[i];
		uint32_t callee = function_at(frames->profile, pair->callee);
		if (callee == PROFILE_NONE)
			continue;
		if (pair->chain != TAIL_NONE)
			status = add_rows(frames, pair, callee);
		else if (is_unknown(frames, pair))
			status = add_row(frames, pair->caller, callee, PROFILE_NONE);
	}
	return status;
}
