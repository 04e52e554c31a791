/* Adds findings for probe points that were off for some time: calls during that time were not counted. */
#include <inttypes.h>

#include "collect/count/parts.h"
#include "profile/findings.h"

enum { SHOWN_MAX = 20 }; /* findings of each kind; the remaining points are only counted */

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

static void add_throttled(struct profile *profile, const struct count_probe *probe)
{
	uint64_t calls = probe->throttled_calls ? probe->throttled_calls : 1;
	finding_add(profile, FINDING_POINTS_THROTTLED, probe->throttled_calls,
		    "%.300s turned itself off, after {# call|# calls} of %.1f ns each", name_of(profile, probe),
		    (double)probe->throttled_ns / (double)calls);
}

static void add_switched(struct profile *profile, const struct count_probe *probe)
{
	bool is_off = probe->flags & TALLY_PROBE_OFF;
	finding_add(profile, FINDING_POINTS_SWITCHED_OFF, 0, "%.300s was switched off%s", name_of(profile, probe),
		    is_off && probe->switched <= 1 ? ""
		    : is_off                       ? ", not all the time"
						   : ", for a time");
}

/* A probe point in several processes is reported once. */
static bool is_new(struct hash_map *shown, const struct count_probe *probe)
{
	uint64_t key = hash_u64(probe->location);
	return probe->location == PROFILE_NONE ||
	       (hash_map_get(shown, key) == HASH_MAP_NONE && hash_map_put(shown, key, 0) == 0);
}

static void add_each(const struct tally *tally, struct profile *profile, struct hash_map *shown,
		     bool (*is_meant)(const struct count_probe *),
		     void (*add)(struct profile *, const struct count_probe *))
{
	uint64_t count = 0;
	for (size_t i = 0; i < tally->process_count; i++)
		for (size_t j = 0; j < tally->processes[i].probe_count; j++) {
			const struct count_probe *probe = &tally->processes[i].probes[j];
			if (is_meant(probe) && is_new(shown, probe) && count++ < SHOWN_MAX)
				add(profile, probe);
		}
	if (count <= SHOWN_MAX)
		return;
	if (is_meant == is_throttled)
		finding_add(profile, FINDING_POINTS_THROTTLED, 0, "%" PRIu64 " more turned themselves off",
			    count - SHOWN_MAX);
	else
		finding_add(profile, FINDING_POINTS_SWITCHED_OFF, 0, "%" PRIu64 " more were switched off",
			    count - SHOWN_MAX);
}

int tally_add_points_off(const struct tally *tally, struct profile *profile)
{
	const struct tally_header *header = &tally->header;
	struct hash_map shown;
	if (header->rules_finding[0])
		finding_add(profile, FINDING_RULE_REFUSED, 0, "%s", header->rules_finding);
	int64_t note =
		header->implementation[0] ? profile_add_note(profile, "implementation", header->implementation) : 0;
	hash_map_init(&shown);
	add_each(tally, profile, &shown, is_throttled, add_throttled);
	add_each(tally, profile, &shown, was_switched, add_switched);
	hash_map_release(&shown);
	return note < 0 ? (int)note : profile->findings_error;
}
