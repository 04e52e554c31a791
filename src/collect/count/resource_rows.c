/* Adds the resources that a tally has counted or sampled. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/time_unit.h"
#include "collect/count/parts.h"
#include "profile/companion.h"

static const char *const measurement_names[] = TALLY_MEASUREMENT_NAMES;

const char *tally_measurement_name(uint32_t measurement)
{
	return measurement < TALLY_MEASUREMENTS ? measurement_names[measurement] : "";
}

/* The runtime counts time in ns, whatever the resource's own gtick is. */
static uint64_t ns_of_unit(const char *unit)
{
	const uint64_t ns = time_unit_ns(unit);
	return ns > 0 ? ns : 1;
}

/* Texts are in the order name, title, unit, backend, note. */
static int64_t add_resource(struct profile *profile, const char *const texts[5], const struct profile_resource *row)
{
	uint32_t ids[5];
	for (size_t i = 0; i < 5; i++) {
		int64_t id = profile_add_string(profile, texts[i]);
		if (id < 0)
			return id;
		ids[i] = (uint32_t)id;
	}
	struct profile_resource resource = *row;
	resource.name = ids[0];
	resource.title = ids[1];
	resource.unit = ids[2];
	resource.backend = ids[3];
	resource.note = ids[4];
	return profile_add_resource(profile, &resource);
}

int64_t tally_add_exact(struct profile *profile, const char *name, const char *title, const char *unit)
{
	const char *const texts[] = { name, title, unit, "hooks", "" };
	const struct profile_resource exact = { .kind = RESOURCE_EXACT, .interval = 1 };
	return add_resource(profile, texts, &exact);
}

static int64_t add_sampled(const struct tally *tally, struct profile *profile, uint32_t request)
{
	const struct tally_request *asked = &tally->header.requests[request];
	const char *const texts[] = { asked->name, asked->title, asked->unit, "hooks", "" };
	uint64_t gtick = asked->counter == COUNTER_OWN ? 1 : ns_of_unit(asked->unit);
	struct profile_resource sampled = { .kind = RESOURCE_SAMPLED,
					    .interval = asked->interval > gtick ? asked->interval / gtick : 1 };
	for (size_t i = 0; i < tally->thread_count; i++) {
		sampled.total += tally->threads[i].shared->totals[request];
		sampled.lost += tally->threads[i].shared->lost[request];
	}
	sampled.total /= gtick;
	profile->lost += sampled.lost;
	return add_resource(profile, texts, &sampled);
}

static bool is_timed(const struct tally *tally)
{
	return tally->header.measurement == TALLY_PATHS_TIMED || tally->header.measurement == TALLY_TRACE;
}

static bool has_times(const struct tally *tally)
{
	for (size_t i = 0; i < tally->thread_count && is_timed(tally); i++) {
		const struct count_tree *tree = &tally->threads[i].tree;
		for (size_t path = 0; path < tree->path_count; path++)
			if (tree->paths[path].exclusive_ns > 0)
				return true;
	}
	return false;
}

/* Whether calls were timed, and some probe point is a function that waits. */
static bool has_waits(const struct tally *tally)
{
	for (size_t i = 0; i < tally->process_count && has_times(tally); i++)
		for (size_t j = 0; j < tally->processes[i].probe_count; j++)
			if (tally->processes[i].probes[j].flags & TALLY_PROBE_WAITS)
				return true;
	return false;
}

/* Adds a companion of a resource of times. */
static int64_t add_companion(struct profile *profile, const char *name, const char *title, enum companion companion)
{
	static const char *const titles[] = { [COMPANION_RAW] = "%s, as measured", [COMPANION_ERROR] = "Error of %s" };
	char own_name[32], own_title[64];
	snprintf(own_name, sizeof(own_name), "%s%s", name, companion_ending(companion));
	snprintf(own_title, sizeof(own_title), titles[companion], title);
	return tally_add_exact(profile, own_name, own_title, "ns");
}

/* Adds a resource of times. If they are corrected, its note reports what was subtracted, and it has companions. */
static int add_times(const struct tally *tally, struct profile *profile, const char *name, const char *title,
		     struct tally_times *times)
{
	const struct tally_cost *inside = &tally->header.probe_inside, *outside = &tally->header.probe_outside;
	char note[160] = "";
	if (tally->is_compensated)
		snprintf(note, sizeof(note),
			 "without the probes' time, which is %.1f to %.1f ns of a call and %.1f to %.1f ns of its "
			 "caller",
			 (double)inside->least_ps / 1e3, (double)inside->most_ps / 1e3, (double)outside->least_ps / 1e3,
			 (double)outside->most_ps / 1e3);
	const char *const texts[] = { name, title, "ns", "hooks", note };
	const struct profile_resource exact = { .kind = RESOURCE_EXACT, .interval = 1 };
	int64_t id = add_resource(profile, texts, &exact);
	times->times = (uint32_t)id;
	if (id < 0 || !tally->is_compensated)
		return id < 0 ? (int)id : 0;
	id = add_companion(profile, name, title, COMPANION_RAW);
	times->raw = (uint32_t)id;
	if (id >= 0)
		id = add_companion(profile, name, title, COMPANION_ERROR);
	times->error = (uint32_t)id;
	return id < 0 ? (int)id : 0;
}

/* Adds calls. Their note reports how many probe points were off for some time. */
static int64_t add_calls(const struct tally *tally, struct profile *profile)
{
	const struct tally_probes_off off = tally_probes_off(tally);
	char note[160] = "", throttled[80] = "", switched[80] = "";
	if (off.throttled > 0)
		snprintf(throttled, sizeof(throttled), "%" PRIu64 " probe point%s turned %s off after many calls",
			 off.throttled, off.throttled == 1 ? "" : "s", off.throttled == 1 ? "itself" : "themselves");
	if (off.switched > 0)
		snprintf(switched, sizeof(switched), "%" PRIu64 " probe point%s switched off for a time", off.switched,
			 off.switched == 1 ? " was" : "s were");
	if (throttled[0] || switched[0])
		snprintf(note, sizeof(note), "%s%s%s: see cpprof info", throttled,
			 throttled[0] && switched[0] ? ", " : "", switched);
	const char *const texts[] = { "calls", "Calls", "call", "hooks", note };
	const struct profile_resource exact = { .kind = RESOURCE_EXACT, .interval = 1 };
	return add_resource(profile, texts, &exact);
}

int tally_add_resources(struct tally *tally, struct profile *profile)
{
	int64_t id = 0;
	tally->calls = tally->blocks = tally->lines = PROFILE_NONE;
	tally->real = tally->wait = (struct tally_times){ PROFILE_NONE, PROFILE_NONE, PROFILE_NONE };
	for (uint32_t i = 0; i < tally->header.request_count && id >= 0; i++) {
		id = add_sampled(tally, profile, i);
		tally->requests[i] = (uint32_t)id;
	}
	if (id >= 0 && tally->header.measurement != TALLY_OFF) {
		id = add_calls(tally, profile);
		tally->calls = (uint32_t)id;
	}
	int result = id < 0 ? (int)id : 0;
	if (result == 0 && has_times(tally))
		result = add_times(tally, profile, "real", "Real Time", &tally->real);
	if (result == 0 && has_waits(tally))
		result = add_times(tally, profile, "wait", "Waiting Time", &tally->wait);
	return result;
}
