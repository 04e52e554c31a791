#include "cmd/recordings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "cmd/foreign.h"
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

/* --- recordings of a side are independent of each other --- */

static bool have_equal_bytes(int first, int second)
{
	enum { BLOCK_BYTES = 1 << 16 };
	char blocks[2][BLOCK_BYTES];
	for (off_t at = 0;; at += BLOCK_BYTES) {
		ssize_t count = pread(first, blocks[0], BLOCK_BYTES, at);
		if (count < 0 || pread(second, blocks[1], BLOCK_BYTES, at) != count ||
		    memcmp(blocks[0], blocks[1], (size_t)count) != 0)
			return false;
		if (count < BLOCK_BYTES)
			return true;
	}
}

/* Returns whether two names are of one file or selection, or of profiles of cpprof with the same content: their times differ otherwise.
 * Exact counts of other tools can be equal. */
static bool are_same(const char *first, const char *second)
{
	struct stat a, b;
	if (strcmp(first, second) == 0)
		return true;
	if (stat(first, &a) < 0 || stat(second, &b) < 0 || !S_ISREG(a.st_mode) || !S_ISREG(b.st_mode) ||
	    a.st_size != b.st_size)
		return false;
	if (a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return true;
	if (foreign_is(first) || foreign_is(second))
		return false;
	int files[] = { path_open_regular(first), path_open_regular(second) };
	bool are_equal = files[0] >= 0 && files[1] >= 0 && have_equal_bytes(files[0], files[1]);
	for (int i = 0; i < 2; i++)
		if (files[i] >= 0)
			close(files[i]);
	return are_equal;
}

/* A recording that is given twice would look like two runs that do not differ. */
static int check_sides(const struct invocation *invocation, const struct recordings *recordings)
{
	const char *const *names = recordings->names;
	for (int side = DIFF_A; side <= DIFF_B; side++) {
		for (size_t i = 0; i < recordings->counts[side]; i++)
			for (size_t k = 0; k < i; k++)
				if (are_same(names[k], names[i]))
					return usage_error(invocation,
							   "'%s' and '%s' are the same recording, and a side needs "
							   "independent ones (leave one of them out)",
							   names[k], names[i]);
		names += recordings->counts[side];
	}
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
	return check_sides(invocation, recordings);
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
