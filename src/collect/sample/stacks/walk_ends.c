#include "collect/sample/stacks/walk_ends.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "profile/generated_code.h"

void generated_paths_init(struct generated_paths *paths)
{
	*paths = (struct generated_paths){ 0 };
	hash_map_init(&paths->by_key);
}

void generated_paths_release(struct generated_paths *paths)
{
	hash_map_release(&paths->by_key);
	free(paths->items);
	*paths = (struct generated_paths){ 0 };
}

int generated_paths_add(struct generated_paths *paths, uint32_t node, enum unwind_cause cause, uint64_t time_ns)
{
	bool is_new;
	uint64_t key = (uint64_t)node << 8 | (uint64_t)cause;
	int64_t id = HASH_MAP_ITEM(&paths->by_key, key, paths->items, paths->capacity, paths->count, &is_new);
	if (id < 0)
		return (int)id;
	struct generated_path *path = &paths->items[id];
	if (is_new)
		*path = (struct generated_path){
			.node = node, .cause = (uint8_t)cause, .first_ns = time_ns, .last_ns = time_ns
		};
	path->samples++;
	path->first_ns = time_ns < path->first_ns ? time_ns : path->first_ns;
	path->last_ns = time_ns > path->last_ns ? time_ns : path->last_ns;
	return 0;
}

/* The times of the samples of one location. */
struct span {
	uint64_t first_ns, last_ns;
};

uint64_t *generated_paths_times(const struct generated_paths *paths, const struct profile *profile)
{
	size_t count = profile->location_count;
	struct span *spans = calloc(count + 1, sizeof(*spans));
	uint64_t *times = malloc((count + 1) * sizeof(*times));
	for (size_t i = 0; i < paths->count && spans && times; i++) {
		const struct generated_path *path = &paths->items[i];
		for (uint32_t node = path->node; node != PROFILE_ROOT; node = profile->nodes[node].parent) {
			struct span *span = &spans[profile->nodes[node].location];
			if (span->last_ns == 0 || path->first_ns < span->first_ns)
				span->first_ns = path->first_ns;
			if (path->last_ns > span->last_ns)
				span->last_ns = path->last_ns;
		}
	}
	for (size_t i = 0; i < count && spans && times; i++)
		times[i] =
			spans[i].last_ns ? spans[i].first_ns + (spans[i].last_ns - spans[i].first_ns) / 2 : UINT64_MAX;
	bool is_made = spans && times;
	free(spans);
	if (!is_made)
		free(times);
	return is_made ? times : NULL;
}

/* The number of frames without a name on a path is remembered by no node: a path is as deep as
 * its stack, and each is visited once. */
static bool has_names(const struct profile *profile, uint32_t node)
{
	for (; node != PROFILE_ROOT; node = profile->nodes[node].parent)
		if (generated_code_is_nameless(profile, profile->nodes[node].location))
			return false;
	return true;
}

uint64_t generated_paths_resolve(struct generated_paths *paths, const struct profile *profile,
				 uint64_t causes[UNWIND_CAUSE_COUNT])
{
	uint64_t nameless = 0;
	for (size_t i = 0; i < paths->count; i++) {
		const struct generated_path *path = &paths->items[i];
		bool is_rooted = unwind_cause_whole(path->cause);
		causes[is_rooted && !has_names(profile, path->node) ? UNWIND_ROOT_NAMELESS : path->cause] +=
			path->samples;
		if (generated_code_is_nameless(profile, profile->nodes[path->node].location))
			nameless += path->samples;
	}
	generated_paths_release(paths);
	generated_paths_init(paths);
	return nameless;
}

void walk_ends_init(struct walk_ends *ends)
{
	*ends = (struct walk_ends){ 0 };
	generated_paths_init(&ends->generated);
}

void walk_ends_release(struct walk_ends *ends)
{
	generated_paths_release(&ends->generated);
}

int walk_ends_add(struct walk_ends *ends, enum unwind_cause cause, const struct walk_end_place *place)
{
	if (!place->is_generated) {
		ends->causes[cause]++;
		return 0;
	}
	enum unwind_cause with_names = cause == UNWIND_ROOT_NAMELESS ? UNWIND_ROOT_GENERATED : cause;
	return generated_paths_add(&ends->generated, place->node, with_names, place->time_ns);
}

uint64_t walk_ends_resolve(struct walk_ends *ends, const struct profile *profile)
{
	return generated_paths_resolve(&ends->generated, profile, ends->causes);
}

int walk_ends_publish(struct walk_ends *ends, struct profile *profile)
{
	for (int i = 0; i < UNWIND_CAUSE_COUNT; i++) {
		if (ends->causes[i] == 0)
			continue;
		const struct profile_cause cause = {
			.count = ends->causes[i],
			.whole = unwind_cause_whole(i),
			.completed = unwind_cause_kind(i) == CAUSE_COMPLETED,
			.guessed = unwind_cause_kind(i) == CAUSE_GUESSED,
		};
		int result = profile_count_cause(profile, unwind_cause_text(i), &cause);
		if (result < 0)
			return result;
		ends->causes[i] = 0;
	}
	return 0;
}
