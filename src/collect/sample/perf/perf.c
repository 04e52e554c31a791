/*
 * The perf backend: perf_event_open with user registers and a copy of the user stack.
 *
 *   (1) Every watched thread has, on each CPU, one event or a period pair (perf/period_pair.h) for
 *       each resource. Everything that the thread starts inherits them.
 *       The kernel takes each counted event, and the backend draws one of each interval (perf/draws.h).
 *   (2) Each CPU has one ring for samples. Maps, forks, names and exits have other rings
 *       (side_events.h), so that a burst of samples cannot displace what is needed to interpret them.
 *   (3) Where tracepoints are permitted, each thread has one more event on each CPU, at the start
 *       of threads.
 *   (4) Records are delivered in order of time over all rings, never beyond `until_ns`. The caller
 *       keeps that a little behind the clock, because the kernel stamps a record before the record
 *       is visible in the ring.
 *   (5) Nothing waits here: a drain delivers the records that are already written.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "collect/sample/backend.h"
#include "collect/sample/cpus.h"
#include "collect/sample/inside.h"
#include "collect/sample/perf/access.h"
#include "collect/sample/perf/draws.h"
#include "collect/sample/perf/events.h"
#include "collect/sample/perf/period_pair.h"
#include "collect/sample/perf/record.h"
#include "collect/sample/perf/ring.h"
#include "collect/sample/perf/streams.h"
#include "collect/sample/state/new_task.h"
#include "collect/sample/state/side_events.h"
#include "processor/perf_registers.h"
#include "profile/findings.h"

enum {
	SAMPLE_RING_BYTES = 8 * 1024 * 1024,
	/* With -a, programs are met for the first time while others are sampled: unwind rows of
	 * a compiler take some hundred milliseconds, in which the rings fill. Where events are
	 * drawn, each event is in a ring. */
	MACHINE_RING_BYTES = 64 * 1024 * 1024,
	SAMPLE_RING_MIN_BYTES = 64 * 1024,
	SAMPLE_RING_AMPLE_BYTES = 256 * 1024, /* smaller rings are reported */
	/* Bytes of stack that are copied: nearly 64 KB for time (a record has at most 64 KB in all), and
	 * 16 KB for counted events, which come in bursts. That is the whole stack of most programs
	 * (sqlite3's shell has 18 KB at most). Where events are drawn, more of them must fit into a ring: 8 KB.
	 * The kernel copies only what exists. The rest is read from the target (stack.h). */
	TIME_STACK_BYTES = 63 * 1024,
	COUNT_STACK_BYTES = 16 * 1024,
	STACK_BYTES_MIN = 8 * 1024,
	/* A ring should hold at least this many samples, and the samples of this time. */
	RING_SAMPLES_MIN = 16,
	RING_HOLDS_NS = 50 * 1000 * 1000,
	WAKE_SAMPLES = 8,
};

/* The thread id in samples of a thread that is past its end, which occur where all threads of a CPU are
 * watched. They are reported as the kernel's own work, of thread 0. */
static const uint32_t NO_LONGER_A_THREAD = UINT32_MAX;

struct backend {
	struct backend_request request;
	struct resource_request resources[RESOURCE_REQUESTS_MAX];
	struct side_events *side;
	struct perf_events events;  /* tagged by tag_of */
	struct perf_events keepers; /* until the start: perf_events_keep_attributes */
	size_t attached;            /* threads */
	struct perf_streams streams;
	uint64_t repeated[RESOURCE_REQUESTS_MAX * PERIODS_MAX +
			  1]; /* by tag: samples that did not count, because another event has them */
	struct cpus cpus;
	struct ring *rings; /* of samples, one for each CPU */
	size_t sample_ring_bytes;
	double chance; /* 0 to 1: determines the periods of this run (perf/period_pair.h) */
	struct perf_draws draws;
	bool reports_lost; /* the kernel counts lost samples per event (6.0) */
	bool reports_creations;
	struct new_task new_task; /* the tracepoint that reports creations */
};

/* --- attributes --- */

/* The tag of events at the start of threads; the tags of requests are below it. */
enum { CREATES = RESOURCE_REQUESTS_MAX * PERIODS_MAX };

static uint32_t tag_of(size_t request, unsigned event)
{
	return (uint32_t)(request * PERIODS_MAX + event);
}

/* Returns how many bytes of the stack are copied: so many that a ring holds the samples of RING_HOLDS_NS,
 * or RING_SAMPLES_MIN samples if their rate is unknown. */
static uint32_t stack_bytes(const struct backend *backend, const struct resource_request *resource)
{
	bool is_time = resource->row->is_time;
	size_t wanted = is_time ? TIME_STACK_BYTES : perf_draws_from(resource) ? STACK_BYTES_MIN : COUNT_STACK_BYTES;
	size_t samples = is_time ? RING_HOLDS_NS / resource->interval : 0;
	size_t fits = backend->sample_ring_bytes / (samples > RING_SAMPLES_MIN ? samples : RING_SAMPLES_MIN);
	if (fits < STACK_BYTES_MIN && backend->sample_ring_bytes >= STACK_BYTES_MIN * RING_SAMPLES_MIN)
		fits = STACK_BYTES_MIN;
	return (uint32_t)(wanted < fits ? wanted : fits) / sizeof(uint64_t) * sizeof(uint64_t);
}

/* The kernel's own stacks, or none. Our own unwinder makes the stacks of user mode. */
static void request_kernel_stacks(struct perf_event_attr *attr, bool wanted)
{
	attr->exclude_callchain_user = 1;
	attr->exclude_callchain_kernel = !wanted;
}

static void sample_attributes(const struct backend *backend, const struct resource_request *resource, uint64_t period,
			      pid_t tid, bool on_exec, struct perf_event_attr *attr)
{
	const struct resource_row *row = resource->row;
	perf_events_attributes(attr, tid, on_exec);
	attr->inherit_thread = backend->request.no_children;
	attr->sample_type = PERF_RECORD_SAMPLE_TYPE;
	attr->type = row->perf_type;
	attr->config = row->perf_config;
	attr->sample_period = period;
	request_kernel_stacks(attr, backend->request.kernel_stacks && !backend->request.user_mode_only);
	attr->exclude_idle = 1; /* events for all threads of a CPU would also count the idle thread */
	attr->exclude_kernel = row->modes == RESOURCE_USER_MODE || backend->request.user_mode_only;
	attr->exclude_user = row->modes == RESOURCE_KERNEL_MODE;
	attr->sample_regs_user = PERF_REGISTER_MASK;
	attr->sample_stack_user = stack_bytes(backend, resource);
	attr->read_format = backend->reports_lost ? PERF_FORMAT_LOST : 0;
}

/* The event at every start of a thread or process, with the stack of the thread that starts it. */
static void creation_attributes(const struct backend *backend, pid_t tid, bool on_exec, struct perf_event_attr *attr)
{
	perf_events_attributes(attr, tid, on_exec);
	attr->inherit_thread = backend->request.no_children;
	attr->sample_type = PERF_RECORD_SAMPLE_TYPE;
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = backend->new_task.config;
	attr->sample_period = 1;
	request_kernel_stacks(attr, false);
	attr->sample_regs_user = PERF_REGISTER_MASK;
	attr->sample_stack_user = COUNT_STACK_BYTES;
}

/* --- probe: perf/access.c explains refusals --- */

static bool perf_serves(const struct resource_row *row)
{
	return row->on_perf;
}

static int perf_probe(const struct resource_request *request, bool *user_mode_only, struct error *error)
{
	const struct resource_row *row = request->row;
	struct perf_event_attr attr;
	*user_mode_only = false;
	if (inside_refuse_resource(request, error) < 0)
		return ERROR_UNSUPPORTED;
	if (!row->on_perf)
		return error_set(error, ERROR_UNSUPPORTED, "the perf backend cannot measure %s (the bpf backend can)",
				 request->name);
	perf_events_attributes(&attr, 0, false);
	attr.sample_type = PERF_RECORD_SAMPLE_TYPE;
	attr.type = row->perf_type;
	attr.config = row->perf_config;
	attr.sample_period = row->default_interval;
	request_kernel_stacks(&attr, true);
	attr.sample_regs_user = PERF_REGISTER_MASK;
	attr.sample_stack_user = COUNT_STACK_BYTES;
	attr.exclude_kernel = row->modes == RESOURCE_USER_MODE;
	attr.exclude_user = row->modes == RESOURCE_KERNEL_MODE;
	*user_mode_only = false;
	int fd = perf_events_open(&attr, 0, -1);
	int refusal = fd < 0 ? errno : 0;
	/* Privileges are missing: test whether user mode alone is permitted. */
	if ((refusal == EACCES || refusal == EPERM) && !attr.exclude_kernel) {
		attr.exclude_user = 0;
		attr.exclude_kernel = 1;
		fd = perf_events_open(&attr, 0, -1);
		*user_mode_only = fd >= 0;
		if (fd < 0 && errno != EACCES && errno != EPERM)
			refusal = errno; /* an obstacle that the missing privileges hid */
	}
	if (fd >= 0)
		close(fd);
	bool is_needed = *user_mode_only && row->needs_kernel;
	return fd < 0 || is_needed ? perf_access_refused(row, refusal, *user_mode_only, error) : 0;
}

/* --- open and close --- */

/* Returns 0, or an error if the kernel cannot leave out the processes that a thread starts (before 5.13). */
static int check_children(const struct backend_request *request, struct error *error)
{
	if (!request->no_children || perf_events_leave_children())
		return 0;
	return error_set(error, ERROR_UNSUPPORTED, "--no-children with the perf backend needs Linux 5.13 or later");
}

/* Returns how many bytes of samples wake the monitor. */
static uint32_t wake_bytes(const struct backend *backend)
{
	size_t wake = (size_t)stack_bytes(backend, &backend->resources[0]) * WAKE_SAMPLES;
	return (uint32_t)(wake < backend->sample_ring_bytes / 2 ? wake : backend->sample_ring_bytes / 2);
}

static int map_rings(struct backend *backend, size_t side_bytes, struct error *error)
{
	backend->side = side_events_new(&backend->request, side_bytes, false, error);
	int result = backend->side ? 0 : error->code;
	for (size_t i = 0; i < backend->cpus.count && result == 0; i++)
		result = perf_events_make_ring(&backend->rings[i], 0, backend->cpus.ids[i], backend->sample_ring_bytes,
					       wake_bytes(backend), error);
	return result;
}

static void unmap_rings(struct backend *backend)
{
	for (size_t i = 0; backend->rings && i < backend->cpus.count; i++)
		ring_unmap(&backend->rings[i]);
	side_events_free(backend->side);
	backend->side = NULL;
}

/* Maps rings as large as the kernel permits: it also counts what the user's other processes have locked, and in a user
 * namespace it ignores our capability. Returns 0 or a negative error. */
static int make_rings(struct backend *backend, struct error *error)
{
	int result = cpus_find(&backend->cpus, error);
	if (result < 0)
		return result;
	size_t side_rings = backend->request.data_maps ? 2 : 1;
	size_t side_bytes;
	size_t wanted = backend->request.everything || perf_draws_any(&backend->request) ? MACHINE_RING_BYTES
											 : SAMPLE_RING_BYTES;
	perf_access_ring_sizes(backend->cpus.count, SIDE_EVENTS_RING_BYTES * side_rings, wanted, SAMPLE_RING_MIN_BYTES,
			       &side_bytes, &backend->sample_ring_bytes);
	side_bytes /= side_rings;
	backend->rings = calloc(backend->cpus.count, sizeof(*backend->rings));
	if (!backend->rings)
		return error_memory(error);
	result = map_rings(backend, side_bytes, error);
	while (result == ERROR_LIMIT && backend->sample_ring_bytes > SAMPLE_RING_MIN_BYTES) {
		unmap_rings(backend);
		backend->sample_ring_bytes /= 2;
		if (side_bytes > SIDE_EVENTS_RING_MIN_BYTES)
			side_bytes /= 2;
		result = map_rings(backend, side_bytes, error);
	}
	return result == ERROR_LIMIT ? error_set_code(error, ERROR_PERMISSION) : result;
}

static void perf_close(struct backend *backend)
{
	if (!backend)
		return;
	perf_events_release(&backend->events);
	perf_events_release(&backend->keepers);
	unmap_rings(backend);
	free(backend->rings);
	cpus_release(&backend->cpus);
	perf_streams_release(&backend->streams);
	free(backend);
}

static struct backend *perf_open(const struct backend_request *request, struct error *error)
{
	struct backend *backend = calloc(1, sizeof(*backend));
	if (!backend) {
		error_memory(error);
		return NULL;
	}
	backend->request = *request;
	memcpy(backend->resources, request->resources, request->resource_count * sizeof(backend->resources[0]));
	backend->request.resources = backend->resources;
	if (check_children(request, error) < 0 || make_rings(backend, error) < 0) {
		perf_close(backend);
		return NULL;
	}
	backend->reports_lost = perf_events_count_lost();
	backend->reports_creations = request->creations && new_task_find(&backend->new_task);
	uint32_t random = 0;
	/* Without a random number, this run has the same periods as all others without one. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) == sizeof(random))
		backend->chance = (double)random / UINT32_MAX;
	perf_draws_init(&backend->draws, &backend->request);
	return backend;
}

/* --- attach --- */

/* As perf_events_add. */
static int add_event(struct backend *backend, struct perf_event_attr *attr, pid_t tid, size_t cpu, uint32_t tag,
		     struct error *error)
{
	return perf_events_add(&backend->events, attr, tid, backend->cpus.ids[cpu], &backend->rings[cpu], tag, error);
}

/* As period_pair_plan. */
static unsigned plan_periods(const struct backend *backend, size_t request, uint64_t periods[PERIODS_MAX])
{
	const struct resource_request *resource = &backend->resources[request];
	uint64_t interval = perf_draws_from(resource) ? 1 : resource->interval;
	return period_pair_plan(interval, resource->row->is_hardware, backend->chance, periods);
}

static int attach_cpu(struct backend *backend, pid_t tid, size_t cpu, bool on_exec, struct error *error)
{
	struct perf_event_attr attr;
	for (size_t i = 0; i < backend->request.resource_count; i++) {
		uint64_t periods[PERIODS_MAX];
		unsigned count = plan_periods(backend, i, periods);
		for (unsigned event = 0; event < count; event++) {
			sample_attributes(backend, &backend->resources[i], periods[event], tid, on_exec, &attr);
			int result = add_event(backend, &attr, tid, cpu, tag_of(i, event), error);
			if (result <= 0)
				return result;
		}
	}
	if (!backend->reports_creations)
		return 1;
	creation_attributes(backend, tid, on_exec, &attr);
	int result = add_event(backend, &attr, tid, cpu, CREATES, NULL);
	/* Without the privilege for tracepoints, creations are not reported. This is not tested
	 * beforehand, because closing such an event takes the kernel some 30 ms. */
	if (result < 0)
		backend->reports_creations = false;
	return result < 0 ? 1 : result;
}

/* Without this event, samples may be missing: older kernels have none. */
static void keep_events(struct backend *backend, pid_t tid)
{
	struct perf_event_attr attr;
	perf_events_keep_attributes(&attr);
	attr.inherit_thread = backend->request.no_children;
	perf_events_add(&backend->keepers, &attr, tid, -1, NULL, 0, NULL);
}

static int perf_attach(struct backend *backend, pid_t pid, pid_t tid, bool on_exec, struct error *error)
{
	(void)pid;
	if (side_events_is_watched(backend->side, tid))
		return 0;
	if (!on_exec && tid != PERF_EVENTS_EVERYTHING)
		keep_events(backend, tid);
	for (size_t i = 0; i < backend->cpus.count; i++) {
		int result = attach_cpu(backend, tid, i, on_exec, error);
		if (result <= 0)
			return result;
	}
	backend->attached++;
	return side_events_attach(backend->side, tid, on_exec, error);
}

static int perf_start(struct backend *backend, struct error *error)
{
	side_events_start(backend->side);
	int result = perf_events_enable(&backend->events, 0, error);
	perf_events_release(&backend->keepers);
	return result;
}

static void perf_stop(struct backend *backend)
{
	perf_events_disable(&backend->events);
	side_events_stop(backend->side);
}

/* --- drain --- */

static size_t perf_descriptors(const struct backend *backend, struct pollfd *descriptors, size_t limit)
{
	size_t count = ring_descriptors(backend->rings, backend->cpus.count, descriptors, limit);
	size_t left = count < limit ? limit - count : 0;
	return count + side_events_descriptors(backend->side, left ? descriptors + count : NULL, left);
}

/* Reports the start of a thread. For the start of a process that is known only if clone's stack is 0, as fork has it:
 * then the new process has a copy of its creator's. */
static void deliver_creation(const struct backend *backend, struct backend_sample *sample,
			     const struct perf_record_origin *origin, const struct backend_sink *sink)
{
	uint32_t child;
	bool is_thread;
	if (!new_task_read(&backend->new_task, origin->data, origin->data_bytes, &child, &is_thread))
		return;
	if (!is_thread && (!sample->has_registers || sample->registers.value[ARCH_CLONE_STACK] == 0))
		return;
	sample->created_pid = is_thread ? 0 : child;
	sample->may_be_copied = !is_thread;
	sink->creates(sink->context, sample, child);
}

static void deliver_sample(struct backend *backend, size_t cpu, const struct perf_event_header *record,
			   const struct backend_sink *sink)
{
	struct backend_sample sample;
	struct perf_record_origin origin;
	if (!perf_record_sample(record, &sample, &origin))
		return;
	const struct perf_event *event = perf_events_find(&backend->events, origin.event_id);
	if (!event)
		return;
	/* Nothing has inherited an event twice if only one thread was attached. */
	bool is_repeated = backend->attached > 1 && !perf_streams_take(&backend->streams, sample.tid, cpu, event->tag,
								       event->tid, sample.time_ns);
	if (sample.tid == NO_LONGER_A_THREAD)
		sample.pid = sample.tid = 0;
	if (is_repeated) {
		backend->repeated[event->tag]++;
	} else if (event->tag == CREATES) {
		deliver_creation(backend, &sample, &origin, sink);
	} else {
		sample.request = event->tag / PERIODS_MAX;
		sample.hits = perf_draws_next(&backend->draws, &backend->request, sample.request);
		sample.has_touched = counter_is_fault(backend->resources[sample.request].counter);
		if (sample.hits > 0)
			sink->sample(sink->context, &sample);
	}
}

static void deliver_from(struct backend *backend, struct ring *ring, const struct backend_sink *sink)
{
	const struct perf_event_header *record = ring_peek(ring);
	/* A lost event that would have been drawn from is a part of a sample: perf_counts has them. */
	bool is_counted =
		record->type == PERF_RECORD_LOST && backend->reports_lost && perf_draws_any(&backend->request);
	if (record->type == PERF_RECORD_SAMPLE)
		deliver_sample(backend, (size_t)(ring - backend->rings), record, sink);
	else if (!is_counted)
		perf_record_deliver(record, perf_record_time(record), sink, true);
	ring_next(ring);
	/* Released at once: a burst may need the room. */
	ring_release(ring);
}

static bool perf_drain(struct backend *backend, uint64_t until_ns, const struct backend_sink *sink)
{
	side_events_refresh(backend->side);
	for (size_t i = 0; i < backend->cpus.count; i++)
		if (backend->rings[i].memory)
			ring_refresh(&backend->rings[i]);
	for (;;) {
		uint64_t side_time = 0, time = 0;
		bool is_side = side_events_peek(backend->side, &side_time);
		struct ring *ring = perf_record_earliest(backend->rings, backend->cpus.count, &time);
		if (is_side && (!ring || side_time <= time)) {
			if (side_time > until_ns)
				break;
			struct side_fork fork = side_events_deliver(backend->side, sink);
			if (fork.is_watched_twice)
				perf_events_drop_thread(&backend->events, fork.tid);
			if (fork.tid && backend->attached > 1)
				perf_streams_restart(&backend->streams, (uint32_t)fork.tid);
		} else if (ring && time <= until_ns) {
			deliver_from(backend, ring, sink);
		} else {
			break;
		}
	}
	return false; /* waiting samples contain their stacks */
}

static bool perf_is_urgent(const struct backend *backend)
{
	return perf_draws_any(&backend->request);
}

static struct backend_counts perf_counts(const struct backend *backend, size_t request)
{
	struct backend_counts counts = { .lost = backend->reports_lost ? 0 : UINT64_MAX };
	for (size_t i = 0; i < backend->events.count; i++) {
		const struct perf_event *event = &backend->events.events[i];
		uint64_t values[2] = { 0, 0 }; /* the count; with PERF_FORMAT_LOST also the lost */
		if (event->tag / PERIODS_MAX != request || read(event->fd, values, sizeof(values)) <= 0)
			continue;
		if (event->tag % PERIODS_MAX == 0) /* both events of a period pair count the same */
			counts.total += values[0];
		if (backend->reports_lost)
			counts.lost += values[1];
	}
	uint64_t periods[PERIODS_MAX];
	plan_periods(backend, request, periods);
	uint64_t repeated = backend->repeated[tag_of(request, 0)] * periods[0];
	counts.total -= repeated < counts.total ? repeated : counts.total;
	if (perf_draws_from(&backend->resources[request]))
		counts.taken = counts.total;
	if (backend->reports_lost)
		counts.lost = perf_draws_lost(&backend->resources[request], counts.lost);
	/* The CPU clock counts time in all modes, whichever are sampled; for a whole CPU it also counts
	 * idle time. Such a count is no total. */
	if (backend->resources[request].row->is_time &&
	    (backend->resources[request].row->modes != RESOURCE_ALL_MODES || backend->request.user_mode_only ||
	     backend->request.everything))
		counts.total = 0;
	return counts;
}

static void perf_add_findings(const struct backend *backend, struct profile *profile)
{
	enum { KB = 1024 };
	if (backend->sample_ring_bytes < SAMPLE_RING_AMPLE_BYTES)
		finding_add(profile, FINDING_RINGS_SMALL, 0,
			    "rings of only %zu KB for each CPU: locked memory is limited",
			    backend->sample_ring_bytes / KB);
	if (backend->request.creations && !backend->reports_creations)
		finding_add(profile, FINDING_STARTS_NOT_RECORDED, 0, "paths of threads begin at their start functions");
}

const struct backend_vtable backend_perf = {
	.name = "perf",
	.has_kernel = true,
	.serves = perf_serves,
	.probe = perf_probe,
	.open = perf_open,
	.attach = perf_attach,
	.start = perf_start,
	.descriptors = perf_descriptors,
	.drain = perf_drain,
	.is_urgent = perf_is_urgent,
	.stop = perf_stop,
	.counts = perf_counts,
	.add_findings = perf_add_findings,
	.close = perf_close,
};
