/*
 * The second half of a profile: nodes and hits.
 *
 * A path of the tally is a list of functions; a node of a profile is a list of locations. The location of a path's
 * own frame depends on what happened there: for a call from the path it is the call, for a sample the sampled
 * address, and for the path itself its entry. So each path has an `outer` node, that of its caller, and its own
 * frames are children of that node:
 *
 *     outer                 own frame
 *     main@site sort@site   compare@entry    calls and times of compare
 *     main@site sort@site   compare@pc       a sample in it
 *     main@site             sort@site        the outer node of compare
 *
 * If a path was called from two call sites, each call is counted below its own call site, but times and samples of
 * the path are known only for both together. The caller's frame above these is then the caller's entry, unless the
 * call sites are on one line.
 */
#include <stdlib.h>

#include "collect/count/placing.h"
#include "collect/sample/state/starts.h"

/* --- paths --- */

/* Returns a node for two nodes whose locations, from the one of the path's caller on, have the
 * same functions; it has no line where they have different ones. `caller`: the path; `levels`:
 * how far above the nodes to compare. Returns PROFILE_NONE if there is no such node, or a
 * negative error. */
static int64_t merged(struct placing *placing, uint32_t thread, uint32_t caller, int64_t a, int64_t b, uint32_t levels)
{
	const struct profile *profile = placing->profile;
	bool have_same_lines = true;
	if (a == b)
		return a;
	if (a == PROFILE_ROOT || b == PROFILE_ROOT || levels == 0)
		return PROFILE_NONE;
	const struct profile_node first = profile->nodes[a], second = profile->nodes[b];
	if (!placing_have_same_functions(profile, first.location, second.location, &have_same_lines))
		return PROFILE_NONE;
	bool is_caller = first.parent == placing->threads[thread].outer[caller] && first.parent == second.parent;
	if (!have_same_lines && is_caller && caller != COUNT_ROOT)
		return placing_self(placing, thread, caller);
	int64_t parent = merged(placing, thread, caller, first.parent, second.parent, levels - 1);
	if (parent < 0 || parent == PROFILE_NONE)
		return parent;
	return placing_below(placing, parent,
			     have_same_lines ? first.location : placing_without_lines(placing, first.location));
}

enum { MERGED_LEVELS = 64 };

/* Returns the node of a path's caller: at the call, if all calls of the path agree about it, otherwise at the
 * caller's entry. Sets *has_agreed to whether they agree about the functions between the caller and the path. */
static int64_t outer_node(struct placing *placing, uint32_t thread, uint32_t path, bool *has_agreed)
{
	const struct count_tree *tree = placing_tree(placing, thread);
	uint32_t caller = tree->paths[path].parent;
	int64_t agreed = PROFILE_NONE;
	*has_agreed = false;
	for (uint32_t i = tree->paths[path].call; i != TALLY_NONE; i = tree->calls[i].next) {
		int64_t node = placing_caller(placing, thread, &tree->calls[i]);
		if (node >= 0 && agreed != PROFILE_NONE)
			node = merged(placing, thread, caller, agreed, node, MERGED_LEVELS);
		if (node < 0)
			return node;
		agreed = node;
		if (agreed == PROFILE_NONE)
			return placing_self(placing, thread, caller);
	}
	*has_agreed = agreed != PROFILE_NONE;
	return *has_agreed ? agreed : placing_self(placing, thread, caller);
}

/* Sets which path's machine code a path is in. */
static void set_body(struct placed *placed, const struct count_tree *tree, uint32_t path)
{
	uint32_t parent = tree->paths[path].parent;
	bool is_inlined = false, is_called = false;
	for (uint32_t i = tree->paths[path].call; i != TALLY_NONE; i = tree->calls[i].next) {
		bool is_within = tree->calls[i].flags & TALLY_EDGE_INLINED && parent != COUNT_ROOT;
		is_inlined = is_inlined || is_within;
		is_called = is_called || !is_within;
	}
	placed->body[path] = is_inlined ? placed->body[parent] : path;
	placed->is_mixed[path] = is_inlined && (is_called || placed->is_mixed[parent]);
}

/* --- where threads begin --- */

static int64_t mark_below(struct placing *placing, int64_t node)
{
	if (node < 0)
		return node;
	if (placing->mark == PROFILE_NONE) {
		int64_t module = tally_add_name(placing->profile, "[thread]", MODULE_THREAD);
		int64_t location = module < 0 ? module : profile_add_location(placing->profile, (uint32_t)module, 0);
		if (location < 0)
			return location;
		placing->mark = (uint32_t)location;
	}
	return placing_below(placing, node, placing->mark);
}

/* Returns the node below which a thread's paths are placed. Its creator has been placed before. */
static int64_t base_node(struct placing *placing, uint32_t thread)
{
	struct count_thread *at = &placing->tally->threads[thread];
	at->markers = 0;
	if (at->creator == TALLY_NONE || !placing->threads[at->creator].is_placed)
		return PROFILE_ROOT;
	const struct count_thread *creator = &placing->tally->threads[at->creator];
	if (at->creator_path == COUNT_ROOT) /* the creating path is not known */
		return PROFILE_ROOT;
	int64_t node = placing_self(placing, at->creator, at->creator_path);
	at->markers = creator->markers;
	if (node == PROFILE_ROOT)
		return node;
	if (creator->markers >= THREAD_MARKERS_MAX)
		return creator->base;
	at->markers++;
	return mark_below(placing, node);
}

/* Places a path other than the root. Returns its outer node. */
static int64_t place_path(struct placing *placing, uint32_t thread, uint32_t path)
{
	struct placed *placed = &placing->threads[thread];
	bool has_agreed;
	int64_t node = outer_node(placing, thread, path, &has_agreed);
	if (node < 0)
		return node;
	placed->outer[path] = (uint32_t)node;
	set_body(placed, placing_tree(placing, thread), path);
	int64_t host = placed->body[path] == path ? placing_host(placing, thread, path) : PROFILE_NONE;
	placed->host[path] = host >= 0 && host != PROFILE_NONE && !has_agreed ? PLACING_HOSTS : (uint32_t)host;
	return host < 0 ? host : node;
}

static int place_thread(struct placing *placing, uint32_t thread)
{
	struct placed *placed = &placing->threads[thread];
	const struct count_tree *tree = placing_tree(placing, thread);
	int64_t node = base_node(placing, thread);
	placed->outer = calloc(tree->path_count, sizeof(*placed->outer));
	placed->body = calloc(tree->path_count, sizeof(*placed->body));
	placed->host = calloc(tree->path_count, sizeof(*placed->host));
	placed->is_mixed = calloc(tree->path_count, sizeof(*placed->is_mixed));
	if (!placed->outer || !placed->body || !placed->host || !placed->is_mixed)
		return ERROR_MEMORY;
	placed->outer[COUNT_ROOT] = (uint32_t)node;
	placed->host[COUNT_ROOT] = PROFILE_NONE;
	for (uint32_t path = COUNT_ROOT + 1; path < tree->path_count && node >= 0; path++)
		node = place_path(placing, thread, path);
	if (node < 0)
		return (int)node;
	placing->tally->threads[thread].base = placed->outer[COUNT_ROOT];
	placed->is_placed = true;
	return 0;
}

/* Places creators before the threads that they created. In a corrupt file, where creators may form a circle, one of
 * them counts as a thread without a creator. */
static int place_threads(struct placing *placing)
{
	size_t count = placing->tally->thread_count, depth = 0;
	uint32_t *stack = calloc(count + 1, sizeof(*stack));
	bool *is_begun = calloc(count + 1, sizeof(*is_begun));
	int result = stack && is_begun ? 0 : ERROR_MEMORY;
	for (uint32_t i = 0; i < count && result == 0; i++) {
		for (uint32_t at = i; at != TALLY_NONE && !is_begun[at]; at = placing->tally->threads[at].creator) {
			is_begun[at] = true;
			stack[depth++] = at;
		}
		while (depth > 0 && result == 0)
			result = place_thread(placing, stack[--depth]);
	}
	free(stack);
	free(is_begun);
	return result;
}

/* --- hits --- */

static int add_hit(struct placing *placing, uint32_t thread, int64_t node, uint32_t resource, uint64_t count)
{
	if (node < 0 || count == 0 || resource == PROFILE_NONE)
		return node < 0 ? (int)node : 0;
	if (count > placing->count_left)
		return ERROR_CORRUPT;
	placing->count_left -= count;
	return profile_add_hit(placing->profile, 0, placing->tally->threads[thread].id, (uint32_t)node, resource,
			       count);
}

static int add_call(struct placing *placing, uint32_t thread, const struct count_call *call)
{
	const struct tally *tally = placing->tally;
	int64_t node = placing_caller(placing, thread, call);
	if (node >= 0)
		node = placing_below(
			placing, node,
			tally_entry_location(tally, placing->profile, tally->threads[thread].process, call->function));
	return add_hit(placing, thread, node, tally->calls, call->count);
}

static int add_calls(struct placing *placing, uint32_t thread)
{
	const struct count_tree *tree = placing_tree(placing, thread);
	uint32_t resource = placing->tally->calls;
	for (size_t i = 0; i < tree->call_count && resource != PROFILE_NONE; i++) {
		int result = tree->calls[i].count ? add_call(placing, thread, &tree->calls[i]) : 0;
		if (result < 0)
			return result;
		placing->profile->resources[resource].total += tree->calls[i].count;
	}
	return 0;
}

static bool is_wait(const struct placing *placing, uint32_t thread, uint32_t path)
{
	const struct count_probe *probe = placing_probe(placing, thread, path);
	return probe && probe->flags & TALLY_PROBE_WAITS;
}

static int add_time(struct placing *placing, uint32_t thread, uint32_t path, uint32_t resource, uint64_t ns)
{
	if (ns == 0 || resource == PROFILE_NONE)
		return 0;
	placing->profile->resources[resource].total += ns;
	return add_hit(placing, thread, placing_self(placing, thread, path), resource, ns);
}

static int add_times_of(struct placing *placing, uint32_t thread, uint32_t path, const struct tally_times *times)
{
	const struct count_path *of = &placing_tree(placing, thread)->paths[path];
	int result = add_time(placing, thread, path, times->times, of->exclusive_ns);
	if (result == 0)
		result = add_time(placing, thread, path, times->raw, of->measured_ns);
	if (result == 0)
		result = add_time(placing, thread, path, times->error, of->error_ns);
	return result;
}

static int add_times(struct placing *placing, uint32_t thread)
{
	const struct count_tree *tree = placing_tree(placing, thread);
	const struct tally *tally = placing->tally;
	for (uint32_t path = 0; path < tree->path_count; path++) {
		int result = add_times_of(placing, thread, path, &tally->real);
		if (result == 0 && is_wait(placing, thread, path))
			result = add_times_of(placing, thread, path, &tally->wait);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Adds one row per sample, because the estimates of errors count rows. */
static int add_samples(struct placing *placing, uint32_t thread, int64_t node, const struct count_tick *tick)
{
	uint32_t resource = placing->tally->requests[tick->request];
	uint64_t rows = tick->samples < tick->hits ? tick->samples : tick->hits;
	if (rows > placing->rows_left)
		rows = placing->rows_left;
	placing->rows_left -= rows;
	rows = rows > 0 ? rows : 1;
	for (uint64_t left = tick->hits; rows > 0; rows--) {
		uint64_t hits = left / rows;
		int result = add_hit(placing, thread, node, resource, hits);
		if (result < 0)
			return result;
		left -= hits;
	}
	return 0;
}

/* All code of the hooks is one function: it shows the cost of counting. */
static int64_t hooks_location(struct placing *placing)
{
	struct profile *profile = placing->profile;
	if (placing->hooks != PROFILE_NONE)
		return placing->hooks;
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
	placing->hooks = (uint32_t)location;
	return location;
}

static bool is_probe(const struct profile *profile, uint32_t id)
{
	const struct profile_location *location = &profile->locations[id];
	return location->first_frame != PROFILE_NONE && location->frame_count > 0 &&
	       tally_is_probe(profile, profile->frames[location->first_frame].function);
}

static int64_t tick_node(struct placing *placing, uint32_t thread, const struct count_tick *tick)
{
	uint32_t process = placing->tally->threads[thread].process;
	bool is_hook = tally_is_runtime(placing->tally, process, tick->pc);
	int64_t location = is_hook ? 0 : tally_location(placing->tally, placing->profile, process, tick->pc);
	if (location < 0)
		return location;
	if (is_hook || is_probe(placing->profile, (uint32_t)location))
		return placing_below(placing, placing_self(placing, thread, tick->path), hooks_location(placing));
	return placing_put(placing, thread, tick->path, location, false);
}

/* Gives the hits from number `first` on a label set of the thread's process. */
static int label_hits(struct placing *placing, uint32_t thread, size_t first, uint32_t number)
{
	struct count_process *process = &placing->tally->processes[placing->tally->threads[thread].process];
	return profile_label_hits(placing->profile, first, label_numbers_get(&process->labels, number));
}

static int add_ticks(struct placing *placing, uint32_t thread)
{
	const struct count_tree *tree = placing_tree(placing, thread);
	for (size_t i = 0; i < tree->tick_count; i++) {
		const struct count_tick *tick = &tree->ticks[i];
		int64_t node = tick_node(placing, thread, tick);
		size_t first = placing->profile->hit_count;
		int result = node < 0 ? (int)node : add_samples(placing, thread, node, tick);
		if (result == 0)
			result = label_hits(placing, thread, first, tick->labels);
		if (result < 0)
			return result;
	}
	return 0;
}

static int add_all(struct placing *placing)
{
	int result = tally_name_probes(placing->tally, placing->profile);
	if (result == 0)
		result = tally_read_labels(placing->tally, placing->profile);
	if (result == 0)
		result = place_threads(placing);
	for (uint32_t i = 0; i < placing->tally->thread_count && result == 0; i++) {
		result = add_calls(placing, i);
		if (result == 0)
			result = add_times(placing, i);
		if (result == 0)
			result = add_ticks(placing, i);
	}
	return result == 0 ? tally_add_findings(placing->tally, placing->profile) : result;
}

int tally_hits(struct tally *tally, struct profile *profile, struct error *error)
{
	struct placing placing = { .tally = tally,
				   .profile = profile,
				   .threads = calloc(tally->thread_count + 1, sizeof(*placing.threads)),
				   .mark = PROFILE_NONE,
				   .hooks = PROFILE_NONE,
				   .count_left = UINT64_C(1) << 54,
				   .rows_left = UINT64_C(1) << 24 };
	hash_map_init(&placing.within);
	hash_map_init(&placing.around);
	int result = placing.threads ? add_all(&placing) : ERROR_MEMORY;
	for (size_t i = 0; i < tally->thread_count && placing.threads; i++) {
		free(placing.threads[i].outer);
		free(placing.threads[i].body);
		free(placing.threads[i].host);
		free(placing.threads[i].is_mixed);
	}
	free(placing.threads);
	hash_map_release(&placing.within);
	hash_map_release(&placing.around);
	if (result == 0 && tally->header.measurement == TALLY_BLOCKS)
		return tally_block_hits(tally, profile, error);
	if (result == ERROR_CORRUPT)
		return error_set(error, result, "the tally is damaged: its counts are impossibly high");
	return result < 0 ? error_set(error, result, "%s", error_text(result)) : 0;
}
