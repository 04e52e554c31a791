/* Counts what interposed calls have transferred: see io.h. */
#include <errno.h>

#include "collect/agent/interpose/io.h"

/* The counters of each direction. COUNTER_TRANSFERRED and COUNTER_TRANSFER_REQUESTED count both directions. */
static const struct {
	enum counter moved, asked;
} counters_of[] = {
	[IO_READS] = { COUNTER_READ, COUNTER_READ_REQUESTED },
	[IO_RECEIVES] = { COUNTER_READ, COUNTER_READ_REQUESTED },
	[IO_WRITES] = { COUNTER_WRITTEN, COUNTER_WRITE_REQUESTED },
	[IO_SENDS] = { COUNTER_WRITTEN, COUNTER_WRITE_REQUESTED },
	[IO_COPIES] = { COUNTER_WRITTEN, COUNTER_WRITE_REQUESTED },
};

bool io_needs_requested(const struct io_call *call, enum io_direction direction, ssize_t result)
{
	return (result > 0 && call->thread->ticks != call->ticks) ||
	       runtime.requests_of[counters_of[direction].asked] | runtime.requests_of[COUNTER_TRANSFER_REQUESTED];
}

static uint32_t watched_requests(void)
{
	return (uint32_t)(runtime.requests_of[COUNTER_IO_CALLS] | runtime.requests_of[COUNTER_IO_TIME] |
			  runtime.requests_of[COUNTER_READ] | runtime.requests_of[COUNTER_WRITTEN] |
			  runtime.requests_of[COUNTER_TRANSFERRED] | runtime.requests_of[COUNTER_READ_REQUESTED] |
			  runtime.requests_of[COUNTER_WRITE_REQUESTED] |
			  runtime.requests_of[COUNTER_TRANSFER_REQUESTED]);
}

bool io_begins(struct io_call *call)
{
	*call = (struct io_call){ .thread = runtime_thread };
	if (!call->thread)
		return false;
	call->ticks = call->thread->ticks;
	if (runtime.on && runtime.requests_of[COUNTER_IO_TIME]) {
		call->start_cpu_ns = runtime_now_ns(CLOCK_THREAD_CPUTIME_ID);
		call->start_ns = runtime_now_ns(CLOCK_MONOTONIC);
	}
	return runtime.channel->tick_ns || watched_requests();
}

static void count_waited(struct runtime_thread *thread, const struct io_call *call, uint64_t function)
{
	/* At the start the CPU clock was read before the other one; here it is read after it. So reading the clocks
	 * does not count as waiting. */
	uint64_t elapsed = runtime_now_ns(CLOCK_MONOTONIC) - call->start_ns;
	uint64_t used = runtime_now_ns(CLOCK_THREAD_CPUTIME_ID) - call->start_cpu_ns;
	if (elapsed > used)
		runtime_count(thread, COUNTER_IO_TIME, elapsed - used, function);
}

static void count_moved(struct runtime_thread *thread, enum io_direction direction, ssize_t result, uint64_t asked,
			uint64_t function)
{
	if (result > 0) {
		runtime_count(thread, counters_of[direction].moved, (uint64_t)result, function);
		runtime_count(thread, COUNTER_TRANSFERRED, (uint64_t)result, function);
	}
	if (asked) {
		runtime_count(thread, counters_of[direction].asked, asked, function);
		runtime_count(thread, COUNTER_TRANSFER_REQUESTED, asked, function);
	}
}

/* Counts for the comparison with the kernel's statistics, which include pauses of the recording. The kernel may have
 * restarted a call after each tick that interrupted it, so each of these ticks counts as a call. */
static void note_moved(struct runtime_thread *thread, const struct io_call *call, enum io_direction direction,
		       ssize_t result)
{
	bool is_filed = direction == IO_READS || direction == IO_WRITES || direction == IO_COPIES;
	struct channel_amounts *to = is_filed ? &thread->shared->moved.filed : &thread->shared->moved.others;
	uint64_t bytes = direction != IO_NEITHER && result > 0 ? (uint64_t)result : 0;
	if (result < 0 && errno == EBADF)
		return; /* the kernel does not count it as a call either */
	to->calls += 1 + (is_filed && thread == call->thread ? thread->ticks - call->ticks : 0);
	if (direction == IO_COPIES)
		to->calls++;
	if (direction == IO_READS || direction == IO_RECEIVES || direction == IO_COPIES)
		to->read += bytes;
	if (direction == IO_WRITES || direction == IO_SENDS || direction == IO_COPIES)
		to->written += bytes;
}

void io_ended(const struct io_call *call, enum io_direction direction, ssize_t result, uint64_t asked,
	      uint64_t function)
{
	int error = errno;
	if (runtime_thread)
		note_moved(runtime_thread, call, direction, result);
	/* Not call->thread: the call may have returned in a forked process. */
	struct runtime_thread *thread = runtime_enter();
	if (thread) {
		runtime_count(thread, COUNTER_IO_CALLS, 1, function);
		if (call->start_ns)
			count_waited(thread, call, function);
		if (direction != IO_NEITHER)
			count_moved(thread, direction, result, asked, function);
		runtime_leave(thread);
	}
	errno = error;
}

/* --- requested bytes --- */

/* Reads memory that the program has passed to the kernel. If the kernel has accepted it (`result`), it is readable;
 * after a failure it may not be. Returns false if it is not. */
static bool read_safely(void *copy, const void *at, size_t bytes, ssize_t result)
{
	if (result < 0)
		return runtime_copy(copy, bytes, (uint64_t)(uintptr_t)at);
	memcpy(copy, at, bytes);
	return true;
}

uint64_t io_requested_of_vector(const struct iovec *vector, int64_t count, ssize_t result)
{
	enum { AT_MOST = 1024, AT_ONCE = 64 };
	uint64_t sum = 0;
	struct iovec pieces[AT_ONCE];
	int64_t end = count < AT_MOST ? count : AT_MOST;
	for (int64_t from = 0; from < end; from += AT_ONCE) {
		int64_t some = end - from < AT_ONCE ? end - from : AT_ONCE;
		if (!read_safely(pieces, &vector[from], (size_t)some * sizeof(pieces[0]), result))
			break;
		for (int64_t i = 0; i < some; i++)
			sum += pieces[i].iov_len;
	}
	return sum;
}

uint64_t io_requested_of_message(const struct msghdr *message, ssize_t result)
{
	struct msghdr copy;
	if (!read_safely(&copy, message, sizeof(copy), result))
		return 0;
	return io_requested_of_vector(copy.msg_iov, (int64_t)copy.msg_iovlen, result);
}

uint64_t io_requested_of_messages(const struct mmsghdr *messages, unsigned count, ssize_t result)
{
	enum { LOOKED_AT = 8 };
	uint64_t sum = 0;
	/* Only those that were transferred are known to be readable. */
	for (unsigned i = 0; i < count && i < LOOKED_AT; i++)
		sum += io_requested_of_message(&messages[i].msg_hdr, (ssize_t)i < result ? 0 : -1);
	return sum;
}

ssize_t io_moved_by_messages(const struct mmsghdr *messages, int result)
{
	ssize_t sum = 0;
	for (int i = 0; i < result; i++)
		sum += messages[i].msg_len;
	return sum;
}
