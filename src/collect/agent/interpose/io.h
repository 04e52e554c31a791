/*
 * Counts interposed calls that transfer bytes, after they have returned. The agent holds no resource while the real
 * call runs, because a thread may be cancelled in it, or leave it by longjmp.
 */
#ifndef COLLECT_AGENT_INTERPOSE_IO_H
#define COLLECT_AGENT_INTERPOSE_IO_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "collect/agent/core/runtime.h"

/* The kernel's statistics of a process (/proc/PID/io) contain IO_READS, IO_WRITES and IO_COPIES, which they count as
 * both. They do not contain IO_RECEIVES and IO_SENDS, the calls for sockets only. */
enum io_direction { IO_NEITHER, IO_READS, IO_WRITES, IO_RECEIVES, IO_SENDS, IO_COPIES };

struct io_call {
	struct runtime_thread *thread;   /* NULL: not watched */
	uint64_t start_ns, start_cpu_ns; /* set if time off the CPU is measured */
	uint32_t ticks;
};

/* Called before the real call. Returns true if the call must be observed: something counts it, or a tick may cut it
 * short. */
bool io_begins(struct io_call *call);

/* Counts a call that was to move `asked` bytes and has returned `result` (below 0: it failed with errno). `function`
 * is the real function's run-time address. Keeps errno. */
void io_ended(const struct io_call *call, enum io_direction direction, ssize_t result, uint64_t asked,
	      uint64_t function);

/* Returns true if the bytes that the call requested must be determined: they are counted, or the call may have been
 * cut short. Not for IO_NEITHER. */
bool io_needs_requested(const struct io_call *call, enum io_direction direction, ssize_t result);

/* Return the bytes that a vector, or the vector of a message, requests. Memory that cannot be read counts 0. */
uint64_t io_requested_of_vector(const struct iovec *vector, int64_t count, ssize_t result);
uint64_t io_requested_of_message(const struct msghdr *message, ssize_t result);
/* ... of the first 8 messages; and the bytes that the first `result` messages have transferred. */
uint64_t io_requested_of_messages(const struct mmsghdr *messages, unsigned count, ssize_t result);
ssize_t io_moved_by_messages(const struct mmsghdr *messages, int result);

/* Returns true if a transfer is short because of a tick. Without the agent it would have continued, so the caller
 * must continue it. */
static inline bool io_was_cut_short(const struct io_call *call, ssize_t result, uint64_t asked)
{
	return result > 0 && (uint64_t)result < asked && call->thread && call->thread->ticks != call->ticks;
}

#endif
