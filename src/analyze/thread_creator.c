#include "analyze/thread_creator.h"

#include "profile/interpreter.h"
#include "profile/thread_mark.h"

static bool ends_stack(const struct profile *profile, uint32_t node)
{
	return node == PROFILE_ROOT || thread_mark_is(profile, node);
}

/* A location that is not symbolized counts as one frame. */
static uint32_t frames_of(const struct profile_location *location, bool no_inlines)
{
	return location->frame_count == 0 || no_inlines ? 1 : location->frame_count;
}

/* A frame of a stack: `inner` frames of its node's location are inside it. */
struct position {
	uint32_t node;
	uint32_t inner;
	uint32_t cut; /* frames of the whole stack inside it */
};

static uint8_t role_at(const struct profile *profile, const struct position *at, bool no_inlines)
{
	const struct profile_location *location = &profile->locations[profile->nodes[at->node].location];
	if (location->frame_count == 0)
		return ROLE_NONE;
	uint32_t frame = no_inlines ? location->frame_count - 1 : at->inner;
	return profile->functions[profile->frames[location->first_frame + frame].function].role;
}

static void step_outwards(const struct profile *profile, struct position *at, bool no_inlines, bool native_frames)
{
	const struct profile_node *node = &profile->nodes[at->node];
	at->cut++;
	if (++at->inner < frames_of(&profile->locations[node->location], no_inlines))
		return;
	at->inner = 0;
	at->node = native_frames ? node->parent : interpreter_caller(profile, at->node);
}

struct thread_creator thread_creator_of(const struct profile *profile, uint32_t mark, bool no_inlines,
					bool native_frames)
{
	struct position at = { .node = profile->nodes[mark].parent };
	struct position last = { .node = PROFILE_NONE }; /* the innermost frame to show */
	bool creates = false;
	while (at.cut < THREAD_CREATION_FRAMES && !ends_stack(profile, at.node)) {
		uint8_t role = role_at(profile, &at, no_inlines);
		if (role == ROLE_CREATE || (!creates && role != ROLE_START && last.node == PROFILE_NONE))
			last = at;
		creates = creates || role == ROLE_CREATE;
		step_outwards(profile, &at, no_inlines, native_frames);
	}
	if (last.node == PROFILE_NONE)
		last = at;
	struct thread_creator creator = { .node = last.node, .cut = last.cut };
	if (!ends_stack(profile, last.node))
		creator.frames =
			frames_of(&profile->locations[profile->nodes[last.node].location], no_inlines) - last.inner;
	return creator;
}
