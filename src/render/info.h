/* Functions that info_text.c and info_json.c share. */
#ifndef RENDER_INFO_H
#define RENDER_INFO_H

#include "profile/quality.h"
#include "profile/tail_calls.h"
#include "render/emit.h"

struct info {
	const struct profile *profile;
	const char *file_name;
	uint64_t file_bytes;
	struct label_key *label_keys;
	size_t label_key_count;
	uint32_t *cgroups; /* the path of each process that has one (numbers of strings), sorted by text */
	size_t cgroup_count;
	struct quality quality;
	struct tail_calls_count tail_calls;
};

struct resource_sum {
	uint64_t samples;
	uint64_t hits;
};
struct resource_sum info_resource_sum(const struct profile *profile, uint32_t resource);

enum { INFO_BUILD_ID_TEXT = 2 * PROFILE_BUILD_ID_MAX + 1 };
/* Writes the build-id in hexadecimal, or "" if there is none. Returns `text`. */
const char *info_build_id(const struct profile_module *module, char text[INFO_BUILD_ID_TEXT]);

/* Returns the start of the recording as local date and time with the zone's offset (ISO 8601), or "" if it is
 * unknown. */
const char *info_start(const struct profile *profile, char *text, size_t bytes);

/* Returns the number of modules, without those that only mark thread starts. */
size_t info_module_count(const struct profile *profile);

/* Returns whether the list of notes in text leaves out the note with this key: it has a line of its own, or is data for
 * reports ("taken", "called"). */
bool info_is_headline(const char *key);

void info_text(FILE *out, const struct info *info, const struct render_options *options);
void info_json(FILE *out, const struct info *info);

#endif
