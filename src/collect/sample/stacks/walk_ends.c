#include "collect/sample/stacks/walk_ends.h"

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

uint64_t walk_ends_settle(struct walk_ends *ends, const struct profile *profile)
{
	return generated_paths_settle(&ends->generated, profile, ends->causes);
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
