/*
 * The measurement `trace`. It counts paths as `paths` does, and also writes each event, with the time and the path
 * that is current from then on (abi/tally.h).
 *
 *     ring->words             events that are in no EVENTS chunk yet, then zeros: memory that stays in the cache, and is a
 *                             part of the file
 *     ring->flushed           the number of words that are in EVENTS chunks: where words[0] belongs
 *     thread->next_event      where the next event is put
 *     thread->events_end      no event begins here or behind
 *
 * A handler may interrupt any of this and write events itself:
 *   1. One instruction takes an entry of the ring (exchange and add; no lock, because only this thread uses it), and
 *      another one stores the event. No word of an event is 0.
 *   2. A handler may come between the two and find the ring full. A zero in the ring then shows that an entry is
 *      taken but not written: the handler begins another ring. The interrupted code sees by `events_end` that the
 *      old ring is out of use, and puts its event again.
 *   3. A handler, or a fork, may also come before the entry is taken. The entry is then one of another ring, or of
 *      none. So it is used only if it lies before the end that was read first.
 *   4. Everything that is rare is done with signals blocked.
 *   5. An event of the program takes all its words at once. A handler that finds the ring full meanwhile fills those
 *      that are not written yet, also the last one, which then has no TALLY_USER_WHOLE: readers skip such an event.
 */
#include "collect/agent/hooks/trace.h"

#include <cpprof/runtime.h>

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "processor/agent/hooks_offsets.h"

enum {
	/* so many make one granule of the file, in a RING and in an EVENTS chunk */
	RING_WORDS = (TALLY_GRANULE - sizeof(struct tally_ring)) / sizeof(uint64_t),
	EVENT_WORDS = 6, /* the longest event, with a TALLY_EVENT_TIME before it */
	LAST_WORD = RING_WORDS - EVENT_WORDS,
	HALF = 32,
};
_Static_assert(sizeof(struct tally_ring) == sizeof(struct tally_trace), "a ring is written as one granule");

#define AT(type, member, offset) _Static_assert(offsetof(struct type, member) == (offset), "as in hooks.S")
AT(hook_thread, next_event, THREAD_NEXT_EVENT);
AT(hook_thread, events_end, THREAD_EVENTS_END);
AT(hook_thread, ticks_high, THREAD_TICKS_HIGH);
AT(tally_node, number, NODE_NUMBER);
_Static_assert((int)(LAST_WORD * sizeof(uint64_t)) == EVENTS_BYTES, "as in hooks.S");
_Static_assert((int)TALLY_EVENT_ENTER == EVENT_ENTER && 1 << TALLY_EVENT_NUMBER_SHIFT == EVENT_NUMBER_TIMES,
	       "as in hooks.S");

/* --- rare work --- */

static void block_signals(uint64_t *old)
{
	static const uint64_t all = UINT64_MAX;
	machine_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)old, sizeof(all), 0, 0);
}

static void restore_signals(const uint64_t *old)
{
	machine_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)old, 0, sizeof(*old), 0, 0);
}

void hooks_trace_begin_ring(struct hook_thread *thread, struct tally_ring *ring)
{
	thread->ring = ring;
	thread->next_event = ring ? ring->words : NULL;
	thread->events_end = ring ? ring->words + LAST_WORD : NULL;
	thread->ticks_high = UINT32_MAX; /* a ring begins with a TALLY_EVENT_TIME */
}

/* Makes the thread's ring; `flushed` is the number of its words so far. Returns false if there is no memory. */
static bool make_ring(struct hook_thread *thread, uint64_t flushed)
{
	struct tally_chunk *chunk = tally_chunk_new(TALLY_GRANULE, thread->number);
	if (!chunk)
		return false;
	struct tally_ring *ring = (struct tally_ring *)chunk;
	ring->flushed = flushed;
	chunk->used = chunk->bytes;
	tally_chunk_finish(chunk, TALLY_RING);
	hooks_trace_begin_ring(thread, ring);
	return true;
}

static uint64_t words_until_zero(const struct tally_ring *ring)
{
	uint64_t count = 0;
	while (count < RING_WORDS && ring->words[count])
		count++;
	return count;
}

static const uint64_t filler = (uint64_t)1 << HALF | TALLY_EVENT_NOTHING;

/* Returns how many events begin in the words. */
static uint64_t count_events(const uint64_t *words, uint64_t count)
{
	enum { KINDS = 1 << TALLY_EVENT_NUMBER_SHIFT };
	static const uint8_t operands[TALLY_EVENT_OTHERS] = {
		[TALLY_EVENT_TIME] = 1, [TALLY_EVENT_TICK] = 3, [TALLY_EVENT_USER] = 3
	};
	uint64_t events = 0;
	for (uint64_t i = 0; i < count; i++, events++) {
		uint32_t what = (uint32_t)words[i], other = what / KINDS;
		if (what % KINDS == TALLY_EVENT_OTHER && other < TALLY_EVENT_OTHERS)
			i += operands[other];
	}
	return events;
}

/* Fills the entries that were taken and not written with events to be skipped. Returns the number of words up to the
 * last. */
static uint64_t fill_gaps(struct tally_ring *ring)
{
	uint64_t count = RING_WORDS;
	while (count > 0 && !ring->words[count - 1])
		count--;
	for (uint64_t i = 0; i < count; i++)
		if (!ring->words[i])
			ring->words[i] = filler;
	return count;
}

/* Writes the ring's words to an EVENTS chunk and empties the ring. Returns false if they could not be written. */
static bool empty_ring(struct hook_thread *thread)
{
	struct tally_ring *ring = thread->ring;
	uint64_t count = words_until_zero(ring);
	bool has_gaps = count < LAST_WORD;
	if (has_gaps)
		count = fill_gaps(ring);
	if (!tally_write_events(thread->number, ring->words, count, count_events(ring->words, count), ring->flushed))
		return false;
	if (has_gaps) {
		tally_chunk_finish(&ring->chunk, TALLY_NOTHING);
		return make_ring(thread, ring->flushed + count);
	}
	/* If the program is killed here, the reader skips the words of the ring that are in EVENTS chunks already. */
	memset(ring->words, 0, count * sizeof(ring->words[0]));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ring->flushed += count;
	hooks_trace_begin_ring(thread, ring);
	return true;
}

/* Returns 1 if there is room for an event, or 0 if no more events are written. After a first failure none is
 * written, because the time behind the gap would be charged to the path that was current before it. */
static uint64_t make_room(void *argument, uint64_t unused)
{
	struct hook_thread *thread = argument;
	(void)unused;
	if (!thread->ring)
		return make_ring(thread, 0);
	return thread->next_event < thread->events_end || empty_ring(thread);
}

static void lose_event(void)
{
	__atomic_add_fetch(&hooks.process->events_lost, 1, __ATOMIC_RELAXED);
}

/* Writes an event of any kind, in the slow way. `what` has its number and kind, `now` is its time stamp; 0: the time
 * when signals are blocked, so that no event of a handler with a later time stands before it. */
static void put_all(struct hook_thread *thread, uint64_t what, uint64_t now, const uint64_t *operands, uint64_t count)
{
	uint64_t signals;
	if (thread->events_over) {
		lose_event();
		return;
	}
	block_signals(&signals);
	now = now ? now : machine_time_stamp();
	/* make_room calls functions of the C library, which must not change the vector registers of mcount's caller. */
	if (!hooks_keep_vectors(make_room, thread, 0)) {
		thread->events_over = true;
		lose_event();
	} else {
		uint64_t *next = thread->next_event;
		if (now >> HALF != thread->ticks_high) {
			*next++ = TALLY_EVENT_TIME << TALLY_EVENT_NUMBER_SHIFT;
			*next++ = now;
			thread->ticks_high = (uint32_t)(now >> HALF);
		}
		*next++ = now << HALF | what;
		for (uint64_t i = 0; i < count; i++)
			*next++ = operands[i];
		thread->next_event = next;
	}
	restore_signals(&signals);
}

static __attribute__((noinline)) void put_slowly(struct hook_thread *thread, uint64_t what, uint64_t now)
{
	put_all(thread, what, now, NULL, 0);
}

void hooks_trace_put_slowly(struct hook_thread *thread, uint64_t what)
{
	put_slowly(thread, what, machine_time_stamp());
}

/* --- events --- */

/* Writes an event of one word; `now` is its time stamp. */
static inline __attribute__((always_inline)) void put(struct hook_thread *thread, uint64_t number,
						      enum tally_event_kind kind, uint64_t now)
{
	uint64_t *volatile *shared_end = (uint64_t *volatile *)&thread->events_end;
	uint64_t what = number << TALLY_EVENT_NUMBER_SHIFT | kind, *end = *shared_end;
	if (__builtin_expect(now >> HALF == thread->ticks_high, 1)) {
		uint64_t *at = (uint64_t *)machine_take((uint64_t *)&thread->next_event, sizeof(*at));
		if (__builtin_expect((uint64_t)at - (uint64_t)end >= -(uint64_t)EVENTS_BYTES, 1)) {
			*(volatile uint64_t *)at = now << HALF | what;
			if (__builtin_expect(*shared_end == end, 1))
				return;
		}
	}
	put_slowly(thread, what, now);
}

static inline __attribute__((always_inline)) void put_current(struct hook_thread *thread, enum tally_event_kind kind,
							      uint64_t now)
{
	put(thread, thread->top->node->number, kind, now);
}

/* Returns true if the thread still counts: it may have run out of memory. (It may have the measurement of
 * hooks/around.c, so it is not compared with hooks_trace.) */
static inline bool goes_on(const struct hook_thread *thread)
{
	return __builtin_expect(thread->measurement != &hooks_off, 1);
}

/* --- the vtable --- */

static void entered(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	const struct tally_node *node = hooks_paths_count_entry(thread, function, call_site, return_slot);
	uint64_t now = machine_time_stamp();
	if (goes_on(thread))
		put(thread, node->number, TALLY_EVENT_ENTER, now);
}

static __attribute__((noinline)) void enter_slowly(struct hook_thread *thread, uint64_t function, uint64_t call_site,
						   uint64_t return_slot, uint64_t code)
{
	hooks_paths_enter_slowly(thread, function, call_site, return_slot, code);
	uint64_t now = machine_time_stamp();
	if (goes_on(thread))
		put_current(thread, TALLY_EVENT_ENTER, now);
}

static __attribute__((noinline)) void leave_slowly(struct hook_thread *thread, uint64_t function, uint64_t call_site,
						   uint64_t return_slot, uint64_t now)
{
	const struct hook_frame *before = thread->top;
	hooks_paths_leave_slowly(thread, function, call_site, return_slot);
	if (thread->top != before && goes_on(thread))
		put_current(thread, TALLY_EVENT_LEAVE, now);
}

/* The function's own time begins after all work for its entry, and ends before all work for its exit. Other
 * functions are called last, so that no register has to be saved. */
HOOK_HOT void hooks_trace_enter(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
				uint64_t code)
{
	if (__builtin_expect(hooks_paths_enter_fast(thread, function, call_site, return_slot), 1))
		put_current(thread, TALLY_EVENT_ENTER, machine_time_stamp());
	else
		enter_slowly(thread, function, call_site, return_slot, code);
}

HOOK_HOT void hooks_trace_leave(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot)
{
	uint64_t now = machine_time_stamp();
	if (__builtin_expect(hooks_paths_leave_fast(thread, function, call_site, return_slot), 1))
		put_current(thread, TALLY_EVENT_LEAVE, now);
	else
		leave_slowly(thread, function, call_site, return_slot, now);
}

static void tick(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context)
{
	enum { OPERANDS = 3 };
	const ucontext_t *interrupted = context;
	uint64_t pc = interrupted ? machine_program_counter_of(interrupted) : 1;
	const uint64_t operands[OPERANDS] = { pc ? pc : 1, request + (uint64_t)1, hits };
	hooks_tick_current(thread, request, hits, context);
	if (goes_on(thread))
		put_all(thread, TALLY_EVENT_TICK << TALLY_EVENT_NUMBER_SHIFT, 0, operands, OPERANDS);
}

static void rewind_to(struct hook_thread *thread, const struct hook_landing *landing)
{
	uint64_t now = machine_time_stamp();
	const struct hook_frame *before = thread->top;
	hooks_paths_rewind(thread, landing);
	if (thread->top != before && goes_on(thread))
		put_current(thread, TALLY_EVENT_LEAVE, now);
}

/* Writes two events for the current thread: how long its path has been current, and that the time from now on is
 * charged to no path until the next event. The thread may end, or continue uncounted for a while. */
static void flush(struct hook_thread *thread)
{
	if (!thread->ring || thread != hook_thread)
		return;
	put_current(thread, TALLY_EVENT_LEAVE, machine_time_stamp());
	put(thread, 0, TALLY_EVENT_LEAVE, machine_time_stamp());
}

/* --- the program's own events --- */

enum { USER_OPERANDS = 3, USER_WORDS = 1 + USER_OPERANDS };
static const uint64_t user_event = TALLY_EVENT_USER << TALLY_EVENT_NUMBER_SHIFT;

static void skip(uint64_t *from, const uint64_t *to)
{
	for (volatile uint64_t *at = from; at < to; at++)
		*at = filler;
}

/* Writes an event of the program without a system call. Returns false if it must be put in the slow way. If a handler
 * has written events since the time was read, they stand before this one, so the time is read again. */
static bool put_user(struct hook_thread *thread, const uint64_t operands[USER_OPERANDS])
{
	enum { TRIES = 3 };
	uint64_t *volatile *shared_end = (uint64_t *volatile *)&thread->events_end;
	uint64_t *volatile *shared_next = (uint64_t *volatile *)&thread->next_event;
	for (int i = 0; i < TRIES; i++) {
		uint64_t *end = *shared_end, *next = *shared_next, now = machine_time_stamp();
		if (now >> HALF != *(volatile uint32_t *)&thread->ticks_high)
			return false;
		uint64_t *at = (uint64_t *)machine_take((uint64_t *)&thread->next_event, USER_WORDS * sizeof(*at));
		if ((uint64_t)at - (uint64_t)end < -(uint64_t)EVENTS_BYTES)
			return false;
		if (end - at < USER_WORDS) {
			skip(at, end);
			return false;
		}
		if (at == next) {
			volatile uint64_t *words = at;
			words[0] = now << HALF | user_event;
			for (int word = 0; word < USER_OPERANDS; word++)
				words[1 + word] = operands[word];
			return *shared_end == end;
		}
		skip(at, at + USER_WORDS);
		if (*shared_end != end)
			return false;
	}
	return false;
}

/* Only writes to an existing trace; never begins one. */
void cpprof_event(uint64_t id, uint64_t value)
{
	if (!hooks.header || hooks.header->measurement != TALLY_TRACE)
		return;
	struct hook_thread *thread = hook_thread != &hooks_none ? hook_thread : hooks_thread_begin();
	uint64_t zeros = (uint64_t)(id ? 0 : TALLY_USER_NO_ID) | (uint64_t)(value ? 0 : TALLY_USER_NO_VALUE);
	const uint64_t operands[USER_OPERANDS] = { id ? id : 1, value ? value : 1, TALLY_USER_WHOLE | zeros };
	if (goes_on(thread) && !put_user(thread, operands))
		put_all(thread, user_event, 0, operands, USER_OPERANDS);
}

const struct hook_measurement hooks_trace = {
	.name = "trace",
	.entered = entered,
	.enter = hooks_trace_enter,
	.leave = hooks_trace_leave,
	.block = hooks_no_block,
	.tick = tick,
	.rewind = rewind_to,
	.flush = flush,
};
