#include "collect/sample/state/side_events.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_map.h"
#include "collect/sample/clock.h"
#include "collect/sample/cpus.h"
#include "collect/sample/perf/events.h"
#include "collect/sample/perf/record.h"
#include "collect/sample/perf/ring.h"

/* The kernel copies the events of a thread's creator first, and reports its start later, by this at most. */
enum { REPORTED_WITHIN_MS = 10 };

/* The purpose of a ring. */
enum side_kind { SIDE_TASKS /* and code */, SIDE_DATA_MAPS, SIDE_KINDS };

struct side_events {
	bool everything, no_children, data_maps, prompt;
	bool reports_build_id; /* the kernel puts build-ids into maps (5.12) */
	bool started;
	size_t ring_bytes;
	struct cpus cpus;
	struct ring *rings; /* SIDE_KINDS for each CPU; the rings of data maps may be unmapped */
	size_t ring_count;
	struct perf_events events;
	uint64_t made_ns;
	/* Thread ids -> since when, in ms after `made_ns`, a reported start is that of a thread that has inherited all of its events. */
	struct hash_map watched;
};

/* --- new and free --- */

static void side_attributes(const struct side_events *side, enum side_kind kind, pid_t tid, bool on_exec,
			    struct perf_event_attr *attr)
{
	perf_events_attributes(attr, tid, on_exec);
	attr->inherit_thread = side->no_children;
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->sample_type = PERF_RECORD_SIDE_TYPE;
	attr->exclude_kernel = 1; /* the kernel reports maps anyway, and this needs no privilege */
	if (kind == SIDE_DATA_MAPS) {
		attr->mmap_data = 1; /* and no mmap, mmap2: those are of code */
		return;
	}
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->build_id = side->reports_build_id;
}

static int allocate(struct side_events *side, struct error *error)
{
	int result = cpus_find(&side->cpus, error);
	if (result < 0)
		return result;
	side->ring_count = side->cpus.count * SIDE_KINDS;
	side->rings = calloc(side->ring_count, sizeof(*side->rings));
	if (!side->rings)
		return error_memory(error);
	for (size_t i = 0; i < side->ring_count && result == 0; i++) {
		bool is_data = i % SIDE_KINDS == SIDE_DATA_MAPS;
		uint32_t wake_bytes = side->prompt && !is_data ? 1 : (uint32_t)(side->ring_bytes / 4);
		if (!is_data || side->data_maps)
			result = perf_events_make_ring(&side->rings[i], side->everything ? PERF_EVENTS_EVERYTHING : 0,
						       side->cpus.ids[i / SIDE_KINDS], side->ring_bytes, wake_bytes,
						       error);
	}
	return result;
}

struct side_events *side_events_new(const struct backend_request *request, size_t ring_bytes, bool prompt,
				    struct error *error)
{
	struct side_events *side = calloc(1, sizeof(*side));
	if (!side) {
		error_memory(error);
		return NULL;
	}
	side->everything = request->everything;
	side->no_children = request->no_children && !request->everything;
	side->data_maps = request->data_maps;
	side->prompt = prompt;
	side->ring_bytes = ring_bytes;
	side->made_ns = clock_now_ns(CLOCK_MONOTONIC);
	hash_map_init(&side->watched);
	if (allocate(side, error) < 0) {
		side_events_free(side);
		return NULL;
	}
	struct perf_event_attr attr;
	pid_t tid = side->everything ? PERF_EVENTS_EVERYTHING : 0;
	side->reports_build_id = true;
	side_attributes(side, SIDE_TASKS, tid, false, &attr);
	side->reports_build_id = perf_events_are_accepted(&attr, tid, side->cpus.ids[0]);
	return side;
}

struct side_events *side_events_fit(const struct backend_request *request, size_t *ring_bytes, struct error *error)
{
	struct side_events *side;
	*ring_bytes = SIDE_EVENTS_RING_BYTES;
	while (!(side = side_events_new(request, *ring_bytes, !request->has_low_rate, error)) &&
	       error->code == ERROR_LIMIT && *ring_bytes > SIDE_EVENTS_RING_MIN_BYTES)
		*ring_bytes /= 2;
	if (!side && error->code == ERROR_LIMIT)
		error_set_code(error, ERROR_PERMISSION);
	return side;
}

void side_events_free(struct side_events *side)
{
	if (!side)
		return;
	for (size_t i = 0; side->rings && i < side->ring_count; i++)
		ring_unmap(&side->rings[i]);
	free(side->rings);
	perf_events_release(&side->events);
	cpus_release(&side->cpus);
	hash_map_release(&side->watched);
	free(side);
}

/* --- attach --- */

bool side_events_is_watched(const struct side_events *side, pid_t tid)
{
	return hash_map_get(&side->watched, (uint64_t)tid) != HASH_MAP_NONE;
}

static uint32_t ms_of(const struct side_events *side, uint64_t time_ns)
{
	const uint64_t ns_per_ms = 1000000;
	return (uint32_t)((time_ns - side->made_ns) / ns_per_ms);
}

int side_events_attach(struct side_events *side, pid_t tid, bool on_exec, struct error *error)
{
	if (side_events_is_watched(side, tid))
		return 0;
	if (hash_map_put(&side->watched, (uint64_t)tid, 0) < 0)
		return error_memory(error);
	side->started |= on_exec;
	size_t first_event = side->events.count;
	for (size_t i = 0; i < side->ring_count; i++) {
		enum side_kind kind = i % SIDE_KINDS;
		if (kind == SIDE_DATA_MAPS && !side->data_maps)
			continue;
		struct perf_event_attr attr;
		side_attributes(side, kind, tid, on_exec, &attr);
		int result = perf_events_add(&side->events, &attr, tid, side->cpus.ids[i / SIDE_KINDS], &side->rings[i],
					     (uint32_t)kind, error);
		if (result <= 0)
			return result;
	}
	/* The backend's events were opened before. The key is there: this does not fail. */
	hash_map_put(&side->watched, (uint64_t)tid, ms_of(side, clock_now_ns(CLOCK_MONOTONIC)) + REPORTED_WITHIN_MS);
	if (on_exec)
		return 1;
	/* Events of a running thread are recorded before counting starts: see attach.c. */
	int result = perf_events_enable(&side->events, first_event, error);
	return result < 0 ? result : 1;
}

void side_events_start(struct side_events *side)
{
	side->started = true;
}

void side_events_stop(struct side_events *side)
{
	perf_events_disable(&side->events);
}

/* --- records --- */

size_t side_events_descriptors(const struct side_events *side, struct pollfd *descriptors, size_t limit)
{
	return ring_descriptors(side->rings, side->ring_count, descriptors, limit);
}

void side_events_refresh(struct side_events *side)
{
	for (size_t i = 0; i < side->ring_count; i++)
		if (side->rings[i].memory)
			ring_refresh(&side->rings[i]);
}

bool side_events_peek(struct side_events *side, uint64_t *time_ns)
{
	return perf_record_earliest(side->rings, side->ring_count, time_ns) != NULL;
}

/* Whoever was certainly started after all events of its creator were opened needs no attach. A thread of which that is not certain is
 * attached when it is found in /proc: the backend has to count its events once. */
static struct side_fork note_fork(struct side_events *side, const struct perf_event_header *record, uint64_t time_ns)
{
	uint32_t ids[4]; /* pid, ppid, tid, ptid */
	if (side->everything || record->type != PERF_RECORD_FORK || record->size < sizeof(*record) + sizeof(ids))
		return (struct side_fork){ 0 };
	memcpy(ids, record + 1, sizeof(ids));
	struct side_fork fork = { .tid = (pid_t)ids[2] };
	uint32_t since = hash_map_get(&side->watched, ids[3]), own = hash_map_get(&side->watched, ids[2]);
	uint32_t now = ms_of(side, time_ns);
	/* After the start, the id can be that of an earlier thread, whose events others have inherited. */
	if (side->started || since == HASH_MAP_NONE || now < since)
		return fork;
	fork.is_watched_twice = own != HASH_MAP_NONE;
	if (fork.is_watched_twice)
		perf_events_drop_thread(&side->events, fork.tid);
	hash_map_put(&side->watched, ids[2], now);
	return fork;
}

struct side_fork side_events_deliver(struct side_events *side, const struct backend_sink *sink)
{
	uint64_t time;
	struct ring *ring = perf_record_earliest(side->rings, side->ring_count, &time);
	if (!ring)
		return (struct side_fork){ 0 };
	const struct perf_event_header *record = ring_peek(ring);
	struct side_fork fork = note_fork(side, record, time);
	perf_record_deliver(record, time, sink, false);
	ring_next(ring);
	ring_release(ring);
	return fork;
}
