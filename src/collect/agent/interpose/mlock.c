/*
 * mlockall: locks the program's memory, but not the channel.
 *
 * Without CAP_IPC_LOCK, the kernel refuses to lock the present memory if all mappings together
 * exceed RLIMIT_MEMLOCK. The agent's would then make a call fail that succeeds without it. So if it
 * fails, the other mappings are counted and locked one by one.
 */
#include "collect/agent/interpose/mlock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "collect/agent/core/channel.h"
#include "collect/agent/core/real.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/hooks.h"
#include "processor/agent/machine.h"

/* --- the mappings --- */

struct range {
	uint64_t start, end;
};

/* A mapping, of which a part may be ours: the kernel joins anonymous mappings. */
struct mapping {
	struct range range;
	bool is_program; /* its file is neither the agent's nor the kernel's */
};

/* Anonymous memory of the agent, of the first threads. */
enum { RANGES = 256 };
static struct range ours[RANGES];
static uint32_t ours_count;

static void leave_out(const void *start, uint64_t bytes)
{
	if (start && ours_count < RANGES)
		ours[ours_count++] = (struct range){ (uint64_t)(uintptr_t)start, (uint64_t)(uintptr_t)start + bytes };
}

static void leave_out_thread(struct runtime_thread *thread)
{
	leave_out(thread, runtime_thread_all_bytes());
}

static void find_ours(void)
{
	ours_count = 0;
	runtime_each_thread(leave_out_thread);
	if (runtime.alone)
		leave_out(runtime.channel, CHANNEL_RINGS);
	hooks_leave_out(leave_out);
}

/* Takes the first part of the range that is the program's. Returns false if there is none. */
static bool take_part(struct range *range, struct range *part)
{
	*part = *range;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < ours_count; i++) {
			if (ours[i].start <= part->start && part->start < ours[i].end) {
				part->start = ours[i].end;
				changed = true;
			} else if (part->start < ours[i].start && ours[i].start < part->end) {
				part->end = ours[i].start;
			}
		}
	}
	range->start = part->end > part->start ? part->end : range->end;
	return part->start < part->end;
}

/* Reads /proc/self/maps line by line. */
struct maps {
	long fd;
	size_t used, filled;
	char bytes[1024];
};

static int next_byte(struct maps *maps)
{
	if (maps->used == maps->filled) {
		long got = machine_syscall(SYS_read, maps->fd, (long)maps->bytes, sizeof(maps->bytes), 0, 0, 0);
		maps->used = 0;
		maps->filled = got > 0 ? (size_t)got : 0;
	}
	return maps->used < maps->filled ? (unsigned char)maps->bytes[maps->used++] : -1;
}

/* Returns the number, and reads the byte behind it. */
static uint64_t next_number(struct maps *maps)
{
	enum { HEX = 16, TEN = 10 };
	uint64_t number = 0;
	for (;;) {
		int byte = next_byte(maps);
		if (byte >= '0' && byte <= '9')
			number = number * HEX + (uint64_t)(byte - '0');
		else if (byte >= 'a' && byte <= 'f')
			number = number * HEX + (uint64_t)(byte - 'a') + TEN;
		else
			return number;
	}
}

static bool is_program(const char *line)
{
	static const char *const others[] = { ("/memfd:" CHANNEL_FILE), "/libcpprof", ".tally", "[vsyscall]" };
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strstr(line, others[i]))
			return false;
	return true;
}

/* Returns false at the end. */
static bool next_mapping(struct maps *maps, struct mapping *mapping)
{
	char line[512]; /* the end of the line, which has the file's name */
	size_t length = 0;
	mapping->range.start = next_number(maps);
	mapping->range.end = next_number(maps);
	for (int byte; (byte = next_byte(maps)) >= 0 && byte != '\n';) {
		if (length == sizeof(line) - 1) {
			length /= 2;
			memmove(line, line + sizeof(line) - 1 - length, length);
		}
		line[length++] = (char)byte;
	}
	line[length] = 0;
	mapping->is_program = is_program(line);
	return mapping->range.end > mapping->range.start;
}

static bool open_maps(struct maps *maps)
{
	*maps = (struct maps){ .fd = machine_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/maps",
						     O_RDONLY | O_CLOEXEC, 0, 0, 0) };
	return maps->fd >= 0;
}

static void close_maps(const struct maps *maps)
{
	machine_syscall(SYS_close, maps->fd, 0, 0, 0, 0, 0);
}

/* Calls `visit` for each part that is the program's. Returns false if one returned false, or if
 * the maps cannot be read. */
static bool each_part(bool (*visit)(const struct range *part, void *context), void *context)
{
	struct maps maps;
	struct mapping mapping;
	struct range part;
	bool all = open_maps(&maps);
	if (!all)
		return false;
	while (all && next_mapping(&maps, &mapping))
		while (all && mapping.is_program && take_part(&mapping.range, &part))
			all = visit(&part, context);
	close_maps(&maps);
	return all;
}

/* --- locking --- */

static bool add(const struct range *part, void *bytes)
{
	*(uint64_t *)bytes += part->end - part->start;
	return true;
}

/* First only counts a part as locked, then reads its pages, which is allowed to fail, as in mlockall. */
static bool lock(const struct range *part, void *flags)
{
	long start = (long)part->start, bytes = (long)(part->end - part->start);
	if (machine_syscall(SYS_mlock2, start, bytes, MLOCK_ONFAULT, 0, 0, 0) < 0)
		return false;
	if (!(*(const int *)flags & MCL_ONFAULT))
		machine_syscall(SYS_mlock, start, bytes, 0, 0, 0, 0);
	return true;
}

/* Returns whether the call succeeds without the agent's mappings. */
static bool locks_without_ours(int flags)
{
	struct rlimit limit;
	uint64_t bytes = 0;
	int future = flags & ~MCL_CURRENT;
	find_ours();
	if (machine_syscall(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, (long)&limit, 0, 0) < 0 || !each_part(add, &bytes) ||
	    bytes > limit.rlim_cur || !each_part(lock, &flags))
		return false;
	return !(future & MCL_FUTURE) || REAL(mlockall)(future) == 0;
}

static void unlock_ring(struct runtime_thread *thread)
{
	channel_unlock_ring(thread->ring);
}

int mlock_all(int flags)
{
	int before = errno, result = REAL(mlockall)(flags), error = errno;
	bool has_ours = flags & MCL_CURRENT && runtime.channel;
	if (result < 0 && error == ENOMEM && has_ours && locks_without_ours(flags)) {
		errno = before;
		return 0;
	}
	if (result == 0 && has_ours && !runtime.alone) {
		channel_unlock();
		runtime_each_thread(unlock_ring);
	}
	errno = result < 0 ? error : before;
	return result;
}

INTERPOSED int mlockall(int flags)
{
	return mlock_all(flags);
}
