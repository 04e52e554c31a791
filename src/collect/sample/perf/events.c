#include "collect/sample/perf/events.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/sample/perf/access.h"
#include "collect/sample/perf/ring.h"

void perf_events_attributes(struct perf_event_attr *attr, pid_t tid, bool on_exec)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.disabled = 1,
		.inherit = tid != PERF_EVENTS_EVERYTHING,
		.enable_on_exec = on_exec,
		.exclude_hv = 1,
		.exclude_guest = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
	};
}

int perf_events_open(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

bool perf_events_are_accepted(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = perf_events_open(attr, tid, cpu);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Sets the attributes of an event that needs no privilege and counts nothing. */
static void dummy_attributes(struct perf_event_attr *attr)
{
	perf_events_attributes(attr, 0, false);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->exclude_kernel = 1;
}

void perf_events_keep_attributes(struct perf_event_attr *attr)
{
	dummy_attributes(attr);
	attr->sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
}

bool perf_events_leave_children(void)
{
	struct perf_event_attr attr;
	dummy_attributes(&attr);
	attr.inherit_thread = 1;
	return perf_events_are_accepted(&attr, 0, -1);
}

bool perf_events_count_lost(void)
{
	struct perf_event_attr attr;
	dummy_attributes(&attr);
	attr.read_format = PERF_FORMAT_LOST;
	return perf_events_are_accepted(&attr, 0, -1);
}

int perf_events_make_ring(struct ring *ring, pid_t tid, int cpu, size_t data_bytes, uint32_t wake_bytes,
			  struct error *error)
{
	struct perf_event_attr attr;
	dummy_attributes(&attr);
	attr.inherit = 0;
	attr.wakeup_watermark = wake_bytes;
	*ring = (struct ring){ .fd = -1 };
	int fd = perf_events_open(&attr, tid, cpu);
	if (fd < 0 && tid == PERF_EVENTS_EVERYTHING)
		return perf_access_everything_refused(errno, error);
	if (fd < 0)
		return error_set_errno(error, "cannot open a perf event for a ring buffer");
	int result = ring_map(ring, fd, data_bytes);
	if (result == 0)
		return 0;
	close(fd);
	if (result == -EPERM)
		return error_set(error, ERROR_LIMIT,
				 "cannot map a ring buffer of %zu KB for each CPU: rings exceed the limit of locked "
				 "memory (raise kernel.perf_event_mlock_kb, or 'ulimit -l')",
				 data_bytes / 1024);
	errno = -result;
	return error_set_errno(error, "cannot map a perf ring buffer");
}

static int refused(pid_t tid, struct error *error)
{
	if (errno == EMFILE)
		return error_set(
			error, ERROR_LIMIT,
			"cannot open a perf event for each thread and CPU: too many open files (raise 'ulimit -n')");
	if (tid == PERF_EVENTS_EVERYTHING)
		return perf_access_everything_refused(errno, error);
	return error_set_errno(error, "cannot observe thread %d", (int)tid);
}

int perf_events_add(struct perf_events *events, struct perf_event_attr *attr, pid_t tid, int cpu,
		    const struct ring *ring, uint32_t tag, struct error *error)
{
	if (ARRAY_RESERVE(events->events, events->capacity, events->count + 1) < 0)
		return error_memory(error);
	int fd = perf_events_open(attr, tid, cpu);
	if (fd < 0)
		return errno == ESRCH ? 0 : refused(tid, error);
	uint64_t id;
	int result = 1;
	if (ring && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0)
		result = error_set_errno(error, "cannot share a ring buffer between perf events");
	else if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
		result = error_set_errno(error, "cannot read the id of a perf event");
	else if (hash_map_put(&events->by_id, id, (uint32_t)events->count) < 0)
		result = error_memory(error);
	if (result < 0)
		close(fd);
	else
		events->events[events->count++] = (struct perf_event){ .fd = fd, .tid = tid, .tag = tag };
	return result;
}

const struct perf_event *perf_events_find(const struct perf_events *events, uint64_t id)
{
	uint32_t index = hash_map_get(&events->by_id, id);
	return index == HASH_MAP_NONE ? NULL : &events->events[index];
}

int perf_events_enable(const struct perf_events *events, size_t first, struct error *error)
{
	for (size_t i = first; i < events->count; i++)
		if (!events->events[i].is_off && ioctl(events->events[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			return error_set_errno(error, "cannot start a perf event");
	return 0;
}

void perf_events_disable(const struct perf_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		ioctl(events->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void perf_events_drop_thread(struct perf_events *events, pid_t tid)
{
	for (size_t i = 0; i < events->count; i++) {
		if (events->events[i].tid == tid) {
			ioctl(events->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
			events->events[i].is_off = true;
		}
	}
}

void perf_events_release(struct perf_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		close(events->events[i].fd);
	free(events->events);
	hash_map_release(&events->by_id);
	*events = (struct perf_events){ .events = NULL };
}
