/*
 * The measurement `trace`: paths are counted as `paths` counts them, and each event is written down as well, with the
 * time and the path that is current from then on (tally/layout.h).
 *
 *     words[0 ... written - flushed]    events that are not in the file yet: private memory, which stays in the cache
 *
 * A handler may interrupt any of this and write events itself. So an event is put where the next one belongs, and
 * then `written` is moved behind it if it is still what it was (compare and exchange, of this thread alone: no lock),
 * else all is done again with a new time; `written` never goes back, so it does not become what it was. What is rare,
 * to write the events to the file and to set the time that they count from, is done with signals blocked.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "runtime/hooks_paths.h"
#include "runtime/x86_64/machine.h"

enum {
	/* As many as make one granule of the file. */
	RING_WORDS = (TALLY_GRANULE - sizeof(struct tally_trace)) / sizeof(uint64_t),
	RING_BYTES = TALLY_GRANULE,
	EVENT_WORDS = 4, /* the longest */
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
	long memory =
		machine_syscall(SYS_mmap, 0, RING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory < 0 && memory > -TALLY_GRANULE)
		return false;
	thread->words = (uint64_t *)memory;
	thread->flushed = thread->written;
	return true;
}

/* Signals are blocked. False: the events could not be written, and are lost. */
static bool write_ring(struct hook_thread *thread)
{
	uint64_t count = thread->written - thread->flushed;
	/* A thread that ends the process writes for the others, which may be at the same. */
	if (count == 0 || count > RING_WORDS || __atomic_exchange_n(&thread->is_flushing, 1, __ATOMIC_ACQUIRE))
		return count == 0;
	bool written = tally_write_events(thread->number, thread->words, count, count - thread->operands);
	thread->operands = 0;
	thread->flushed += count;
	__atomic_store_n(&thread->is_flushing, 0, __ATOMIC_RELEASE);
	return written;
}

/* The time that the next events count from. Signals are blocked, and there is room. */
static void put_time(struct hook_thread *thread)
{
	uint64_t *words = &thread->words[thread->written - thread->flushed];
	words[0] = TALLY_EVENT_TIME;
	words[1] = thread->base_tsc = machine_time_stamp();
	thread->operands++;
	thread->written += 2;
}

/* After a first failure nothing more is written: what comes behind a gap would be charged to who was current
 * before it. */
static void stop_events(struct hook_thread *thread)
{
	if (thread->words)
		machine_syscall(SYS_munmap, (long)thread->words, RING_BYTES, 0, 0, 0, 0);
	thread->words = NULL;
	thread->events_over = true;
}

/* Room for an event, and a time that it can count from. False: no more events are written. */
static bool make_room(struct hook_thread *thread)
{
	uint64_t signals;
	block_signals(&signals);
	if (!thread->events_over) {
		bool is_full = thread->words && thread->written - thread->flushed > RING_WORDS - 2 * EVENT_WORDS;
		if (thread->words ? is_full && !write_ring(thread) : !make_ring(thread))
			stop_events(thread);
		else
			put_time(thread);
	}
	restore_signals(&signals);
	if (thread->events_over)
		__atomic_add_fetch(&hooks.process->events_lost, 1, __ATOMIC_RELAXED);
	return !thread->events_over;
}

/* --- events --- */

/* One word and `count` operands. */
static inline __attribute__((always_inline)) void put(struct hook_thread *thread, uint64_t kind, uint64_t number,
						      const uint64_t *operands, uint64_t count)
{
	for (;;) {
		uint64_t written = *(volatile uint64_t *)&thread->written;
		uint64_t used = written - *(volatile uint64_t *)&thread->flushed;
		uint64_t time = machine_time_stamp() - *(volatile uint64_t *)&thread->base_tsc;
		uint64_t *words = thread->words;
		if (__builtin_expect(time >> TIME_BITS || used > RING_WORDS - EVENT_WORDS || !words, 0)) {
			if (!make_room(thread))
				return;
			continue;
		}
		words += used;
		words[0] = kind << KIND_SHIFT | time << TIME_SHIFT | number;
		for (uint64_t i = 0; i < count; i++)
			words[1 + i] = operands[i];
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		uint64_t next = written + 1 + count;
		bool is_put;
		__asm__ volatile("cmpxchgq %3, %1"
				 : "=@ccz"(is_put), "+m"(thread->written), "+a"(written)
				 : "r"(next)
				 : "memory");
		if (__builtin_expect(is_put, 1)) {
			thread->operands += count;
			return;
		}
	}
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

static inline void put_current(struct hook_thread *thread, enum tally_event_kind kind)
{
	put(thread, kind, number_of(thread, thread->top->node), NULL, 0);
}

static inline bool goes_on(const struct hook_thread *thread)
{
	return __builtin_expect(thread->measurement == &hooks_trace, 1);
}

/* --- what the vtable has --- */

static void entered(struct hook_thread *thread, uint64_t function, uint64_t site, uint64_t place)
{
	hooks_paths_entered(thread, function, site, place);
	if (goes_on(thread))
		put_current(thread, TALLY_EVENT_ENTER);
}

static void enter(struct hook_thread *thread, uint64_t function, uint64_t site, uint64_t place)
{
	hooks_paths_enter(thread, function, site, place);
	if (goes_on(thread))
		put_current(thread, TALLY_EVENT_ENTER);
}

static void leave(struct hook_thread *thread, uint64_t function, uint64_t site, uint64_t place)
{
	const struct hook_frame *before = thread->top;
	hooks_paths_leave(thread, function, site, place);
	if (thread->top != before && goes_on(thread))
		put_current(thread, TALLY_EVENT_LEAVE);
}

static void tick(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context)
{
	enum { OPERANDS = 3 };
	const ucontext_t *interrupted = context;
	uint64_t operands[OPERANDS] = { interrupted ? (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP] : 0, request,
					hits };
	hooks_tick_current(thread, request, hits, context);
	if (goes_on(thread))
		put(thread, TALLY_EVENT_OTHER, TALLY_EVENT_TICK, operands, OPERANDS);
}

static void rewind_to(struct hook_thread *thread, uint64_t stack_pointer)
{
	const struct hook_frame *before = thread->top;
	hooks_paths_rewind(thread, stack_pointer);
	if (thread->top != before && goes_on(thread))
		put_current(thread, TALLY_EVENT_LEAVE);
}

/* The present thread's last event says how long its path has been current. */
static void flush(struct hook_thread *thread)
{
	uint64_t signals;
	if (!thread->words)
		return;
	if (thread == hook_thread)
		put_current(thread, TALLY_EVENT_LEAVE);
	block_signals(&signals);
	if (thread->words && !write_ring(thread))
		stop_events(thread);
	/* What comes next counts from a time in its own chunk. */
	thread->base_tsc = 0;
	restore_signals(&signals);
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
