/*
 * What runs inside the measured process: its state, shared by all files of this
 * folder. Nothing here may take a lock, allocate, or call what is not
 * async-signal-safe on the way of a sample; errno is the program's.
 *
 *   hooks       tally*.c hooks*.c: hooks.h (hooks/none.c where there are none)
 *   core        runtime.c thread.c tick*.c sample.c ring.c work.c real.c signals*.c
 *   interface   own.c control.c labels.c: include/cpprof/runtime.h
 *   exceptions  fp*.c
 *   interposed  calls_*.c waits.c io_count.c, in libcpprof-preload.so alone
 */
#ifndef COLLECT_AGENT_CORE_RUNTIME_H
#define COLLECT_AGENT_CORE_RUNTIME_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "abi/channel.h"

struct walk;
extern const size_t runtime_walk_bytes;

/* --- the process --- */

struct runtime {
	struct channel *channel; /* NULL: no recorder, nothing is to be done */
	bool alone;              /* the channel is private: hooks count (hooks.h), and nobody is told anything */
	const uint8_t *code;     /* from CHANNEL_CODES on: read-only */
	struct channel_process *process; /* our slot */
	uint32_t process_number;
	uint32_t pid;
	bool on;                             /* counting: not before cpprof_start where it starts paused */
	uint16_t requests_of[COUNTER_COUNT]; /* which requests count that: bit n is request n */
	uint16_t fp_requests[FP_KIND_COUNT]; /* which requests count the kind of bit n of enum fp_kind */
	uint8_t fp_kinds;                    /* all that any request counts */
	uint64_t text_start, text_end;       /* our own code: its frames are left out of paths */
	int signal;                          /* the timers' */
	bool kernel_copies;                  /* process_vm_readv is permitted */
};
extern struct runtime runtime;

/* Connects if there is a recorder; once, whoever calls it first. Called by a constructor,
 * and by what may run earlier. */
void cpprof_runtime_begin(void) __attribute__((visibility("default")));

/* Where hooks count and there is no recorder's channel, one is made, and this thread's clocks begin; before
 * cpprof_runtime_begin, that does it. Async-signal-safe. Keeps errno. */
void runtime_begin_alone(void);

/* In the child of a fork that the C library does not tell of. Async-signal-safe where hooks count. */
void runtime_forked(void);

/* Tells the monitor that code was mapped or unmapped, and waits (at most a second, in
 * all the program's life not more than a few) until walks know it. Not in a handler. */
void runtime_code_changed(void);

/* Waits until a futex that the monitor raises has got there, at most so long: false, it has not. */
bool runtime_wait_for(uint32_t *futex, uint32_t at_least, uint32_t milliseconds);

/* Wakes the monitor. Async-signal-safe. */
void runtime_ring_bell(void);

/* --- threads --- */

/* One request's clock, as looked at where nothing may cost: below `limit`, adding to the
 * total is all there is to do. What was added since it was `seen` is not in clock->used yet. */
struct runtime_lane {
	struct interval_clock *clock;
	uint64_t limit, seen;
};

struct runtime_thread {
	struct channel_thread *shared; /* its slot */
	uint8_t *ring;
	uint32_t tid;
	/* Not 0: we are at work in this thread, in a function whose frame is there on the stack, or
	 * (RUNTIME_HELD) where nothing takes us away from it. A tick that comes then counts
	 * nothing; the next one counts for both. */
	uint64_t busy;
	uint32_t labels; /* its label set; 0: none */
	/* It waits in a call that our signal is kept out of (interpose/waits.c): a tick that comes
	 * right behind it belongs to the wait. */
	uint32_t waiting;

	/* tick.c */
	timer_t timer, cpu_timer;
	bool has_timer, has_cpu_timer;
	bool is_idle;                   /* the last tick found it waiting */
	uint64_t stratum_ns, target_ns; /* see tick.c: of CPU time, or of CLOCK_MONOTONIC */
	bool fell_due;                  /* ... a tick, while it waited without */
	uint64_t idle_wait_ns;          /* between ticks while it waits */
	uint64_t real_ns, cpu_ns;       /* the clocks, as of what was counted last */
	uint64_t cpu_seen_ns;           /* ... as of the last tick */
	uint64_t blocked_ns;           /* waits that no tick has found it in, to be charged to the next that one does */
	uint64_t tick_samples;         /* `samples` as this tick left it: while equal, `walk` is of this tick */
	uint64_t wait_ns, wait_cpu_ns; /* the clocks when it began the wait that it is in; 0: none */
	uint64_t wait_function;        /* ... and the function */
	uint64_t noted_ns;             /* when it last told where it waits */
	uint64_t idle_samples;         /* `samples` when it was found waiting: while equal, `walk` is where */
	uint64_t random;

	/* sample.c */
	uint64_t pages[2];      /* of the stack, known to be there in the present walk */
	uint64_t samples;       /* times that `walk` was overwritten */
	uint64_t deep_until_ns; /* its stacks are too deep to be walked here until then */
	struct walk *walk;      /* its frames are those of the last sample */

	void *alternate_stack; /* ours, where the program has set none; NULL: none */

	/* fp.c */
	struct fp_thread *fp; /* NULL: none */
	uint32_t fp_turn;     /* which cpprof_start or cpprof_stop its words follow */

	/* calls_*.c: what is counted in an outer call already is not counted in an inner one. */
	uint32_t depth;
	uint32_t outer_lanes; /* alloc_lanes, of before the outermost call whose frame is there */
	uint64_t outer_frame;
	uint32_t ticks; /* handlers of the timers' signal that have run here: what they cut short goes on */
	/* interpose/alloc.c. Zero in a new thread, and in a forked process, whose clocks are others. */
	uint32_t alloc_lanes;
	struct runtime_lane alloc_bytes, allocs;
};

/* NULL: this thread is not watched (yet). */
extern _Thread_local struct runtime_thread *runtime_thread __attribute__((tls_model("initial-exec")));

/* This thread begins to be watched, if it is not yet; NULL: it cannot be. `creator`: the
 * record of where it was started (runtime_describe_creator), with its frames; NULL: not known.
 * Not in a handler. */
struct runtime_thread *runtime_thread_begin(const struct sample_record *creator);
/* It ends: what is left of its clocks is counted. Then nothing of it is watched. */
void runtime_thread_end(void);

enum { RUNTIME_HELD = 1 };

/* work.c. The present thread is at that place of its stack, or about to jump there: work of ours
 * that lay below is over, though it has not ended (a handler of the program's that has
 * interrupted it does not return). Async-signal-safe. */
void runtime_abandon(struct runtime_thread *thread, uint64_t stack_pointer);
/* The same; then, whether we are still at work. */
bool runtime_is_at_work(struct runtime_thread *thread, uint64_t stack_pointer);

/* Whether what is there on the stack has ended for a thread that is at another place. A handler on the alternate stack leaves all
 * others' frames as they are; who has left it does not return. Async-signal-safe. */
bool runtime_is_gone(uint64_t frame, uint64_t stack_pointer);

#define RUNTIME_HERE ((uint64_t)(uintptr_t)__builtin_frame_address(0))

/* Work begins in the function of that frame: false, we are at work already. */
static inline bool runtime_set_busy(struct runtime_thread *thread, uint64_t frame)
{
	if (__builtin_expect(thread->busy != 0, 0) && runtime_is_at_work(thread, frame))
		return false;
	thread->busy = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

/* This thread for work of ours that a tick must not interrupt; NULL: not connected, not
 * watched, not counting (runtime.on), or at work already. */
static inline __attribute__((always_inline)) struct runtime_thread *runtime_enter(void)
{
	struct runtime_thread *thread = runtime_thread;
	return thread && runtime.on && runtime_set_busy(thread, RUNTIME_HERE) ? thread : NULL;
}

static inline void runtime_leave(struct runtime_thread *thread)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->busy = 0;
}

/* The first thread of a program or of a forked process: `text` is the program's name. */
struct runtime_thread *runtime_thread_begin_main(enum channel_event event, int64_t detail, const char *text);
void runtime_thread_forked(int64_t parent_pid);

/* Visits all watched threads of the process. Not in a handler. */
void runtime_each_thread(void (*visit)(struct runtime_thread *thread));

/* Keeps ticks from the present thread until real_sigmask(SIG_SETMASK, old, NULL). */
void runtime_block_ticks(sigset_t *old);

size_t runtime_thread_bytes(void);

/* --- samples (sample.c): only between runtime_enter and runtime_leave, or in a handler
 * that has seen busy == 0 and set it --- */

/* Advances the thread's interval timer of a request; how many boundaries that crossed. */
uint64_t runtime_advance(struct runtime_thread *thread, uint32_t request, uint64_t amount);

/* Draws where its first boundary is. */
void runtime_set_mark(struct runtime_thread *thread, uint32_t request);

/* A sample of the present call path, without our own frames. `function`: a run-time
 * address shown innermost, that of the real function that is called; 0: none. */
void runtime_sample_here(struct runtime_thread *thread, uint32_t request, uint64_t hits, uint64_t amount,
			 uint64_t function);

/* A sample of what a signal interrupted: `context` is the handler's third argument. */
void runtime_sample_interrupted(struct runtime_thread *thread, uint32_t request, uint64_t hits, uint64_t amount,
				const void *context);

/* Where this process found the channel: the value of CHANNEL_VARIABLE. "": it has none. */
const char *runtime_channel_path(void);

/* Copies memory that may not be there: false, it is not. Async-signal-safe. */
bool runtime_copy(void *to, size_t bytes, uint64_t address);

/* The last sample's path again, for another request or more hits, where runtime_can_repeat:
 * it was walked, not handed over. */
bool runtime_can_repeat(const struct runtime_thread *thread);
void runtime_sample_again(struct runtime_thread *thread, uint32_t request, uint64_t hits, uint64_t amount);

/* runtime_advance and, where that crosses a boundary, runtime_sample_here, for all
 * requests that count `counts`. */
static inline void runtime_count(struct runtime_thread *thread, enum counter counter, uint64_t amount,
				 uint64_t function)
{
	for (uint32_t left = runtime.requests_of[counter]; left; left &= left - 1) {
		uint32_t request = (uint32_t)__builtin_ctz(left);
		uint64_t hits = runtime_advance(thread, request, amount);
		if (hits)
			runtime_sample_here(thread, request, hits, amount, function);
	}
}

/* Where this thread is about to start another one: fills a record and its frames (room
 * for WALK_FRAMES). False: there is none. */
bool runtime_describe_creator(struct runtime_thread *thread, struct sample_record *record, uint64_t *frames);

/* --- records other than samples (ring.c) --- */

/* This is the child of a vfork, or of a fork that nobody told us of: it has this process's
 * memory, but slots and rings are its parent's. */
bool runtime_is_elsewhere(void);

/* Waits a little where the ring is full. Not in a handler. */
void runtime_tell(struct runtime_thread *thread, enum channel_event event, uint32_t about, int64_t detail,
		  const char *text, size_t text_bytes);

/* Appends a record and what follows it, in up to two parts (the second may be empty): false,
 * there is no room. Async-signal-safe. */
bool runtime_ring_write(struct runtime_thread *thread, const void *first, size_t first_bytes, const void *second,
			size_t second_bytes);

/* --- clocks --- */

static inline uint64_t runtime_now_ns(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000ULL + (uint64_t)time.tv_nsec;
}

/* Clocks are read one after the other: where `what` is more than `from`, nothing is left. */
static inline uint64_t runtime_less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

/* --- ticks (tick.c) --- */

/* The process's handler of the timers' signal; 0 or -1: the kernel refuses. */
int tick_install(void);
/* The present thread's timers: made, and unmade with the rest counted. */
void tick_create(struct runtime_thread *thread);
void tick_finish(struct runtime_thread *thread);
/* Ticks begin, with all clocks set to now; and end, what was used since the last one being
 * left to the next. Of any thread (see runtime_each_thread): its own handler may be at work
 * at the same time, which costs no more than the use of a tick. */
void tick_start(struct runtime_thread *thread);
void tick_stop(struct runtime_thread *thread);
/* What the present thread has used since its last tick is counted now: for hooks' totals. */
void tick_count_rest(struct runtime_thread *thread);
/* One tick now, also where they have been stopped: then it is fp_tick alone. */
void tick_send(struct runtime_thread *thread);

/* Around a wait that no tick comes in (waits.c); `function`: that it waits in. A wait that was
 * left by a jump is forgotten: its time is found by the next tick. */
void tick_wait_begins(struct runtime_thread *thread, uint64_t function);
void tick_wait_ends(struct runtime_thread *thread);
void tick_wait_forget(struct runtime_thread *thread);
/* No ticks for a while, the clocks going on. */
void tick_pause(struct runtime_thread *thread);
void tick_resume(struct runtime_thread *thread);

/* --- floating point exceptions (fp.c) --- */

int fp_install(void);
/* The present thread begins, or is a forked process's first; and ends. */
void fp_start(struct runtime_thread *thread);
void fp_stop(struct runtime_thread *thread);
/* After runtime.on has changed: all threads follow, and this waits a little until they have.
 * `thread`: the present one; NULL: it is not to be touched. Not in two threads at a time. */
void fp_turn(struct runtime_thread *thread);
/* At each tick of a thread that has `fp`. */
void fp_tick(struct runtime_thread *thread, void *context);

/* --- signals (signals.c: in both libraries) ---
 *
 * The real functions, whoever has interposed them. */
int real_sigaction(int number, const struct sigaction *action, struct sigaction *old);
int real_sigmask(int how, const sigset_t *set, sigset_t *old);

#endif
