/*
 * The second half of a profile: nodes and hits.
 *
 * A path of the tally is a list of functions; a node of a profile is a list of locations. The location of a path's
 * own frame depends on what happened there: for a call from the path it is the call, for a sample the sampled
 * address, and for the path itself its entry. So each path has a caller's node, and its own frames are children of
 * that node:
 *
 *     caller_node           own frame
 *     main@site sort@site   compare@entry    calls and times of compare
 *     main@site sort@site   compare@pc       a sample in it
 *     main@site             sort@site        compare's caller_node
 *
 * If a path was called from two call sites, each call is counted below its own call site, but times and samples of
 * the path are known only for both together. The caller's frame above these is then the caller's entry, unless the
 * call sites are on one line.
 */
#include <stdlib.h>

#include "collect/count/path_nodes.h"
#include "collect/sample/state/starts.h"

/* --- paths --- */

/* Merges two nodes whose frames name the same functions below the path's caller: returns one node, which has no line where the
 * lines of the two differ. `caller`: the path; `levels`: how many levels above the nodes to compare. Returns PROFILE_NONE if the
 * functions differ, or a negative error. */
static int64_t merged(struct path_nodes *nodes, uint32_t thread, uint32_t caller, int64_t a, int64_t b, uint32_t levels)
{
	const struct profile *profile = nodes->profile;
	bool have_same_lines = true;
	if (a == b)
		return a;
	if (a == PROFILE_ROOT || b == PROFILE_ROOT || levels == 0)
		return PROFILE_NONE;
	const struct profile_node first = profile->nodes[a], second = profile->nodes[b];
	if (!path_nodes_have_same_functions(profile, first.location, second.location, &have_same_lines))
		return PROFILE_NONE;
	bool is_caller = first.parent == nodes->threads[thread].caller_node[caller] && first.parent == second.parent;
	if (!have_same_lines && is_caller && caller != COUNT_ROOT)
		return path_nodes_of_entry(nodes, thread, caller);
	int64_t parent = merged(nodes, thread, caller, first.parent, second.parent, levels - 1);
	if (parent < 0 || parent == PROFILE_NONE)
		return parent;
	return path_nodes_child(nodes, parent,
				have_same_lines ? first.location : path_nodes_without_lines(nodes, first.location));
}

enum { MERGED_LEVELS = 64 };

/* Returns the node of a path's caller: at the call, if all calls of the path agree about it, otherwise at the
 * caller's entry. Sets *has_agreed to whether they agree about the functions between the caller and the path. */
static int64_t caller_node(struct path_nodes *nodes, uint32_t thread, uint32_t path, bool *has_agreed)
{
	const struct count_tree *tree = path_nodes_tree(nodes, thread);
	uint32_t caller = tree->paths[path].parent;
	int64_t agreed = PROFILE_NONE;
	*has_agreed = false;
	for (uint32_t i = tree->paths[path].call; i != TALLY_NONE; i = tree->calls[i].next) {
		int64_t node = path_nodes_of_call(nodes, thread, &tree->calls[i]);
		if (node >= 0 && agreed != PROFILE_NONE)
			node = merged(nodes, thread, caller, agreed, node, MERGED_LEVELS);
		if (node < 0)
			return node;
		agreed = node;
		if (agreed == PROFILE_NONE)
			return path_nodes_of_entry(nodes, thread, caller);
	}
	*has_agreed = agreed != PROFILE_NONE;
	return *has_agreed ? agreed : path_nodes_of_entry(nodes, thread, caller);
}

/* Sets the path whose machine code contains a path's code. */
static void set_code_owner(struct thread_nodes *thread_nodes, const struct count_tree *tree, uint32_t path)
{
	uint32_t parent = tree->paths[path].parent;
	bool is_inlined = false, is_called = false;
	for (uint32_t i = tree->paths[path].call; i != TALLY_NONE; i = tree->calls[i].next) {
		bool is_within = tree->calls[i].flags & TALLY_EDGE_INLINED && parent != COUNT_ROOT;
		is_inlined = is_inlined || is_within;
		is_called = is_called || !is_within;
	}
	thread_nodes->code_owner[path] = is_inlined ? thread_nodes->code_owner[parent] : path;
	thread_nodes->is_inlined_and_called[path] =
		is_inlined && (is_called || thread_nodes->is_inlined_and_called[parent]);
}

/* --- where threads begin --- */

static int64_t mark_below(struct path_nodes *nodes, int64_t node)
{
	if (node < 0)
		return node;
	if (nodes->thread_mark == PROFILE_NONE) {
		int64_t module = tally_add_name(nodes->profile, "[thread]", MODULE_THREAD);
		int64_t location = module < 0 ? module : profile_add_location(nodes->profile, (uint32_t)module, 0);
		if (location < 0)
			return location;
		nodes->thread_mark = (uint32_t)location;
	}
	return path_nodes_child(nodes, node, nodes->thread_mark);
}

/* Returns the node below which a thread's paths begin. The nodes of its creator are complete. */
static int64_t base_node(struct path_nodes *nodes, uint32_t thread)
{
	struct count_thread *at = &nodes->tally->threads[thread];
	at->markers = 0;
	if (at->creator == TALLY_NONE || !nodes->threads[at->creator].is_complete)
		return PROFILE_ROOT;
	const struct count_thread *creator = &nodes->tally->threads[at->creator];
	if (at->creator_path == COUNT_ROOT) /* the creating path is not known */
		return PROFILE_ROOT;
	int64_t node = path_nodes_of_entry(nodes, at->creator, at->creator_path);
	at->markers = creator->markers;
	if (node == PROFILE_ROOT)
		return node;
	if (creator->markers >= THREAD_MARKERS_MAX)
		return creator->base;
	at->markers++;
	return mark_below(nodes, node);
}

/* Sets the nodes of a path other than the root. Returns the node of its caller. */
static int64_t set_path(struct path_nodes *nodes, uint32_t thread, uint32_t path)
{
	struct thread_nodes *thread_nodes = &nodes->threads[thread];
	bool has_agreed;
	int64_t node = caller_node(nodes, thread, path, &has_agreed);
	if (node < 0)
		return node;
	thread_nodes->caller_node[path] = (uint32_t)node;
	set_code_owner(thread_nodes, path_nodes_tree(nodes, thread), path);
	int64_t container =
		thread_nodes->code_owner[path] == path ? path_nodes_inlined_into(nodes, thread, path) : PROFILE_NONE;
	thread_nodes->inlined_into[path] =
		container >= 0 && container != PROFILE_NONE && !has_agreed ? INLINED_INTO_SEVERAL : (uint32_t)container;
	return container < 0 ? container : node;
}

static int set_thread(struct path_nodes *nodes, uint32_t thread)
{
	struct thread_nodes *thread_nodes = &nodes->threads[thread];
	const struct count_tree *tree = path_nodes_tree(nodes, thread);
	int64_t node = base_node(nodes, thread);
	thread_nodes->caller_node = calloc(tree->path_count, sizeof(*thread_nodes->caller_node));
	thread_nodes->code_owner = calloc(tree->path_count, sizeof(*thread_nodes->code_owner));
	thread_nodes->inlined_into = calloc(tree->path_count, sizeof(*thread_nodes->inlined_into));
	thread_nodes->is_inlined_and_called = calloc(tree->path_count, sizeof(*thread_nodes->is_inlined_and_called));
	if (!thread_nodes->caller_node || !thread_nodes->code_owner || !thread_nodes->inlined_into ||
	    !thread_nodes->is_inlined_and_called)
		return ERROR_MEMORY;
	thread_nodes->caller_node[COUNT_ROOT] = (uint32_t)node;
	thread_nodes->inlined_into[COUNT_ROOT] = PROFILE_NONE;
	for (uint32_t path = COUNT_ROOT + 1; path < tree->path_count && node >= 0; path++)
		node = set_path(nodes, thread, path);
	if (node < 0)
		return (int)node;
	nodes->tally->threads[thread].base = thread_nodes->caller_node[COUNT_ROOT];
	thread_nodes->is_complete = true;
	return 0;
}

/* Sets the nodes of creators before the nodes of the threads that they created. In a corrupt file, where creators may form a circle, one of
 * them counts as a thread without a creator. */
static int set_threads(struct path_nodes *nodes)
{
	size_t count = nodes->tally->thread_count, depth = 0;
	uint32_t *stack = calloc(count + 1, sizeof(*stack));
	bool *is_begun = calloc(count + 1, sizeof(*is_begun));
	int result = stack && is_begun ? 0 : ERROR_MEMORY;
	for (uint32_t i = 0; i < count && result == 0; i++) {
		for (uint32_t at = i; at != TALLY_NONE && !is_begun[at]; at = nodes->tally->threads[at].creator) {
			is_begun[at] = true;
			stack[depth++] = at;
		}
		while (depth > 0 && result == 0)
			result = set_thread(nodes, stack[--depth]);
	}
	free(stack);
	free(is_begun);
	return result;
}

/* --- hits --- */

static int add_hit(struct path_nodes *nodes, uint32_t thread, int64_t node, uint32_t resource, uint64_t count)
{
	if (node < 0 || count == 0 || resource == PROFILE_NONE)
		return node < 0 ? (int)node : 0;
	if (count > nodes->count_left)
		return ERROR_CORRUPT;
	nodes->count_left -= count;
	return profile_add_hit(nodes->profile, 0, nodes->tally->threads[thread].id, (uint32_t)node, resource, count);
}

static int add_call(struct path_nodes *nodes, uint32_t thread, const struct count_call *call)
{
	const struct tally *tally = nodes->tally;
	int64_t node = path_nodes_of_call(nodes, thread, call);
	if (node >= 0)
		node = path_nodes_child(
			nodes, node,
			tally_entry_location(tally, nodes->profile, tally->threads[thread].process, call->function));
	return add_hit(nodes, thread, node, tally->calls, call->count);
}

static int add_calls(struct path_nodes *nodes, uint32_t thread)
{
	const struct count_tree *tree = path_nodes_tree(nodes, thread);
	uint32_t resource = nodes->tally->calls;
	for (size_t i = 0; i < tree->call_count && resource != PROFILE_NONE; i++) {
		int result = tree->calls[i].count ? add_call(nodes, thread, &tree->calls[i]) : 0;
		if (result < 0)
			return result;
		nodes->profile->resources[resource].total += tree->calls[i].count;
	}
	return 0;
}

static bool is_wait(const struct path_nodes *nodes, uint32_t thread, uint32_t path)
{
	const struct count_probe *probe = path_nodes_probe(nodes, thread, path);
	return probe && probe->flags & TALLY_PROBE_WAITS;
}

static int add_time(struct path_nodes *nodes, uint32_t thread, uint32_t path, uint32_t resource, uint64_t ns)
{
	if (ns == 0 || resource == PROFILE_NONE)
		return 0;
	nodes->profile->resources[resource].total += ns;
	return add_hit(nodes, thread, path_nodes_of_entry(nodes, thread, path), resource, ns);
}

static int add_times_of(struct path_nodes *nodes, uint32_t thread, uint32_t path, const struct tally_times *times)
{
	const struct count_path *of = &path_nodes_tree(nodes, thread)->paths[path];
	int result = add_time(nodes, thread, path, times->times, of->exclusive_ns);
	if (result == 0)
		result = add_time(nodes, thread, path, times->raw, of->measured_ns);
	if (result == 0)
		result = add_time(nodes, thread, path, times->error, of->error_ns);
	return result;
}

static int add_times(struct path_nodes *nodes, uint32_t thread)
{
	const struct count_tree *tree = path_nodes_tree(nodes, thread);
	const struct tally *tally = nodes->tally;
	for (uint32_t path = 0; path < tree->path_count; path++) {
		int result = add_times_of(nodes, thread, path, &tally->real);
		if (result == 0 && is_wait(nodes, thread, path))
			result = add_times_of(nodes, thread, path, &tally->wait);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Adds one row per sample, because the estimates of errors count rows. */
static int add_samples(struct path_nodes *nodes, uint32_t thread, int64_t node, const struct count_tick *tick)
{
	uint32_t resource = nodes->tally->requests[tick->request];
	uint64_t rows = tick->samples < tick->hits ? tick->samples : tick->hits;
	if (rows > nodes->rows_left)
		rows = nodes->rows_left;
	nodes->rows_left -= rows;
	rows = rows > 0 ? rows : 1;
	for (uint64_t left = tick->hits; rows > 0; rows--) {
		uint64_t hits = left / rows;
		int result = add_hit(nodes, thread, node, resource, hits);
		if (result < 0)
			return result;
		left -= hits;
	}
	return 0;
}

/* All code of the hooks is one function: it shows the cost of counting. */
static int64_t hooks_location(struct path_nodes *nodes)
{
	struct profile *profile = nodes->profile;
	if (nodes->hooks_location != PROFILE_NONE)
		return nodes->hooks_location;
	int64_t in = tally_add_name(profile, "[hooks]", MODULE_NAMES);
	if (in < 0)
		return in;
	const struct profile_function function = { .name = profile->modules[in].path, .module = (uint32_t)in };
	int64_t called = profile_add_function(profile, &function);
	const struct profile_frame frame = { .function = (uint32_t)called };
	int64_t first = called < 0 ? called : profile_add_frame(profile, &frame);
	int64_t location = first < 0 ? first : profile_add_location(profile, (uint32_t)in, 0);
	if (location < 0)
		return location;
	profile->locations[location].first_frame = (uint32_t)first;
	profile->locations[location].frame_count = 1;
	nodes->hooks_location = (uint32_t)location;
	return location;
}

static bool is_probe(const struct profile *profile, uint32_t id)
{
	const struct profile_location *location = &profile->locations[id];
	return location->first_frame != PROFILE_NONE && location->frame_count > 0 &&
	       tally_is_probe(profile, profile->frames[location->first_frame].function);
}

static int64_t tick_node(struct path_nodes *nodes, uint32_t thread, const struct count_tick *tick)
{
	uint32_t process = nodes->tally->threads[thread].process;
	bool is_hook = tally_is_runtime(nodes->tally, process, tick->pc);
	int64_t location = is_hook ? 0 : tally_location(nodes->tally, nodes->profile, process, tick->pc);
	if (location < 0)
		return location;
	if (is_hook || is_probe(nodes->profile, (uint32_t)location))
		return path_nodes_child(nodes, path_nodes_of_entry(nodes, thread, tick->path), hooks_location(nodes));
	return path_nodes_of_code(nodes, thread, tick->path, location, false);
}

/* Gives the hits from number `first` on a label set of the thread's process. */
static int label_hits(struct path_nodes *nodes, uint32_t thread, size_t first, uint32_t number)
{
	struct count_process *process = &nodes->tally->processes[nodes->tally->threads[thread].process];
	return profile_label_hits(nodes->profile, first, label_numbers_get(&process->labels, number));
}

static int add_ticks(struct path_nodes *nodes, uint32_t thread)
{
	const struct count_tree *tree = path_nodes_tree(nodes, thread);
	for (size_t i = 0; i < tree->tick_count; i++) {
		const struct count_tick *tick = &tree->ticks[i];
		int64_t node = tick_node(nodes, thread, tick);
		size_t first = nodes->profile->hit_count;
		int result = node < 0 ? (int)node : add_samples(nodes, thread, node, tick);
		if (result == 0)
			result = label_hits(nodes, thread, first, tick->labels);
		if (result < 0)
			return result;
	}
	return 0;
}

static int add_all(struct path_nodes *nodes)
{
	int result = tally_name_probes(nodes->tally, nodes->profile);
	if (result == 0)
		result = tally_read_labels(nodes->tally, nodes->profile);
	if (result == 0)
		result = set_threads(nodes);
	for (uint32_t i = 0; i < nodes->tally->thread_count && result == 0; i++) {
		result = add_calls(nodes, i);
		if (result == 0)
			result = add_times(nodes, i);
		if (result == 0)
			result = add_ticks(nodes, i);
	}
	return result == 0 ? tally_add_findings(nodes->tally, nodes->profile) : result;
}

int tally_hits(struct tally *tally, struct profile *profile, struct error *error)
{
	struct path_nodes nodes = { .tally = tally,
				    .profile = profile,
				    .threads = calloc(tally->thread_count + 1, sizeof(*nodes.threads)),
				    .thread_mark = PROFILE_NONE,
				    .hooks_location = PROFILE_NONE,
				    .count_left = UINT64_C(1) << 54,
				    .rows_left = UINT64_C(1) << 24 };
	hash_map_init(&nodes.part_locations);
	hash_map_init(&nodes.outer_locations);
	int result = nodes.threads ? add_all(&nodes) : ERROR_MEMORY;
	for (size_t i = 0; i < tally->thread_count && nodes.threads; i++) {
		free(nodes.threads[i].caller_node);
		free(nodes.threads[i].code_owner);
		free(nodes.threads[i].inlined_into);
		free(nodes.threads[i].is_inlined_and_called);
	}
	free(nodes.threads);
	hash_map_release(&nodes.part_locations);
	hash_map_release(&nodes.outer_locations);
	if (result == 0 && tally->header.measurement == TALLY_BLOCKS)
		return tally_block_hits(tally, profile, error);
	if (result == ERROR_CORRUPT)
		return error_set(error, result, "the tally is damaged: its counts are impossibly high");
	return result < 0 ? error_set(error, result, "%s", error_text(result)) : 0;
}
