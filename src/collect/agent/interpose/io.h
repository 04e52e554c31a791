/*
 * What an interposed call that transfers counts once it has returned. Nothing is held
 * while the real call runs: a thread may be cancelled in it, or leave it by longjmp.
 */
#ifndef COLLECT_AGENT_INTERPOSE_IO_H
#define COLLECT_AGENT_INTERPOSE_IO_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "collect/agent/core/runtime.h"

/* The kernel's account of a process (/proc/PID/io) has IO_READS, IO_WRITES and IO_COPIES, which
 * it takes for both; not sockets' own calls, which receive and send. */
enum io_direction { IO_NEITHER, IO_READS, IO_WRITES, IO_RECEIVES, IO_SENDS, IO_COPIES };

struct io_call {
	struct runtime_thread *thread;   /* NULL: it is not watched */
	uint64_t start_ns, start_cpu_ns; /* where time off the CPU is measured */
	uint32_t ticks;
};

/* Whether the call that is about to be made is watched. */
bool io_begins(struct io_call *call);

/* It has returned `result` (below 0: it failed, errno says why), having been asked for so
 * many bytes. errno is left as it is. */
void io_ended(const struct io_call *call, enum io_direction direction, ssize_t result, uint64_t asked,
	      uint64_t function);

/* Whether anybody wants to know what a call that has returned `result` was asked for: it is
 * counted, or may have been cut short. Not of IO_NEITHER. */
bool io_wants_asked(const struct io_call *call, enum io_direction direction, ssize_t result);

/* Bytes that a vector, or a message's, is for. Whatever is not there counts 0. */
uint64_t io_asked_of_vector(const struct iovec *vector, int64_t count, ssize_t result);
uint64_t io_asked_of_message(const struct msghdr *message, ssize_t result);
/* ... the first 8 of several; and bytes that `result` of them did transfer. */
uint64_t io_asked_of_messages(const struct mmsghdr *messages, unsigned count, ssize_t result);
ssize_t io_moved_by_messages(const struct mmsghdr *messages, int result);

/* Whether a transfer that has ended short did so because of a tick: without us it would
 * have gone on, and so it must. */
static inline bool io_was_cut_short(const struct io_call *call, ssize_t result, uint64_t asked)
{
	return result > 0 && (uint64_t)result < asked && call->thread && call->thread->ticks != call->ticks;
}

#endif
