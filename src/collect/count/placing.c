/*
 * Decides where code belongs that executed while a path was current: to the path itself, to a function that was
 * inlined into it, or to code below it that no hook reports.
 *
 * Several paths may share one piece of machine code: inlined functions with Profiler objects or hooks of their own,
 * and regions. An address in it is symbolized to several frames, innermost first, which assign the code to the
 * paths:
 *
 *     path     sort > sort: row > swap        `swap` is inlined, "row" a region
 *     frames   swap:7  sort:31
 *     nodes    sort:30  "sort: row":31  swap:7
 */
#include "collect/count/placing.h"

/* Whether a function has a linkage name. Two functions with different ones are certainly two functions. */
static bool is_named(const struct profile *profile, uint32_t function)
{
	return function != PROFILE_NONE && profile->functions[function].linkage != 0;
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
	return path == COUNT_ROOT ? outer : placing_below(placing, outer, placing_entry(placing, thread, path));
}

/* --- code that several paths share --- */

enum { WITHIN_MAX = 64 };

/* Lists the paths from this one up to the body, without the body. Returns how many there are, or 0 if there are too
 * many. */
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

/* Returns which of a location's frames, innermost first, belongs to a path: that of its function or, for a region,
 * that of the function around it. Returns PROFILE_NONE if the location does not have the frames of the paths. Sets
 * *has_own_frames to whether each path has a frame of its own. */
static uint32_t frame_of(const struct placing *placing, uint32_t thread, uint32_t path, int64_t location,
			 bool *has_own_frames)
{
	const struct profile *profile = placing->profile;
	const struct profile_location *at = &profile->locations[location];
	uint32_t paths[WITHIN_MAX];
	size_t count = paths_within(placing, thread, path, paths);
	uint32_t frame = count > 0 && at->frame_count > 0 ? at->frame_count - 1 : PROFILE_NONE;
	*has_own_frames = true;
	while (count > 0 && frame != PROFILE_NONE) {
		const struct count_probe *probe = placing_probe(placing, thread, paths[--count]);
		if (probe && !count_is_function(probe)) {
			*has_own_frames = false;
			continue;
		}
		uint32_t function = placing_function(placing, thread, paths[count]);
		do
			frame = frame > 0 ? frame - 1 : PROFILE_NONE;
		while (frame != PROFILE_NONE && profile->frames[at->first_frame + frame].function != function);
	}
	return frame;
}

/* Adds a location with the same address; the caller adds its frames. */
static int64_t add_within(struct placing *placing, uint64_t key, uint32_t location)
{
	const struct profile_location old = placing->profile->locations[location];
	int64_t id = profile_append_location(placing->profile, old.module, old.address);
	return id < 0 || hash_map_put(&placing->within, key, (uint32_t)id) == 0 ? id : ERROR_MEMORY;
}

/* Returns a location for the same code as a part of one path only: its frames end with `frame`, which gets the
 * path's function. */
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

/* Returns the node of the body's code while a path within the body was current. */
static int64_t place_within(struct placing *placing, uint32_t thread, uint32_t path, int64_t location)
{
	const struct placed *placed = &placing->threads[thread];
	bool has_own_frames;
	uint32_t frame = frame_of(placing, thread, path, location, &has_own_frames);
	if (frame == PROFILE_NONE)
		return placing_self(placing, thread, path);
	if (has_own_frames)
		return placing_below(placing, placed->outer[placed->body[path]], location);
	return placing_below(placing, placed->outer[path],
			     location_within(placing, location, frame, placing_function(placing, thread, path)));
}

/* Whether a location without a name is in another module than the path's function, and therefore not that function. */
static bool is_unnamed_elsewhere(const struct placing *placing, uint32_t thread, uint32_t path, int64_t location)
{
	const struct profile *profile = placing->profile;
	int64_t entry = placing_entry(placing, thread, path);
	return entry >= 0 && !is_named(profile, placing_outermost(profile, location)) &&
	       profile->locations[entry].module != profile->locations[location].module;
}

/* As placing_put, for a path that is not the root and a location without the frames of a host. */
static int64_t put_own(struct placing *placing, uint32_t thread, uint32_t path, int64_t location, bool is_foreign)
{
	const struct profile *profile = placing->profile;
	const struct placed *placed = &placing->threads[thread];
	if (is_unnamed_elsewhere(placing, thread, path, location))
		return placing_below(placing, placing_self(placing, thread, path), location);
	uint32_t function = placing_function(placing, thread, path), there = placing_outermost(profile, location);
	uint32_t body = placed->body[path];
	if (body != path && there == placing_function(placing, thread, body))
		return there != PROFILE_NONE ? place_within(placing, thread, path, location)
					     : placing_self(placing, thread, path);
	if (there != PROFILE_NONE && there == function)
		return placing_below(placing, placed->outer[path], location);
	bool is_probe = placing_probe(placing, thread, path) != NULL;
	/* Code without symbols: only its Profiler objects identify it. */
	if (!is_foreign && is_probe && !is_named(profile, there))
		return placing_self(placing, thread, path);
	bool is_known = is_named(profile, function) || is_probe;
	if (!is_foreign && !(is_known && is_named(profile, there)))
		return placing_below(placing, placed->outer[path], location);
	return placing_below(placing, placing_self(placing, thread, path), location);
}

/* Returns the frame of a body's function at a location in its host, or PROFILE_NONE if the code is not the body's. */
static uint32_t frame_in_host(const struct placing *placing, uint32_t thread, uint32_t body, int64_t location)
{
	const struct profile *profile = placing->profile;
	const struct profile_location *at = &profile->locations[location];
	uint32_t function = placing_function(placing, thread, body);
	uint32_t frame = at->first_frame == PROFILE_NONE || at->frame_count == 0 ? 0 : at->frame_count - 1;
	while (frame-- > 0)
		if (profile->frames[at->first_frame + frame].function == function)
			return frame;
	return PROFILE_NONE;
}

/* Returns the path whose machine code a location is in, from `path` outward: the location's
 * frames, innermost first, are those of the paths, with functions without hooks between them.
 * Returns PROFILE_NONE if they do not fit. */
static uint32_t aligned_body(const struct placing *placing, uint32_t thread, uint32_t path, int64_t location)
{
	const struct profile *profile = placing->profile;
	const struct profile_location *at = &profile->locations[location];
	uint32_t body = PROFILE_NONE;
	for (uint32_t i = 0; i < at->frame_count && at->first_frame != PROFILE_NONE; i++) {
		const struct count_probe *probe = placing_probe(placing, thread, path);
		if (path == COUNT_ROOT || (probe && !count_is_function(probe)))
			return PROFILE_NONE;
		bool is_its = profile->frames[at->first_frame + i].function == placing_function(placing, thread, path);
		body = is_its ? path : PROFILE_NONE;
		path = is_its ? placing_tree(placing, thread)->paths[path].parent : path;
	}
	return body;
}

int64_t placing_put(struct placing *placing, uint32_t thread, uint32_t path, int64_t location, bool is_foreign)
{
	const struct profile *profile = placing->profile;
	const struct placed *placed = &placing->threads[thread];
	if (location < 0)
		return location;
	if (path == COUNT_ROOT)
		return placing_below(placing, placed->outer[path], location);
	uint32_t aligned = placed->is_mixed[path] ? aligned_body(placing, thread, path, location) : PROFILE_NONE;
	if (aligned != PROFILE_NONE)
		return placing_below(placing, placed->outer[aligned], location);
	uint32_t host = placed->host[placed->body[path]];
	uint32_t in_host = host == PROFILE_NONE ? host : frame_in_host(placing, thread, placed->body[path], location);
	if (host == PLACING_HOSTS && in_host != PROFILE_NONE)
		return placing_below(placing, placed->outer[placed->body[path]], location);
	if (host != PROFILE_NONE && placing_outermost(profile, location) == host) {
		if (in_host == PROFILE_NONE)
			return placing_self(placing, thread, path);
		location = location_within(placing, location, in_host,
					   placing_function(placing, thread, placed->body[path]));
		if (location < 0)
			return location;
	}
	return put_own(placing, thread, path, location, is_foreign);
}

/* Returns the node of the code around a probe point; for a region, the line in it is known. */
static int64_t around_node(struct placing *placing, uint32_t thread, const struct count_call *call)
{
	struct profile *profile = placing->profile;
	const struct count_probe *probe =
		tally_probe_at(placing->tally, placing->tally->threads[thread].process, call->function);
	int64_t entry = placing_entry(placing, thread, call->path);
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

static bool is_region(const struct placing *placing, uint32_t thread, uint32_t path)
{
	const struct count_probe *probe = placing_probe(placing, thread, path);
	return probe && !count_is_function(probe);
}

/* Returns the node of the code at a call site, or of the caller if that is not known. */
static int64_t calling_node(struct placing *placing, uint32_t thread, const struct count_call *call)
{
	if (call->call_site == 0 || call->flags & TALLY_EDGE_INLINED)
		return placing_self(placing, thread, call->path);
	int64_t call_site = tally_call_site_location(placing->tally, placing->profile,
						     placing->tally->threads[thread].process, call->call_site);
	return placing_put(placing, thread, call->path, call_site, call->flags & TALLY_EDGE_FOREIGN);
}

int64_t placing_caller(struct placing *placing, uint32_t thread, const struct count_call *call)
{
	int64_t around = placing_around(placing, thread, call);
	if (around < 0)
		return around;
	if (call->flags & TALLY_EDGE_INLINED && call->path != COUNT_ROOT)
		return around == PROFILE_NONE || is_region(placing, thread, call->path)
			       ? around_node(placing, thread, call)
			       : placing_put(placing, thread, call->path, around, false);
	int64_t node = calling_node(placing, thread, call);
	return around == PROFILE_NONE ? node : placing_below(placing, node, around);
}
