/*
 * The measurement `trace`: paths are counted as `paths` counts them, and each event is written down as well, with the
 * time and the path that is current from then on (tally/layout.h).
 *
 *     ring->words     events that are in no EVENTS chunk yet, then zeros: memory that stays in the cache, and is a part of
 *                     the file
 *     ring->flushed   how many words are in EVENTS chunks: where words[0] belongs
 *     ring->written   where the next event is put, or before that: counted up when one is there
 *
 * A handler may interrupt any of this and write events itself. So an event is put by one instruction, where a zero
 * is (compare and exchange, of this thread alone: no lock); no word of any is 0. Where a handler came in between, that
 * place is taken, or the ring has been emptied meanwhile and is another one: then, as for all that is rare, signals
 * are blocked, and the event is put at the first zero. So there are no gaps; but an event's time is read first, as
 * all that follows then costs nothing, and may be before those of the handler's.
 */
#include <cpprof/runtime.h>

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "runtime/hooks_paths.h"
#include "runtime/x86_64/machine.h"

enum {
	/* As many as make one granule of the file, here and there. */
	RING_WORDS = (TALLY_GRANULE - sizeof(struct tally_ring)) / sizeof(uint64_t),
	EVENT_WORDS = 6, /* the longest, and the time that it counts from */
	KIND_SHIFT = 62,
	TIME_SHIFT = 32,
	TIME_BITS = KIND_SHIFT - TIME_SHIFT,
};

/* --- what is rare --- */

static void block_signals(uint64_t *old)
{
	static const uint64_t all = UINT64_MAX;
	machine_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)old, sizeof(all), 0, 0);
}

static void restore_signals(const uint64_t *old)
{
	machine_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)old, 0, sizeof(*old), 0, 0);
}

static bool make_ring(struct hook_thread *thread)
{
	struct tally_chunk *chunk = tally_chunk_new(TALLY_GRANULE, thread->number);
	if (!chunk)
		return false;
	chunk->used = chunk->bytes;
	tally_chunk_finish(chunk, TALLY_RING);
	thread->ring = (struct tally_ring *)chunk;
	return true;
}

/* The words that are in the ring. */
static uint64_t words_in(const struct tally_ring *ring)
{
	uint64_t count = ring->written - ring->flushed;
	/* What was interrupted has not counted its event yet. */
	for (count = count <= RING_WORDS ? count : 0; count < RING_WORDS && ring->words[count]; count++)
		;
	return count;
}

/* False: the events could not be written. */
static bool empty_ring(struct hook_thread *thread, uint64_t count)
{
	struct tally_ring *ring = thread->ring;
	if (!tally_write_events(thread->number, ring->words, count, count - thread->operands, ring->flushed))
		return false;
	thread->operands = 0;
	thread->base_tsc = 0; /* each chunk begins with its own */
	ring->flushed += count;
	memset(ring->words, 0, count * sizeof(ring->words[0]));
	return true;
}

/* Room for an event; its place in the ring, or UINT64_MAX: no more events are written. After a first failure none is, as what
 * comes behind a gap would be charged to who was current before it. */
static uint64_t make_room(void *argument, uint64_t unused)
{
	struct hook_thread *thread = argument;
	(void)unused;
	if (thread->events_over || (!thread->ring && !make_ring(thread)))
		return UINT64_MAX;
	uint64_t at = words_in(thread->ring);
	if (at <= RING_WORDS - EVENT_WORDS)
		return at;
	return empty_ring(thread, at) ? 0 : UINT64_MAX;
}

/* Where the next zero is, with a time before it if need be. */
static __attribute__((noinline)) void put_slowly(struct hook_thread *thread, uint64_t event, const uint64_t *operands,
						 uint64_t count)
{
	uint64_t signals;
	block_signals(&signals);
	/* Before there is room, functions of the C library run: of mcount's caller they may spoil nothing. */
	int64_t at = (int64_t)hooks_keep_vectors(make_room, thread, 0);
	if (at < 0) {
		thread->events_over = true;
		__atomic_add_fetch(&hooks.process->events_lost, 1, __ATOMIC_RELAXED);
	} else {
		uint64_t *words = &thread->ring->words[at], now = machine_time_stamp(), *next = words;
		if ((now - thread->base_tsc) >> TIME_BITS) {
			*next++ = TALLY_EVENT_TIME;
			*next++ = thread->base_tsc = now;
			thread->operands++;
		}
		*next++ = event | (now - thread->base_tsc) << TIME_SHIFT;
		for (uint64_t i = 0; i < count; i++)
			*next++ = operands[i];
		thread->operands += count;
		thread->ring->written += (uint64_t)(next - words);
	}
	restore_signals(&signals);
}

/* --- events --- */

/* `now`: when it was. */
static inline __attribute__((always_inline)) void put(struct hook_thread *thread, uint64_t kind, uint64_t number,
						      uint64_t now)
{
	/* Of what counts no time and carries no operands: to be passed over. */
	static const uint64_t filler = (uint64_t)1 << TIME_SHIFT | TALLY_EVENT_NOTHING;
	struct tally_ring *ring = thread->ring;
	uint64_t event = kind << KIND_SHIFT | number;
	uint64_t flushed = ring ? *(volatile uint64_t *)&ring->flushed : 0;
	uint64_t at = ring ? *(volatile uint64_t *)&ring->written - flushed : RING_WORDS;
	uint64_t time = now - *(volatile uint64_t *)&thread->base_tsc;
	if (__builtin_expect(time >> TIME_BITS || at > RING_WORDS - EVENT_WORDS, 0)) {
		put_slowly(thread, event, NULL, 0);
		return;
	}
	uint64_t found = 0, *word = &ring->words[at];
	bool is_put;
	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(is_put), "+m"(*word), "+a"(found)
			 : "r"(event | time << TIME_SHIFT)
			 : "memory");
	if (__builtin_expect(is_put && *(volatile uint64_t *)&ring->flushed == flushed, 1)) {
		hooks_count(&ring->written);
		return;
	}
	if (is_put)
		*word = filler;
	put_slowly(thread, event, NULL, 0);
}

/* By which events refer to a path. */
static inline uint64_t number_of(struct hook_thread *thread, struct tally_node *node)
{
	if (__builtin_expect(node->number == 0 && node->parent, 0)) {
		uint64_t none = 0;
		uint64_t number = __atomic_add_fetch(&thread->paths_numbered, 1, __ATOMIC_RELAXED);
		/* A handler may have numbered it. */
		(void)__atomic_compare_exchange_n(&node->number, &none, number, false, __ATOMIC_RELAXED,
						  __ATOMIC_RELAXED);
	}
	return node->number;
}

static inline void put_current(struct hook_thread *thread, enum tally_event_kind kind, uint64_t now)
{
	put(thread, kind, number_of(thread, thread->top->node), now);
}

/* It has not run out of memory meanwhile. (hooks_around.c may stand before this.) */
static inline bool goes_on(const struct hook_thread *thread)
{
	return __builtin_expect(thread->measurement != &hooks_off, 1);
}

/* --- what the vtable has --- */

static void entered(struct hook_thread *thread, uint64_t function, uint64_t site, uint64_t place)
{
	uint64_t now = machine_time_stamp();
	hooks_paths_entered(thread, function, site, place);
	if (goes_on(thread))
		put_current(thread, TALLY_EVENT_ENTER, now);
}

static void enter(struct hook_thread *thread, uint64_t function, uint64_t site, uint64_t place, uint64_t code)
{
	uint64_t now = machine_time_stamp();
	hooks_paths_enter(thread, function, site, place, code);
	if (goes_on(thread))
		put_current(thread, TALLY_EVENT_ENTER, now);
}

static void leave(struct hook_thread *thread, uint64_t function, uint64_t site, uint64_t place)
{
	uint64_t now = machine_time_stamp();
	const struct hook_frame *before = thread->top;
	hooks_paths_leave(thread, function, site, place);
	if (thread->top != before && goes_on(thread))
		put_current(thread, TALLY_EVENT_LEAVE, now);
}

static void tick(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context)
{
	enum { OPERANDS = 3 };
	const ucontext_t *interrupted = context;
	uint64_t pc = interrupted ? (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP] : 1;
	const uint64_t operands[OPERANDS] = { pc ? pc : 1, request + (uint64_t)1, hits };
	hooks_tick_current(thread, request, hits, context);
	if (goes_on(thread))
		put_slowly(thread, TALLY_EVENT_TICK, operands, OPERANDS);
}

static void rewind_to(struct hook_thread *thread, uint64_t stack_pointer)
{
	uint64_t now = machine_time_stamp();
	const struct hook_frame *before = thread->top;
	hooks_paths_rewind(thread, stack_pointer);
	if (thread->top != before && goes_on(thread))
		put_current(thread, TALLY_EVENT_LEAVE, now);
}

/* The present thread's last events say how long its path has been current, and that what follows is nobody's until
 * the next event: it may end, or go on uncounted for a while. */
static void flush(struct hook_thread *thread)
{
	if (!thread->ring || thread != hook_thread)
		return;
	put_current(thread, TALLY_EVENT_LEAVE, machine_time_stamp());
	put(thread, TALLY_EVENT_LEAVE, 0, machine_time_stamp());
}

/* --- what the program tells --- */

/* Nothing is begun for it: whether there is a trace others have decided. */
void cpprof_event(uint64_t id, uint64_t value)
{
	enum { OPERANDS = 3 };
	if (!hooks.header || hooks.header->measurement != TALLY_TRACE)
		return;
	struct hook_thread *thread = hook_thread != &hooks_nobody ? hook_thread : hooks_thread_begin();
	uint64_t zeros = (uint64_t)(id ? 0 : TALLY_USER_NO_ID) | (uint64_t)(value ? 0 : TALLY_USER_NO_VALUE);
	const uint64_t operands[OPERANDS] = { id ? id : 1, value ? value : 1, TALLY_USER_WHOLE | zeros };
	if (goes_on(thread))
		put_slowly(thread, TALLY_EVENT_USER, operands, OPERANDS);
}

const struct hook_measurement hooks_trace = {
	.name = "trace",
	.entered = entered,
	.enter = enter,
	.leave = leave,
	.block = hooks_no_block,
	.tick = tick,
	.rewind = rewind_to,
	.flush = flush,
};
