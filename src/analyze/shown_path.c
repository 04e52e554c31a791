#include "analyze/shown_path.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analyze/thread_creator.h"
#include "base/array.h"
#include "base/error.h"
#include "profile/interpreter.h"
#include "profile/thread_mark.h"

/* State while the frames of one thread's part of the path are added. */
struct part {
	bool is_lead;       /* only start code so far */
	uint32_t innermost; /* innermost function so far; PROFILE_NONE: no frame yet */
};

static const struct part empty_part = { .is_lead = true, .innermost = PROFILE_NONE };

void shown_path_release(struct shown_path *path)
{
	free(path->functions);
	free(path->nodes);
	*path = (struct shown_path){ 0 };
}

/* Lists the nodes from `node` to the outermost. Returns their number, or ERROR_MEMORY. */
static int64_t list_nodes(struct shown_path *path, const struct profile *profile, uint32_t node)
{
	size_t count = 0;
	for (; node != PROFILE_ROOT; node = interpreter_caller(profile, node)) {
		if (ARRAY_RESERVE(path->nodes, path->node_capacity, count + 1) < 0)
			return ERROR_MEMORY;
		path->nodes[count++] = node;
	}
	return (int64_t)count;
}

/* `functions` has room for the frames. */
static void add_frames(struct shown_path *path, const struct profile *profile, const struct profile_location *location,
		       struct part *part)
{
	for (uint32_t i = location->frame_count; i > 0; i--) {
		part->innermost = profile->frames[location->first_frame + i - 1].function;
		part->is_lead = part->is_lead && profile->functions[part->innermost].role == ROLE_START;
		if (!part->is_lead)
			path->functions[path->count++] = part->innermost;
	}
}

/* Ends the creating stack at `mark`: cuts its innermost frames. If all its frames are start code, it added none to
 * the path. */
static void end_creator(struct shown_path *path, const struct profile *profile, uint32_t mark, struct part *part)
{
	if (!part->is_lead)
		path->count -= thread_creator_of(profile, mark, false, false).cut;
	*part = empty_part;
}

int shown_path_set(struct shown_path *path, const struct profile *profile, uint32_t node)
{
	int64_t nodes = list_nodes(path, profile, node);
	struct part part = empty_part;
	path->count = 0;
	if (nodes < 0 || ARRAY_RESERVE(path->functions, path->capacity, 1) < 0)
		return ERROR_MEMORY;
	for (size_t i = (size_t)nodes; i > 0; i--) {
		uint32_t at = path->nodes[i - 1];
		const struct profile_location *location = &profile->locations[profile->nodes[at].location];
		if (thread_mark_is(profile, at)) {
			end_creator(path, profile, at, &part);
			continue;
		}
		if (ARRAY_RESERVE(path->functions, path->capacity, path->count + location->frame_count) < 0)
			return ERROR_MEMORY;
		add_frames(path, profile, location, &part);
	}
	/* If the path is only start code, its innermost function is shown. */
	if (path->count == 0 && part.innermost != PROFILE_NONE)
		path->functions[path->count++] = part.innermost;
	return 0;
}
