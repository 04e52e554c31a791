/* Probe points that were off for a time: what they did then was not counted. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collect/count/parts.h"

enum { TOLD_MAX = 20 }; /* of the others it is told how many they are */

static bool is_throttled(const struct count_probe *probe)
{
	return probe->flags & TALLY_PROBE_THROTTLED || probe->throttled_calls > 0;
}

static bool was_switched(const struct count_probe *probe)
{
	return !is_throttled(probe) && (probe->flags & TALLY_PROBE_OFF || probe->switched > 0);
}

struct tally_probes_off tally_probes_off(const struct tally *tally)
{
	struct tally_probes_off off = { 0 };
	for (size_t i = 0; i < tally->process_count; i++)
		for (size_t j = 0; j < tally->processes[i].probe_count; j++) {
			off.throttled += is_throttled(&tally->processes[i].probes[j]);
			off.switched += was_switched(&tally->processes[i].probes[j]);
		}
	return off;
}

static const char *name_of(const struct profile *profile, const struct count_probe *probe)
{
	if (probe->location == PROFILE_NONE)
		return probe->name;
	const struct profile_location *location = &profile->locations[probe->location];
	return profile_string(profile, profile->functions[profile->frames[location->first_frame].function].name);
}

static int note_throttled(struct profile *profile, const struct count_probe *probe)
{
	char text[512];
	uint64_t calls = probe->throttled_calls ? probe->throttled_calls : 1;
	snprintf(text, sizeof(text), "%.300s, after %" PRIu64 " calls of %.1f ns each: what came then is not counted",
		 name_of(profile, probe), probe->throttled_calls, (double)probe->throttled_ns / (double)calls);
	int64_t result = profile_add_note(profile, "turned itself off", text);
	return result < 0 ? (int)result : 0;
}

static int note_switched(struct profile *profile, const struct count_probe *probe)
{
	char text[512];
	bool is_off = probe->flags & TALLY_PROBE_OFF;
	snprintf(text, sizeof(text), "%.300s%s", name_of(profile, probe),
		 is_off && probe->switched <= 1 ? ""
		 : is_off                       ? ", not all the time"
						: ", for a time");
	int64_t result = profile_add_note(profile, "switched off", text);
	return result < 0 ? (int)result : 0;
}

/* A probe point in several processes is told once. */
static bool is_new(struct hash_map *told, const struct count_probe *probe)
{
	uint64_t key = hash_u64(probe->location);
	return probe->location == PROFILE_NONE ||
	       (hash_map_get(told, key) == HASH_MAP_NONE && hash_map_put(told, key, 0) == 0);
}

static int note_each(const struct tally *tally, struct profile *profile, struct hash_map *told,
		     bool (*is_meant)(const struct count_probe *),
		     int (*note)(struct profile *, const struct count_probe *))
{
	size_t count = 0;
	int result = 0;
	for (size_t i = 0; i < tally->process_count; i++)
		for (size_t j = 0; j < tally->processes[i].probe_count && result == 0; j++) {
			const struct count_probe *probe = &tally->processes[i].probes[j];
			if (is_meant(probe) && is_new(told, probe) && count++ < TOLD_MAX)
				result = note(profile, probe);
		}
	char text[64];
	snprintf(text, sizeof(text), "%zu more", count - TOLD_MAX);
	if (result == 0 && count > TOLD_MAX)
		result = profile_add_note(profile, is_meant == is_throttled ? "turned itself off" : "switched off",
					  text) < 0
				 ? ERROR_MEMORY
				 : 0;
	return result;
}

static int note_header(const struct tally *tally, struct profile *profile)
{
	const struct tally_header *header = &tally->header;
	int64_t result = 0;
	if (header->probes_trouble[0])
		result = profile_add_note(profile, "warning", header->probes_trouble);
	if (result >= 0 && header->implementation[0])
		result = profile_add_note(profile, "implementation", header->implementation);
	return result < 0 ? (int)result : 0;
}

int tally_note_probes(const struct tally *tally, struct profile *profile)
{
	struct hash_map told;
	hash_map_init(&told);
	int result = note_header(tally, profile);
	if (result == 0)
		result = note_each(tally, profile, &told, is_throttled, note_throttled);
	if (result == 0)
		result = note_each(tally, profile, &told, was_switched, note_switched);
	hash_map_release(&told);
	return result;
}
