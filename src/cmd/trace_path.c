#include "cmd/trace_path.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

void trace_path_release(struct trace_path *path)
{
	free(path->functions);
	free(path->nodes);
	*path = (struct trace_path){ 0 };
}

/* The nodes from `node` to the outermost: how many, or ERROR_MEMORY. */
static int64_t list_nodes(struct trace_path *path, const struct profile *profile, uint32_t node)
{
	size_t count = 0;
	for (; node != PROFILE_ROOT; node = profile->nodes[node].parent) {
		if (ARRAY_RESERVE(path->nodes, path->node_capacity, count + 1) < 0)
			return ERROR_MEMORY;
		path->nodes[count++] = node;
	}
	return (int64_t)count;
}

static uint8_t role_of(const struct profile *profile, uint32_t function)
{
	return profile->functions[function].role;
}

/* A thread starts here: the frames between its creator's call and the start
 * belong to the library. */
static void cut_at_creation(struct trace_path *path, const struct profile *profile, size_t from)
{
	for (size_t i = path->count; i > from; i--) {
		if (role_of(profile, path->functions[i - 1]) == ROLE_CREATE) {
			path->count = i;
			return;
		}
	}
}

int trace_path_set(struct trace_path *path, const struct profile *profile, uint32_t node)
{
	int64_t nodes = list_nodes(path, profile, node);
	bool is_lead = true; /* nothing but start functions yet, of this thread */
	size_t thread_from = 0;
	path->count = 0;
	if (nodes < 0)
		return (int)nodes;
	for (size_t i = (size_t)nodes; i > 0; i--) {
		const struct profile_location *location =
			&profile->locations[profile->nodes[path->nodes[i - 1]].location];
		if (profile->modules[location->module].kind == MODULE_THREAD) {
			cut_at_creation(path, profile, thread_from);
			thread_from = path->count;
			is_lead = true;
			continue;
		}
		if (ARRAY_RESERVE(path->functions, path->capacity, path->count + location->frame_count) < 0)
			return ERROR_MEMORY;
		for (uint32_t frame = location->frame_count; frame > 0; frame--) {
			uint32_t function = profile->frames[location->first_frame + frame - 1].function;
			bool is_last = i == 1 && frame == 1;
			is_lead = is_lead && role_of(profile, function) == ROLE_START;
			/* A path of nothing else shows its innermost. */
			if (!is_lead || is_last)
				path->functions[path->count++] = function;
		}
	}
	return 0;
}
