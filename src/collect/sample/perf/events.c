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

bool perf_events_are_accepted(struct perf_event_attr *attr)
{
	int fd = perf_events_open(attr, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Maps the ring for its first event; later events write to the same ring. */
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
				 "cannot map a ring buffer of %zu KB for each CPU: it exceeds the limit of locked "
				 "memory (raise kernel.perf_event_mlock_kb, or 'ulimit -l')",
				 data_bytes / 1024);
	errno = -result;
	return result < 0 ? error_set_errno(error, "cannot map a perf ring buffer") : 0;
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

int perf_events_add(struct perf_events *events, struct perf_event_attr *attr, pid_t tid, int cpu, struct ring *ring,
		    size_t ring_bytes, uint32_t tag, struct error *error)
{
	if (ARRAY_RESERVE(events->events, events->capacity, events->count + 1) < 0)
		return error_set(error, ERROR_MEMORY, "out of memory");
	int fd = perf_events_open(attr, tid, cpu);
	if (fd < 0)
		return errno == ESRCH ? 0 : refused(tid, error);
	int result = ring ? connect_ring(ring, fd, ring_bytes, error) : 0;
	if (result < 0) {
		close(fd);
		return result;
	}
	events->events[events->count++] = (struct perf_event){ .fd = fd, .tid = tid, .tag = tag };
	return 1;
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
	*events = (struct perf_events){ .events = NULL };
}
