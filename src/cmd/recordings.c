#include "cmd/recordings.h"

#include <stdlib.h>

#include "cmd/message.h"
#include "cmd/profile_open.h"

/* Sets the number of recordings of each side. */
static int count_sides(const struct invocation *invocation, struct recordings *recordings, size_t count)
{
	size_t first = invocation->separated;
	bool are_separated = first > 0 && first < count;
	if (invocation->has_separator && first > 1 && first == count)
		return usage_error(invocation, "no recordings of B follow '--' (cpprof %s A1 A2 -- B1 B2)",
				   invocation->command->name);
	if (!are_separated && count > DIFF_SIDES)
		return usage_error(invocation, "cannot find where the recordings of B begin (cpprof %s A1 A2 -- B1 B2)",
				   invocation->command->name);
	recordings->counts[DIFF_A] = are_separated ? first : 1;
	recordings->counts[DIFF_B] = count - recordings->counts[DIFF_A];
	return EXIT_DONE;
}

int recordings_open(const struct invocation *invocation, struct recordings *recordings)
{
	size_t opened = 0, count = invocation->argument_count + (invocation->profile ? 1 : 0);
	*recordings = (struct recordings){ .loaded = invocation->profile };
	int status = count_sides(invocation, recordings, count);
	if (status != EXIT_DONE)
		return status;
	recordings->profiles = calloc(count + 1, sizeof(*recordings->profiles));
	recordings->names = calloc(count + 1, sizeof(*recordings->names));
	if (!recordings->profiles || !recordings->names)
		return failure(invocation, "out of memory");
	if (invocation->profile) {
		recordings->profiles[opened] = invocation->profile;
		recordings->names[opened++] = invocation->profile_path;
	}
	for (size_t i = 0; i < invocation->argument_count; i++, opened++) {
		recordings->profiles[opened] = profile_open(invocation, invocation->arguments[i]);
		recordings->names[opened] = invocation->arguments[i];
		if (!recordings->profiles[opened])
			return EXIT_FAILED;
	}
	return EXIT_DONE;
}

void recordings_release(struct recordings *recordings)
{
	for (size_t i = 0; recordings->profiles && recordings->profiles[i]; i++)
		if (recordings->profiles[i] != recordings->loaded)
			profile_free((struct profile *)recordings->profiles[i]);
	free(recordings->profiles);
	free(recordings->names);
	*recordings = (struct recordings){ 0 };
}
