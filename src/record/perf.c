/*
 * The perf backend: perf_event_open with user registers and a copy of the
 * user stack.
 *
 *   (1) Every watched thread has, per CPU, one event per train of each resource
 *       and one "side" event that counts nothing but tells of maps, forks, names
 *       and exits. All are inherited by what the thread starts.
 *   (2) Per CPU there are two rings: one for samples, one for the rest, so that
 *       a burst of samples cannot push out what is needed to read them.
 *   (3) Records are delivered in order of time over all rings, never beyond
 *       `until_ns`: the caller keeps that a little behind the clock, since a
 *       record gets its time before it is seen in the ring.
 *   (4) Nothing waits here: the rings are drained as far as they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "record/backend.h"
#include "record/perf_access.h"
#include "record/perf_record.h"
#include "record/ring.h"
#include "record/trains.h"
#include "record/x86_64/perf_registers.h"

enum {
	SIDE = UINT16_MAX,            /* event.request of a side event */
	SIDE_RING_BYTES = 256 * 1024, /* some 2,000 maps */
	SAMPLE_RING_BYTES = 8 * 1024 * 1024,
	SAMPLE_RING_MIN_BYTES = 64 * 1024,
	/* Of the stack, nearly 64 KB are copied for time (a record has at most 64 KB in
	 * all) and 16 KB for counted events, which come in bursts: most programs' whole
	 * stack (sqlite3's shell has 18 KB at most). The kernel copies only what is
	 * there. What is above is read from the target (stack.h). */
	TIME_STACK_BYTES = 63 * 1024,
	COUNT_STACK_BYTES = 16 * 1024,
	STACK_BYTES_MIN = 8 * 1024,
	/* A ring should hold at least so many samples, and for so long. */
	RING_SAMPLES_MIN = 16,
	RING_HOLDS_NS = 50 * 1000 * 1000,
	WAKE_SAMPLES = 8,
};

enum { WATCHED_DIRECTLY = 1, WATCHED_BY_INHERITANCE };

struct event {
	int fd;
	pid_t tid;
	bool is_off;      /* its thread turned out to be watched by inheritance too */
	uint16_t request; /* index, or SIDE */
	uint16_t train;
};

struct cpu_rings {
	int cpu;
	struct ring samples;
	struct ring side;
};

struct backend {
	struct backend_request request;
	struct resource_request resources[RESOURCE_REQUESTS_MAX];
	struct event *events;
	size_t event_count, event_capacity;
	struct hash_map request_by_id; /* event id -> index of the request */
	struct hash_map watched;       /* thread ids -> how they came to be watched */
	struct cpu_rings *cpus;
	size_t cpu_count;
	size_t sample_ring_bytes, side_ring_bytes;
	double chance; /* 0 to 1: what makes this run's periods its own (trains.h) */
	bool started;
	bool can_tell_lost;     /* the kernel counts lost samples per event (6.0) */
	bool can_tell_build_id; /* ... and puts build-ids into maps (5.12) */
};

/* --- opening events --- */

static int open_event(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void common_attributes(struct perf_event_attr *attr, bool on_exec)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = on_exec,
		.exclude_hv = 1,
		.exclude_guest = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.sample_type = PERF_RECORD_SAMPLE_TYPE,
	};
}

static void side_attributes(const struct backend *backend, struct perf_event_attr *attr, bool on_exec)
{
	common_attributes(attr, on_exec);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr->exclude_kernel = 1; /* maps are told all the same, and no privilege is needed */
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->build_id = backend->can_tell_build_id;
	attr->wakeup_watermark = (uint32_t)(backend->side_ring_bytes / 4);
}

/* How much of the stack is copied: so much that a ring still holds the samples of
 * RING_HOLDS_NS, or RING_SAMPLES_MIN of those that come at no known rate. */
static uint32_t stack_bytes(const struct backend *backend, const struct resource_request *resource)
{
	bool is_time = resource->row->is_time;
	size_t wanted = is_time ? TIME_STACK_BYTES : COUNT_STACK_BYTES;
	size_t samples = is_time ? RING_HOLDS_NS / resource->interval : 0;
	size_t fits = backend->sample_ring_bytes / (samples > RING_SAMPLES_MIN ? samples : RING_SAMPLES_MIN);
	if (fits < STACK_BYTES_MIN && backend->sample_ring_bytes >= STACK_BYTES_MIN * RING_SAMPLES_MIN)
		fits = STACK_BYTES_MIN;
	return (uint32_t)(wanted < fits ? wanted : fits) / sizeof(uint64_t) * sizeof(uint64_t);
}

static void sample_attributes(const struct backend *backend, const struct resource_request *resource, uint64_t period,
			      struct perf_event_attr *attr, bool on_exec)
{
	const struct resource_row *row = resource->row;
	common_attributes(attr, on_exec);
	attr->type = row->perf_type;
	attr->config = row->perf_config;
	attr->sample_period = period;
	attr->exclude_kernel = row->modes == RESOURCE_USER_MODE || backend->request.user_mode_only;
	attr->exclude_user = row->modes == RESOURCE_KERNEL_MODE;
	attr->sample_regs_user = PERF_REGISTER_MASK;
	attr->sample_stack_user = stack_bytes(backend, resource);
	attr->read_format = backend->can_tell_lost ? PERF_FORMAT_LOST : 0;
	size_t wake = (size_t)attr->sample_stack_user * WAKE_SAMPLES;
	attr->wakeup_watermark =
		(uint32_t)(wake < backend->sample_ring_bytes / 2 ? wake : backend->sample_ring_bytes / 2);
}

/* --- probe: perf_access.c says what is permitted --- */

static int perf_probe(const struct resource_request *request, bool *user_mode_only, struct error *error)
{
	const struct resource_row *row = request->row;
	struct perf_event_attr attr;
	if (!row->on_perf)
		return error_set(error, ERROR_UNSUPPORTED, "the perf backend cannot measure %s: the bpf backend can",
				 request->name);
	common_attributes(&attr, false);
	attr.type = row->perf_type;
	attr.config = row->perf_config;
	attr.sample_period = row->default_interval;
	attr.sample_regs_user = PERF_REGISTER_MASK;
	attr.sample_stack_user = COUNT_STACK_BYTES;
	attr.exclude_kernel = row->modes == RESOURCE_USER_MODE;
	attr.exclude_user = row->modes == RESOURCE_KERNEL_MODE;
	*user_mode_only = false;
	int fd = open_event(&attr, 0, -1);
	int refusal = fd < 0 ? errno : 0;
	/* Refused for want of privilege: would user mode alone be permitted? */
	if ((refusal == EACCES || refusal == EPERM) && !attr.exclude_kernel) {
		attr.exclude_user = 0;
		attr.exclude_kernel = 1;
		fd = open_event(&attr, 0, -1);
		*user_mode_only = fd >= 0;
		if (fd < 0 && errno != EACCES && errno != EPERM)
			refusal = errno; /* what the lack of privilege hid */
	}
	if (fd >= 0)
		close(fd);
	bool is_needed = *user_mode_only && row->needs_kernel;
	return fd < 0 || is_needed ? perf_access_refused(row, refusal, *user_mode_only, error) : 0;
}

/* --- open and close --- */

static void perf_close(struct backend *backend)
{
	if (!backend)
		return;
	for (size_t i = 0; i < backend->cpu_count; i++) {
		ring_unmap(&backend->cpus[i].samples);
		ring_unmap(&backend->cpus[i].side);
	}
	for (size_t i = 0; i < backend->event_count; i++)
		close(backend->events[i].fd);
	free(backend->events);
	free(backend->cpus);
	hash_map_release(&backend->request_by_id);
	hash_map_release(&backend->watched);
	free(backend);
}

/* The CPUs that are online, from a list like "0-3,8". 0 or an error. */
static int find_cpus(struct backend *backend, struct error *error)
{
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	unsigned first, last;
	size_t capacity = 0;
	int separator = ',';
	while (file && separator == ',' && fscanf(file, "%u", &first) == 1) {
		last = first;
		separator = fgetc(file);
		if (separator == '-') {
			if (fscanf(file, "%u", &last) != 1)
				break;
			separator = fgetc(file);
		}
		for (unsigned cpu = first; cpu <= last; cpu++) {
			if (ARRAY_RESERVE(backend->cpus, capacity, backend->cpu_count + 1) < 0) {
				fclose(file);
				return error_set(error, ERROR_MEMORY, "out of memory");
			}
			backend->cpus[backend->cpu_count++] = (struct cpu_rings){ .cpu = (int)cpu };
		}
	}
	if (file)
		fclose(file);
	if (backend->cpu_count == 0)
		return error_set(error, ERROR_SYSTEM,
				 "cannot tell which CPUs there are: /sys/devices/system/cpu/online is unreadable");
	return 0;
}

static bool is_accepted(struct perf_event_attr *attr)
{
	int fd = open_event(attr, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* What this kernel's perf_event_open knows, tried on ourselves. */
static void find_abilities(struct backend *backend)
{
	struct perf_event_attr attr;
	backend->can_tell_build_id = true;
	side_attributes(backend, &attr, false);
	backend->can_tell_build_id = is_accepted(&attr);
	side_attributes(backend, &attr, false);
	attr.read_format = PERF_FORMAT_LOST;
	backend->can_tell_lost = is_accepted(&attr);
}

static struct backend *perf_open(const struct backend_request *request, struct error *error)
{
	struct backend *backend = calloc(1, sizeof(*backend));
	if (!backend) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	backend->request = *request;
	memcpy(backend->resources, request->resources, request->resource_count * sizeof(backend->resources[0]));
	backend->request.resources = backend->resources;
	hash_map_init(&backend->request_by_id);
	hash_map_init(&backend->watched);
	if (find_cpus(backend, error) < 0) {
		perf_close(backend);
		return NULL;
	}
	perf_access_ring_sizes(backend->cpu_count, SIDE_RING_BYTES, SAMPLE_RING_BYTES, SAMPLE_RING_MIN_BYTES,
			       &backend->side_ring_bytes, &backend->sample_ring_bytes);
	find_abilities(backend);
	uint32_t random = 0;
	/* Without randomness this run has the periods of another. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) == sizeof(random))
		backend->chance = (double)random / UINT32_MAX;
	return backend;
}

/* --- attach --- */

static int keep_event(struct backend *backend, int fd, pid_t tid, uint16_t request, uint16_t train)
{
	uint64_t id;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0 ||
	    ARRAY_RESERVE(backend->events, backend->event_capacity, backend->event_count + 1) < 0 ||
	    hash_map_put(&backend->request_by_id, id, request) < 0) {
		close(fd);
		return ERROR_MEMORY;
	}
	backend->events[backend->event_count++] =
		(struct event){ .fd = fd, .tid = tid, .request = request, .train = train };
	return 0;
}

/* The first event of a CPU gets a ring, later ones write to the same. */
static int connect_ring(struct ring *ring, int fd, size_t data_bytes, struct error *error)
{
	if (ring->memory) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0)
			return error_set_errno(error, "cannot share a ring buffer between perf events");
		return 0;
	}
	int result = ring_map(ring, fd, data_bytes);
	if (result == -EPERM)
		return error_set(error, ERROR_PERMISSION,
				 "a ring buffer of %zu KB for each CPU is over the limit of locked memory: raise "
				 "kernel.perf_event_mlock_kb "
				 "(sysctl), or the limit 'ulimit -l'",
				 data_bytes / 1024);
	errno = -result;
	return result < 0 ? error_set_errno(error, "cannot map a perf ring buffer") : 0;
}

/* 1: opened; 0: the thread is gone. */
static int add_event(struct backend *backend, struct perf_event_attr *attr, pid_t tid, struct cpu_rings *cpu,
		     uint16_t request, uint16_t train, struct error *error)
{
	int fd = open_event(attr, tid, cpu->cpu);
	if (fd < 0 && errno == ESRCH)
		return 0;
	if (fd < 0 && errno == EMFILE)
		return error_set(error, ERROR_LIMIT,
				 "too many perf events (one or more for each thread and CPU) for the limit of open "
				 "files: raise it with 'ulimit -n'");
	if (fd < 0)
		return error_set_errno(error, "cannot watch thread %d", (int)tid);
	bool side = request == SIDE;
	int result = connect_ring(side ? &cpu->side : &cpu->samples, fd,
				  side ? backend->side_ring_bytes : backend->sample_ring_bytes, error);
	if (result < 0) {
		close(fd);
		return result;
	}
	if (keep_event(backend, fd, tid, request, train) < 0)
		return error_set(error, ERROR_MEMORY, "out of memory");
	return 1;
}

static int attach_cpu(struct backend *backend, pid_t tid, struct cpu_rings *cpu, bool on_exec, struct error *error)
{
	struct perf_event_attr attr;
	for (size_t i = 0; i < backend->request.resource_count; i++) {
		const struct resource_request *resource = &backend->resources[i];
		uint64_t periods[TRAINS_MAX];
		unsigned trains = trains_plan(resource->interval, resource->row->is_hardware, backend->chance, periods);
		for (unsigned train = 0; train < trains; train++) {
			sample_attributes(backend, resource, periods[train], &attr, on_exec);
			int result = add_event(backend, &attr, tid, cpu, (uint16_t)i, (uint16_t)train, error);
			if (result <= 0)
				return result;
		}
	}
	/* Last, so that a fork that is told of was inherited by the others too. */
	side_attributes(backend, &attr, on_exec);
	return add_event(backend, &attr, tid, cpu, SIDE, 0, error);
}

static int perf_attach(struct backend *backend, pid_t tid, bool on_exec, struct error *error)
{
	if (hash_map_get(&backend->watched, (uint64_t)tid) != HASH_MAP_NONE)
		return 0;
	if (hash_map_put(&backend->watched, (uint64_t)tid, WATCHED_DIRECTLY) < 0)
		return error_set(error, ERROR_MEMORY, "out of memory");
	size_t first_event = backend->event_count;
	backend->started |= on_exec;
	for (size_t i = 0; i < backend->cpu_count; i++) {
		int result = attach_cpu(backend, tid, &backend->cpus[i], on_exec, error);
		if (result <= 0)
			return result;
	}
	/* Side events of running threads tell from now on: see attach in target.c. */
	for (size_t i = first_event; !on_exec && i < backend->event_count; i++)
		if (backend->events[i].request == SIDE)
			ioctl(backend->events[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	return 1;
}

static int perf_start(struct backend *backend, struct error *error)
{
	backend->started = true;
	for (size_t i = 0; i < backend->event_count; i++)
		if (backend->events[i].request != SIDE && !backend->events[i].is_off &&
		    ioctl(backend->events[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			return error_set_errno(error, "cannot start a perf event");
	return 0;
}

static void perf_stop(struct backend *backend)
{
	for (size_t i = 0; i < backend->event_count; i++)
		ioctl(backend->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* --- drain --- */

static size_t perf_descriptors(const struct backend *backend, struct pollfd *descriptors, size_t limit)
{
	size_t count = 0;
	for (size_t i = 0; i < backend->cpu_count; i++) {
		const struct ring *rings[] = { &backend->cpus[i].samples, &backend->cpus[i].side };
		for (size_t j = 0; j < 2; j++) {
			if (!rings[j]->memory)
				continue;
			if (count < limit)
				descriptors[count] = (struct pollfd){ .fd = rings[j]->fd, .events = POLLIN };
			count++;
		}
	}
	return count;
}

/* A thread that a watched one starts inherits its events: no need to attach.
 * If that was done between its start and our being told of it, it is watched
 * twice: what it inherited stays. */
static void note_inherited(struct backend *backend, const struct perf_event_header *record)
{
	uint32_t ids[4]; /* pid, ppid, tid, ptid */
	if (record->type != PERF_RECORD_FORK || record->size < sizeof(*record) + sizeof(ids))
		return;
	memcpy(ids, record + 1, sizeof(ids));
	uint32_t how = hash_map_get(&backend->watched, ids[2]);
	for (size_t i = 0; how == WATCHED_DIRECTLY && i < backend->event_count; i++) {
		if (backend->events[i].tid == (pid_t)ids[2]) {
			ioctl(backend->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
			backend->events[i].is_off = true;
		}
	}
	/* Of threads that start later nobody asks whether they are watched. */
	if (how != HASH_MAP_NONE || !backend->started)
		hash_map_put(&backend->watched, ids[2], WATCHED_BY_INHERITANCE);
}

static void deliver(struct backend *backend, const struct perf_event_header *record, bool is_sample_ring,
		    const struct backend_sink *sink)
{
	if (record->type != PERF_RECORD_SAMPLE) {
		note_inherited(backend, record);
		perf_record_deliver(record, sink, is_sample_ring);
		return;
	}
	struct backend_sample sample;
	uint64_t id;
	if (!perf_record_sample(record, &sample, &id))
		return;
	uint32_t request = hash_map_get(&backend->request_by_id, id);
	if (request >= backend->request.resource_count)
		return;
	sample.request = request;
	sample.hits = 1;
	sink->sample(sink->context, &sample);
}

/* The ring whose next record is the earliest, or NULL; *time is its time. */
static struct ring *earliest(struct backend *backend, uint64_t *time, bool *is_sample_ring)
{
	struct ring *found = NULL;
	*time = UINT64_MAX;
	for (size_t i = 0; i < backend->cpu_count; i++) {
		struct ring *rings[] = { &backend->cpus[i].side, &backend->cpus[i].samples };
		for (int j = 0; j < 2; j++) {
			const struct perf_event_header *record = rings[j]->memory ? ring_peek(rings[j]) : NULL;
			uint64_t record_time = record ? perf_record_time(record) : UINT64_MAX;
			if (record && (record_time < *time || !found)) {
				found = rings[j];
				*time = record_time;
				*is_sample_ring = j == 1;
			}
		}
	}
	return found;
}

static void perf_drain(struct backend *backend, uint64_t until_ns, const struct backend_sink *sink)
{
	for (size_t i = 0; i < backend->cpu_count; i++) {
		if (backend->cpus[i].side.memory)
			ring_refresh(&backend->cpus[i].side);
		if (backend->cpus[i].samples.memory)
			ring_refresh(&backend->cpus[i].samples);
	}
	uint64_t time;
	bool is_sample_ring = false;
	struct ring *ring;
	while ((ring = earliest(backend, &time, &is_sample_ring)) != NULL && time <= until_ns) {
		deliver(backend, ring_peek(ring), is_sample_ring, sink);
		ring_next(ring);
		/* Given back at once: a burst may be waiting for the room. */
		ring_release(ring);
	}
}

static void perf_counts(const struct backend *backend, size_t request, uint64_t *total, uint64_t *lost)
{
	*total = 0;
	*lost = backend->can_tell_lost ? 0 : UINT64_MAX;
	for (size_t i = 0; i < backend->event_count; i++) {
		const struct event *event = &backend->events[i];
		uint64_t values[2] = { 0, 0 }; /* the count; with PERF_FORMAT_LOST also the lost */
		if (event->request != request || read(event->fd, values, sizeof(values)) <= 0)
			continue;
		if (event->train == 0) /* every train counts the same */
			*total += values[0];
		if (backend->can_tell_lost)
			*lost += values[1];
	}
	/* The CPU clock counts all modes, whichever are sampled. */
	if (backend->resources[request].row->is_time &&
	    (backend->resources[request].row->modes != RESOURCE_ALL_MODES || backend->request.user_mode_only))
		*total = 0;
}

const struct backend_vtable backend_perf = {
	.name = "perf",
	.probe = perf_probe,
	.open = perf_open,
	.attach = perf_attach,
	.start = perf_start,
	.descriptors = perf_descriptors,
	.drain = perf_drain,
	.stop = perf_stop,
	.counts = perf_counts,
	.close = perf_close,
};
