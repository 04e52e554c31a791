#include "collect/agent/interpose/sandbox.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "collect/agent/core/runtime.h"
#include "collect/agent/signals/signals.h"
#include "processor/agent/machine.h"

enum { ROUND_NS = 200 * 1000, SHORT_ROUNDS = 100, ROUNDS = 5000 };

static void pause_shortly(void)
{
	const struct timespec round = { .tv_nsec = ROUND_NS };
	machine_syscall(SYS_nanosleep, (long)&round, 0, 0, 0, 0, 0);
}

/* --- work --- */

static uint32_t active;

static void count_busy(struct runtime_thread *thread)
{
	active += thread != runtime_thread && __atomic_load_n(&thread->busy, __ATOMIC_ACQUIRE) != 0;
}

void quiet_await_work(void)
{
	for (int i = 0; i < SHORT_ROUNDS; i++) {
		active = 0;
		pause_shortly();
		runtime_each_thread(count_busy);
		if (active == 0)
			return;
	}
}

/* --- system calls --- */

void quiet_await_calls(void)
{
	for (int i = 0; i < ROUNDS && __atomic_load_n(&machine_calls, __ATOMIC_SEQ_CST) != 0; i++)
		pause_shortly();
}

/* --- ticks --- */

/* Appends a number to a text. Returns the new end. */
static char *append_number(char *at, uint32_t number)
{
	enum { TEN = 10 };
	uint32_t unit = 1;
	while (number / unit >= TEN)
		unit *= TEN;
	for (; unit; unit /= TEN)
		*at++ = (char)('0' + number / unit % TEN);
	return at;
}

/* Reads a file of /proc about the thread. Returns the bytes read, without a NUL behind them. */
static size_t read_status(uint32_t tid, char *text, size_t room)
{
	static const char before[] = "/proc/self/task/", after[] = "/status";
	char path[sizeof(before) + sizeof(after) + 16];
	memcpy(path, before, sizeof(before));
	memcpy(append_number(path + sizeof(before) - 1, tid), after, sizeof(after));
	long fd = machine_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long got = fd < 0 ? 0 : machine_syscall(SYS_read, fd, (long)text, (long)room, 0, 0, 0);
	if (fd >= 0)
		machine_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return got > 0 ? (size_t)got : 0;
}

/* Returns the set of signals in a line of the status. */
static uint64_t set_in(const char *text, size_t bytes, const char *line)
{
	enum { HEX = 16, TEN = 10 };
	const char *at = memmem(text, bytes, line, strlen(line));
	uint64_t set = 0;
	for (at = at ? at + strlen(line) : text + bytes; at < text + bytes && *at != '\n'; at++)
		if (*at != '\t')
			set = set * HEX + (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + TEN);
	return set;
}

/* In its handler, a thread has all signals blocked. During a wait without ticks only ours is,
 * together with the signals that the program has blocked. */
static void check_for_tick(struct runtime_thread *thread)
{
	char text[2048];
	if (thread == runtime_thread)
		return;
	size_t bytes = read_status(thread->tid, text, sizeof(text));
	uint64_t pending = set_in(text, bytes, "\nSigPnd:"), blocked = set_in(text, bytes, "\nSigBlk:");
	bool waits = __atomic_load_n(&thread->waiting, __ATOMIC_RELAXED) != 0;
	active += (pending & signals_ours()) != 0 || (!waits && (blocked & signals_ours()) != 0);
}

void quiet_await_ticks(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		active = 0;
		runtime_each_thread(check_for_tick);
		if (active == 0)
			return;
		pause_shortly();
	}
}
