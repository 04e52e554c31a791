/* Writes records into the present thread's ring. */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "collect/agent/core/filter.h"
#include "collect/agent/core/runtime.h"
#include "processor/agent/machine.h"

enum { NS_PER_MS = 1000000 };

void runtime_ring_bell(void)
{
	struct channel *channel = runtime.channel;
	if (runtime.alone)
		return;
	__atomic_add_fetch(&channel->bell, 1, __ATOMIC_RELEASE);
	if (__atomic_load_n(&channel->bell_wanted, __ATOMIC_ACQUIRE))
		machine_syscall(SYS_futex, (long)&channel->bell, FUTEX_WAKE, 1, 0, 0, 0);
}

static void put(uint8_t *ring, uint64_t at, const void *bytes, size_t size)
{
	size_t within = at & (CHANNEL_RING_BYTES - 1);
	size_t room = CHANNEL_RING_BYTES - within;
	size_t part = size < room ? size : room;
	memcpy(ring + within, bytes, part);
	memcpy(ring, (const uint8_t *)bytes + part, size - part);
}

bool runtime_is_elsewhere(void)
{
	long pid = machine_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	if (pid == -EPERM && !filter_permits_processes(machine_filters)) /* then there is no child */
		return false;
	return pid != runtime.pid;
}

uint64_t runtime_ring_room(const struct runtime_thread *thread)
{
	uint64_t used = thread->shared->head - __atomic_load_n(&thread->shared->tail, __ATOMIC_ACQUIRE);
	return used < CHANNEL_RING_BYTES ? CHANNEL_RING_BYTES - used : 0;
}

bool runtime_ring_write_parts(struct runtime_thread *thread, const struct runtime_part *parts, size_t count)
{
	enum { BELL_AT = CHANNEL_RING_BYTES / 4 };
	struct channel_thread *shared = thread->shared;
	if (runtime.alone || runtime_is_elsewhere())
		return true;
	uint64_t head = shared->head;
	uint64_t room = runtime_ring_room(thread), used = CHANNEL_RING_BYTES - room;
	uint64_t bytes = 0;
	for (size_t i = 0; i < count; i++)
		bytes += parts[i].size;
	if (bytes > room)
		return false;
	uint64_t at = head;
	for (size_t i = 0; i < count; at += parts[i++].size)
		if (parts[i].size)
			put(thread->ring, at, parts[i].bytes, parts[i].size);
	__atomic_store_n(&shared->head, head + bytes, __ATOMIC_RELEASE);
	if (used < BELL_AT && used + bytes >= BELL_AT)
		runtime_ring_bell();
	return true;
}

bool runtime_ring_write(struct runtime_thread *thread, const void *first, size_t first_bytes, const void *second,
			size_t second_bytes)
{
	const struct runtime_part parts[] = { { first, first_bytes }, { second, second_bytes } };
	return runtime_ring_write_parts(thread, parts, sizeof(parts) / sizeof(parts[0]));
}

void runtime_write_event(struct runtime_thread *thread, enum channel_event event, uint32_t about, int64_t detail,
			 const char *text, size_t text_bytes)
{
	enum { LONGEST_MS = 50, ALIGNMENT = 8 };
	char copy[CHANNEL_TEXT_BYTES] = "";
	if (runtime.alone)
		return;
	text_bytes = text_bytes < sizeof(copy) ? text_bytes : sizeof(copy);
	if (text_bytes)
		memcpy(copy, text, text_bytes);
	const struct sample_record record = {
		.time_ns = runtime_stamp_ns(),
		.pid = runtime.pid,
		.tid = thread->tid,
		.kind = CHANNEL_EVENT,
		.end = (uint8_t)event,
		.request = SAMPLE_NO_REQUEST,
		.about = about,
		.detail = detail,
		.syscall = -1,
		.stack_bytes = (uint32_t)text_bytes,
	};
	const struct timespec wait = { .tv_nsec = NS_PER_MS };
	size_t padded = (text_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	while (!runtime_ring_write(thread, &record, sizeof(record), copy, padded)) {
		uint64_t waited = runtime_stamp_ns() - record.time_ns;
		if (waited > (uint64_t)LONGEST_MS * NS_PER_MS || runtime.channel->is_over) {
			thread->shared->lost_events++;
			return;
		}
		runtime_ring_bell();
		machine_syscall(SYS_nanosleep, (long)&wait, 0, 0, 0, 0, 0);
	}
}
