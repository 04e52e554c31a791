/* Slices that are removed although no store has taken them: the oldest ones if there is no room, and files that have no samples to take. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory_limit.h"
#include "base/plural.h"
#include "cmd/agent.h"
#include "cmd/message.h"
#include "profile_file/reader.h"

/* --- room --- */

bool agent_room_is_written(const struct agent_slices *slices, const char *name)
{
	for (size_t i = 0; i < slices->count; i++)
		if (slices->queue[i].state != SLICE_ENDED && strcmp(strrchr(slices->queue[i].path, '/') + 1, name) == 0)
			return true;
	return false;
}

struct room {
	const struct agent_slices *slices;
	uint64_t bytes; /* of all files that no recorder writes */
	/* The names of the oldest files that may be removed; "": none */
	char kept[NAME_MAX + 1], waiting[NAME_MAX + 1];
};

static void measure_file(void *context, int folder, const char *name)
{
	struct room *room = context;
	bool is_kept = agent_spool_is_slice(name, SLICE_KEPT);
	char *oldest = is_kept ? room->kept : room->waiting;
	const char *added = room->slices->added;
	struct stat status;
	if ((!is_kept && !agent_spool_is_slice(name, SLICE_SUFFIX)) || agent_room_is_written(room->slices, name) ||
	    fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	room->bytes += (uint64_t)status.st_size;
	if (added && strcmp(strrchr(added, '/') + 1, name) == 0)
		return;
	if (!*oldest || strcmp(name, oldest) < 0)
		snprintf(oldest, NAME_MAX + 1, "%s", name);
}

/* Removes the oldest file, if the files exceed the limit. Returns whether it did. */
static bool remove_oldest(const struct agent_slices *slices)
{
	const struct agent_settings *settings = slices->settings;
	struct room room = { .slices = slices };
	char path[PATH_MAX];
	agent_spool_visit(settings->spool, measure_file, &room);
	const char *name = room.kept[0] ? room.kept : room.waiting;
	return room.bytes > settings->spool_limit && *name &&
	       snprintf(path, sizeof(path), "%s/%s", settings->spool, name) < (int)sizeof(path) && unlink(path) == 0;
}

void agent_room_make(struct agent_slices *slices)
{
	uint64_t count = 0;
	while (slices->settings->spool_limit > 0 && remove_oldest(slices))
		count++;
	slices->figures->dropped += count;
	if (count > 0)
		warning(slices->invocation,
			"dropped %" PRIu64 " slice%s of '%s', the oldest first: no room (--spool-limit)", count,
			plural_ending("slice", (double)count), slices->settings->spool);
}

/* --- files without samples --- */

bool agent_room_is_useless(const char *path)
{
	struct error error = { 0 };
	struct profile *profile = reader_load(path, memory_limit(), &error);
	bool is_cut = profile && !profile->ended && profile->hit_count == 0;
	bool is_other = !profile &&
			(error.code == ERROR_FORMAT || error.code == ERROR_CORRUPT || error.code == ERROR_TRUNCATED);
	profile_free(profile);
	return is_cut || is_other;
}

bool agent_room_give_up(struct agent_slices *slices)
{
	if (!agent_spool_is_slice(slices->added, SLICE_LAST_TRY SLICE_SUFFIX) || unlink(slices->added) < 0)
		return false;
	slices->figures->dropped++;
	warning(slices->invocation, "removed '%s' after 3 tries: it has no samples that a store can take",
		slices->added);
	return true;
}
