/*
 * What code belongs to while a path was current: the path's own, that of what was inlined into it, or other code below it
 * that nobody tells of.
 *
 * Several paths may share one piece of machine code: functions that were inlined, with Profiler objects or hooks of their
 * own, and regions. Its address is then symbolized to several frames, innermost first, and these say what of it is whose:
 *
 *     path     sort > sort: row > swap        `swap` is inlined, "row" a region
 *     frames   swap:7  sort:31
 *     nodes    sort:30  "sort: row":31  swap:7
 */
#include "collect/count/placing.h"

const struct count_tree *placing_tree(const struct placing *placing, uint32_t thread)
{
	return &placing->tally->threads[thread].tree;
}

/* --- what is where --- */

/* PROFILE_NONE: it has no names. */
static uint32_t outermost(const struct profile *profile, int64_t id)
{
	const struct profile_location *location = &profile->locations[id];
	return location->first_frame == PROFILE_NONE || location->frame_count == 0
		       ? PROFILE_NONE
		       : profile->frames[location->first_frame + location->frame_count - 1].function;
}

/* A name of its own, so that two of them are two functions. */
static bool is_named(const struct profile *profile, uint32_t function)
{
	return function != PROFILE_NONE && profile->functions[function].linkage != 0;
}

/* The probe point that a path is; NULL: it is a function that a compiler's hook tells of. */
const struct count_probe *placing_probe(const struct placing *placing, uint32_t thread, uint32_t path)
{
	return tally_probe_at(placing->tally, placing->tally->threads[thread].process,
			      placing_tree(placing, thread)->paths[path].function);
}

/* Of a path; not of the root. */
static int64_t entry_of(const struct placing *placing, uint32_t thread, uint32_t path)
{
	return tally_entry_location(placing->tally, placing->profile, placing->tally->threads[thread].process,
				    placing_tree(placing, thread)->paths[path].function);
}

static uint32_t function_of(const struct placing *placing, uint32_t thread, uint32_t path)
{
	int64_t entry = path == COUNT_ROOT ? -1 : entry_of(placing, thread, path);
	return entry < 0 ? PROFILE_NONE : outermost(placing->profile, entry);
}

int64_t placing_below(const struct placing *placing, int64_t node, int64_t location)
{
	if (node < 0 || location < 0)
		return node < 0 ? node : location;
	return profile_add_node(placing->profile, (uint32_t)node, (uint32_t)location);
}

/* --- one frame --- */

int64_t placing_self(const struct placing *placing, uint32_t thread, uint32_t path)
{
	uint32_t outer = placing->threads[thread].outer[path];
	return path == COUNT_ROOT ? outer : placing_below(placing, outer, entry_of(placing, thread, path));
}

/* --- code that several paths share --- */

enum { WITHIN_MAX = 64 };

/* The paths from the body to this one, that first, and the body not among them; how many they are, 0: too many. */
static size_t paths_within(const struct placing *placing, uint32_t thread, uint32_t path, uint32_t *paths)
{
	const struct placed *placed = &placing->threads[thread];
	size_t count = 0;
	for (uint32_t at = path; at != placed->body[path]; at = placing_tree(placing, thread)->paths[at].parent) {
		if (count == WITHIN_MAX)
			return 0;
		paths[count++] = at;
	}
	return count;
}

/* Which of a location's frames, innermost first, is that of the path: its own if it is a function, or of the function
 * around a region. PROFILE_NONE: the frames tell of other functions, or of nothing. *is_told: each path has its frame. */
static uint32_t frame_of(const struct placing *placing, uint32_t thread, uint32_t path, int64_t location, bool *is_told)
{
	const struct profile *profile = placing->profile;
	const struct profile_location *at = &profile->locations[location];
	uint32_t paths[WITHIN_MAX];
	size_t count = paths_within(placing, thread, path, paths);
	uint32_t frame = count > 0 && at->frame_count > 0 ? at->frame_count - 1 : PROFILE_NONE;
	*is_told = true;
	while (count > 0 && frame != PROFILE_NONE) {
		const struct count_probe *probe = placing_probe(placing, thread, paths[--count]);
		if (probe && !count_is_function(probe)) {
			*is_told = false;
			continue;
		}
		uint32_t function = function_of(placing, thread, paths[count]);
		do
			frame = frame > 0 ? frame - 1 : PROFILE_NONE;
		while (frame != PROFILE_NONE && profile->frames[at->first_frame + frame].function != function);
	}
	return frame;
}

/* A location with the address of that one, and frames of its own to come. */
static int64_t add_within(struct placing *placing, uint64_t key, uint32_t location)
{
	const struct profile_location old = placing->profile->locations[location];
	int64_t id = profile_append_location(placing->profile, old.module, old.address);
	return id < 0 || hash_map_put(&placing->within, key, (uint32_t)id) == 0 ? id : ERROR_MEMORY;
}

/* The same code as part of a path alone: its frames up to this one, which is the path's. */
static int64_t location_within(struct placing *placing, int64_t location, uint32_t frame, uint32_t function)
{
	struct profile *profile = placing->profile;
	uint64_t key = hash_u64((uint64_t)location << 32 | function) + frame;
	uint32_t known = hash_map_get(&placing->within, key), first = PROFILE_NONE;
	if (known != HASH_MAP_NONE)
		return known;
	for (uint32_t i = 0; i <= frame; i++) {
		struct profile_frame copy = profile->frames[profile->locations[location].first_frame + i];
		if (i == frame) {
			copy.function = function;
			copy.inlined = false;
		}
		int64_t added = profile_add_frame(profile, &copy);
		if (added < 0)
			return added;
		first = i == 0 ? (uint32_t)added : first;
	}
	int64_t id = add_within(placing, key, (uint32_t)location);
	if (id < 0)
		return id;
	profile->locations[id].first_frame = first;
	profile->locations[id].frame_count = frame + 1;
	return id;
}

/* The node of the body's code while a path within it was current. */
static int64_t place_within(struct placing *placing, uint32_t thread, uint32_t path, int64_t location)
{
	const struct placed *placed = &placing->threads[thread];
	bool is_told;
	uint32_t frame = frame_of(placing, thread, path, location, &is_told);
	if (frame == PROFILE_NONE)
		return placing_self(placing, thread, path);
	if (is_told)
		return placing_below(placing, placed->outer[placed->body[path]], location);
	return placing_below(placing, placed->outer[path],
			     location_within(placing, location, frame, function_of(placing, thread, path)));
}

/* The node of code at a location while a path was current. `is_foreign`: it is known, or may be, that it is not the
 * path's own code. */
int64_t placing_put(struct placing *placing, uint32_t thread, uint32_t path, int64_t location, bool is_foreign)
{
	const struct profile *profile = placing->profile;
	const struct placed *placed = &placing->threads[thread];
	if (location < 0)
		return location;
	if (path == COUNT_ROOT)
		return placing_below(placing, placed->outer[path], location);
	uint32_t function = function_of(placing, thread, path), there = outermost(profile, location);
	uint32_t body = placed->body[path];
	if (body != path && there == function_of(placing, thread, body))
		return there != PROFILE_NONE ? place_within(placing, thread, path, location)
					     : placing_self(placing, thread, path);
	if (there != PROFILE_NONE && there == function)
		return placing_below(placing, placed->outer[path], location);
	bool is_probe = placing_probe(placing, thread, path) != NULL;
	/* Code without symbols, of which its objects alone tell what it is. */
	if (!is_foreign && is_probe && !is_named(profile, there))
		return placing_self(placing, thread, path);
	bool is_known = is_named(profile, function) || is_probe;
	if (!is_foreign && !(is_known && is_named(profile, there)))
		return placing_below(placing, placed->outer[path], location);
	return placing_below(placing, placing_self(placing, thread, path), location);
}

/* The node of what a probe point is in: of regions the line is known. */
static int64_t around_node(struct placing *placing, uint32_t thread, const struct count_call *call)
{
	struct profile *profile = placing->profile;
	const struct count_probe *probe =
		tally_probe_at(placing->tally, placing->tally->threads[thread].process, call->function);
	int64_t entry = entry_of(placing, thread, call->path);
	if (entry < 0 || !probe || count_is_function(probe) || !placing_probe(placing, thread, call->path))
		return placing_self(placing, thread, call->path);
	uint64_t key = hash_u64((uint64_t)entry << 32 | probe->location);
	uint32_t known = hash_map_get(&placing->within, key);
	if (known != HASH_MAP_NONE)
		return placing_below(placing, placing->threads[thread].outer[call->path], known);
	struct profile_frame frame = profile->frames[profile->locations[entry].first_frame];
	frame.line = probe->line;
	int64_t id = add_within(placing, key, (uint32_t)entry);
	int64_t first = id < 0 ? id : profile_add_frame(profile, &frame);
	if (first < 0)
		return first;
	profile->locations[id].first_frame = (uint32_t)first;
	profile->locations[id].frame_count = 1;
	return placing_below(placing, placing->threads[thread].outer[call->path], id);
}

/* The node of the caller, at the call. */
int64_t placing_caller(struct placing *placing, uint32_t thread, const struct count_call *call)
{
	if (call->flags & TALLY_EDGE_INLINED && call->path != COUNT_ROOT)
		return around_node(placing, thread, call);
	if (call->call_site == 0 || call->flags & TALLY_EDGE_INLINED)
		return placing_self(placing, thread, call->path);
	int64_t call_site = tally_call_site_location(placing->tally, placing->profile,
						     placing->tally->threads[thread].process, call->call_site);
	return placing_put(placing, thread, call->path, call_site, call->flags & TALLY_EDGE_FOREIGN);
}
