/* Adds the resources that a tally has counted or sampled. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collect/count/parts.h"

static const char *const measurement_names[] = TALLY_MEASUREMENT_NAMES;

const char *tally_measurement_name(uint32_t measurement)
{
	return measurement < TALLY_MEASUREMENTS ? measurement_names[measurement] : "";
}

/* The runtime counts time in ns, whatever the resource's own gtick is. */
static uint64_t ns_of_unit(const char *unit)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "us", 1000 }, { "ms", 1000 * 1000 }, { "s", 1000 * 1000 * 1000 } };
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].unit) == 0)
			return units[i].ns;
	return 1;
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

/* Adds real time. Its note reports what was subtracted. */
static int64_t add_real(const struct tally *tally, struct profile *profile)
{
	char note[160] = "";
	const struct tally_header *header = &tally->header;
	if (tally->compensated_ns > 0)
		snprintf(note, sizeof(note),
			 "without the %.1f ns that a probe takes, of %" PRIu64 " calls: %.3f ms in all",
			 (double)(header->probe_inside_ps + header->probe_outside_ps) / 1e3, tally->compensated_calls,
			 (double)tally->compensated_ns / 1e6);
	const char *const texts[] = { "real", "Real Time", "ns", "hooks", note };
	const struct profile_resource exact = { .kind = RESOURCE_EXACT, .interval = 1 };
	return add_resource(profile, texts, &exact);
}

/* Adds waiting time. Its note reports what was subtracted: the part of a probe's time between the two time stamps of
 * a call. */
static int64_t add_wait(const struct tally *tally, struct profile *profile)
{
	char note[80] = "";
	if (tally->compensated_ns > 0)
		snprintf(note, sizeof(note), "without the %.1f ns of a probe that fall into a call",
			 (double)tally->header.probe_inside_ps / 1e3);
	const char *const texts[] = { "wait", "Waiting Time", "ns", "hooks", note };
	const struct profile_resource exact = { .kind = RESOURCE_EXACT, .interval = 1 };
	return add_resource(profile, texts, &exact);
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
	tally->calls = tally->real = tally->wait = tally->blocks = tally->lines = PROFILE_NONE;
	for (uint32_t i = 0; i < tally->header.request_count && id >= 0; i++) {
		id = add_sampled(tally, profile, i);
		tally->requests[i] = (uint32_t)id;
	}
	if (id >= 0 && tally->header.measurement != TALLY_OFF) {
		id = add_calls(tally, profile);
		tally->calls = (uint32_t)id;
	}
	if (id >= 0 && has_times(tally)) {
		id = add_real(tally, profile);
		tally->real = (uint32_t)id;
	}
	if (id >= 0 && has_waits(tally)) {
		id = add_wait(tally, profile);
		tally->wait = (uint32_t)id;
	}
	return id < 0 ? (int)id : 0;
}
