/*
 * The agent's state in the measured process, shared by all of its folders. Code that takes a sample must not take a
 * lock, allocate, or call functions that are not async-signal-safe, and keeps the program's errno.
 *
 *   hooks/, probes/, control/   count calls in a tally: hooks.h, registry.h (hooks/none.c where there are no hooks)
 *   core/, ticks/, signals/     the process, its threads, their timers, and samples
 *   core/                       own.c start_stop.c labels.c: include/cpprof/runtime.h
 *   causal/                     the pauses of virtual speed-ups
 *   fp/                         floating point exceptions
 *   interpose/                  calls that the preloaded libraries replace
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
	struct channel *channel; /* NULL: no recorder, and nothing to do */
	bool alone;              /* the channel is private: only hooks count (hooks.h), and no monitor reads it */
	const uint8_t *code;     /* the list of codes (CHANNEL_CODES): read-only; core/channel.h has the chunks */
	struct channel_process *process; /* our slot */
	uint32_t process_number;
	uint32_t pid;
	bool on;                             /* counting is on; with starts_paused only after cpprof_start */
	uint16_t requests_of[COUNTER_COUNT]; /* the requests that count it: bit n is request n */
	uint16_t fp_requests[FP_KIND_COUNT]; /* the requests that count the kind of bit n of enum fp_kind */
	uint8_t fp_kinds;                    /* enum fp_kind, or-ed: all that any request counts */
	uint64_t text_start, text_end;       /* our own code: walks leave its frames out */
	int signal;                          /* the signal of the timers */
	bool kernel_copies;                  /* process_vm_readv is permitted */
	bool is_stopped;                     /* counting stays off: a filter of all threads forbids it */
	bool has_experiments;                /* threads pause for virtual speed-ups: causal/causal.h */
	int64_t time_offset_ns;              /* of CLOCK_MONOTONIC, in a time namespace: collect/shared/time_offset.h */
};
extern struct runtime runtime;

/* Connects to the recorder if there is one. Only the first call has an effect: the call of a constructor, or of code that
 * runs earlier. */
void cpprof_runtime_begin(void) __attribute__((visibility("default")));

/* Where hooks count without a recorder's channel: makes a private channel and starts this thread's clocks. Has no
 * effect before cpprof_runtime_begin, which calls it. Async-signal-safe. Keeps errno. */
void runtime_begin_alone(void);

/* Called in the child of a fork, also of one for which the C library runs no fork handlers. Async-signal-safe where
 * hooks count. */
void runtime_forked(void);
/* The same for a child that begins on a stack of its own. `creator` is a record of
 * runtime_describe_creator with its frames behind it, or NULL. */
void runtime_cloned(const struct sample_record *creator);

/* Reports to the monitor that code was mapped or unmapped, and waits until walks can use it: at most a second, and
 * only a few timeouts in the whole life of a process. Not for handlers. */
void runtime_code_changed(void);

/* Waits until the monitor has raised a futex to `at_least`. Returns false after `milliseconds`, or if the monitor
 * has ended. */
bool runtime_wait_for(uint32_t *futex, uint32_t at_least, uint32_t milliseconds);

/* Wakes the monitor. Async-signal-safe. */
void runtime_ring_bell(void);

/* Passes all label sets of the process to hooks_labels_declared again. For the child of a fork. */
void runtime_labels_repeat(void);

/* --- threads --- */

/* The interval timer of one request in the form for the fastest path: while the clock's total stays below `limit`,
 * counting is one addition to the total. `seen` is the total up to which clock->used is updated. */
struct runtime_lane {
	struct interval_clock *clock;
	uint64_t limit, seen;
};

struct runtime_thread {
	struct channel_thread *shared; /* its slot */
	uint8_t *ring;                 /* NULL if the channel is private */
	uint32_t tid;
	/* Not 0: the library is active in this thread, in the function with this frame, or (RUNTIME_HELD) in code
	 * that nothing can leave by a jump. A tick that comes then counts nothing; the next one counts for both. */
	uint64_t busy;
	uint32_t labels; /* its label set; 0: none */
	/* The thread waits in a call from which our signal is kept out (signals/waits.c): a tick directly after it
	 * belongs to the wait. */
	uint32_t waiting;

	/* ticks/tick.c */
	int timer, cpu_timer; /* the kernel's numbers */
	bool has_timer, has_cpu_timer;
	bool is_idle;               /* the last tick found it waiting */
	uint64_t interval_start_ns; /* of the present part of time, on the clock of targets (tick.c) */
	uint64_t target_ns;         /* ... and the target in it, at which the timer expires */
	uint64_t least_delay_ns;    /* ... and the least time from a target to the handler */
	uint64_t idle_wait_ns;      /* mean time between ticks while it waits */
	uint64_t real_ns, cpu_ns;   /* the clocks up to which time is counted */
	uint64_t cpu_seen_ns;       /* its CPU time at the last tick */
	/* By request that needs ticks: the time that ticks have charged since the last full interval. */
	uint64_t tick_used[SAMPLE_REQUESTS];
	/* has_waited (ticks/tick.c): voluntary switches when it last looked, and shielded waits since */
	uint64_t switches, charged_waits;
	uint64_t blocked_ns;   /* time off the CPU that is not charged yet; a tick in a wait charges it */
	uint64_t tick_samples; /* `samples` after the last sample of this tick: while equal, `walk` is of this tick */
	uint64_t wait_ns, wait_cpu_ns; /* the clocks at the start of its present wait; 0: none */
	uint64_t wait_function;        /* ... and the function that waits */
	uint64_t noted_ns;             /* time of its last record of where it waits */
	uint64_t idle_samples; /* `samples` when a tick found it waiting: while equal, `walk` is where it waits */
	uint64_t random;

	/* sample.c */
	uint64_t pages[2];      /* of the stack, readable in the present walk */
	uint64_t samples;       /* number of times that `walk` was overwritten */
	uint64_t deep_until_ns; /* until then its stacks are not walked here, because one was too deep */
	struct walk *walk;      /* has the frames of the last sample */

	/* interpreted.c */
	struct interpreted_memory *interpreted; /* NULL: not needed yet, or no memory */
	uint64_t interpreter_thread;            /* address of the interpreter's structure of the thread; 0: not known */
	uint64_t not_interpreted_until_ns;      /* until then it is not looked for again */

	void *alternate_stack; /* ours, if the program had set none; NULL: none */

	/* causal/causal.c, in ns of the turn `causal_turn` */
	uint64_t causal_turn;
	uint64_t paid_ns;    /* pauses that it has made, that it may skip, or that its own work has caused */
	uint64_t ahead_ns;   /* it has slept so much longer than it owed */
	uint64_t wait_frame; /* it waits in a call of the function with this frame; 0: it does not */

	/* fp/ */
	struct fp_thread *fp; /* NULL: none */
	uint32_t fp_turn;     /* number of the last cpprof_start or cpprof_stop that its control words follow */

	/* interpose/alloc.c: an outer call counts, the calls within it do not. */
	uint32_t depth;
	uint32_t outer_lanes; /* alloc_lanes before the outermost call, whose frame is outer_frame */
	uint64_t outer_frame;
	uint32_t ticks; /* ticks that ran here: interpose/io.c repeats a transfer that one cut short */
	/* interpose/alloc.c. Zero in a new thread and in a forked process, which has other clocks. */
	uint32_t alloc_lanes;
	struct runtime_lane alloc_bytes, allocs;
};

/* NULL: this thread is not registered (yet), or has ended. */
extern _Thread_local struct runtime_thread *runtime_thread __attribute__((tls_model("initial-exec")));

/* Registers this thread, if it is not registered yet. `creator`: the record of the path that started it
 * (runtime_describe_creator), with its frames; NULL: unknown. Returns the thread, or NULL if it was refused or has
 * ended. Not for handlers. */
struct runtime_thread *runtime_thread_begin(const struct sample_record *creator);
/* Ends the registration of this thread: counts the rest of its clocks and frees its slot. */
void runtime_thread_end(void);
/* Registers it again. */
void runtime_thread_begin_again(void);

enum { RUNTIME_HELD = 1 };

/* work.c. The present thread is at this stack pointer, or about to jump there. Ends work of ours in frames below it:
 * a handler of the program has interrupted that work and does not return. Async-signal-safe. */
void runtime_abandon(struct runtime_thread *thread, uint64_t stack_pointer);
/* The same. Returns whether the library is still active in the thread. */
bool runtime_is_at_work(struct runtime_thread *thread, uint64_t stack_pointer);

/* Returns whether a frame has ended for a thread at that stack pointer. A handler on the alternate stack leaves all
 * frames on other stacks intact; a thread that has left the alternate stack does not return to it.
 * Async-signal-safe. */
bool runtime_is_gone(uint64_t frame, uint64_t stack_pointer);

#define RUNTIME_HERE ((uint64_t)(uintptr_t)__builtin_frame_address(0))

/* Begins work in the function with that frame. Returns false if the library is already active in the thread. */
static inline bool runtime_set_busy(struct runtime_thread *thread, uint64_t frame)
{
	if (__builtin_expect(thread->busy != 0, 0) && runtime_is_at_work(thread, frame))
		return false;
	thread->busy = frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

/* Begins work that a tick must not interrupt. Returns the present thread, or NULL if it is not registered, if
 * counting is off (runtime.on) or if the library is already active in it. */
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

/* Register the first thread of a program, or of a forked process. `text` is the program's name. */
struct runtime_thread *runtime_thread_begin_main(enum channel_event event, int64_t detail, const char *text);
void runtime_thread_forked(int64_t parent_pid, const struct sample_record *creator);

/* Visits all registered threads of the process. Not for handlers. */
void runtime_each_thread(void (*visit)(struct runtime_thread *thread));

/* Blocks ticks in the present thread until real_sigmask(SIG_SETMASK, old, NULL). */
void runtime_block_ticks(sigset_t *old);

size_t runtime_thread_bytes(void);
/* The same with its alternate stack. */
size_t runtime_thread_all_bytes(void);

/* Map private memory that is zero, or return NULL; unmap it. */
void *runtime_map(size_t bytes);
void runtime_unmap(void *memory, size_t bytes);

/* --- samples (sample.c): only between runtime_enter and runtime_leave, or in a handler that has found busy == 0 and
 * set it --- */

/* Advances the thread's interval timer of a request. Returns the number of boundaries that it crossed. */
uint64_t runtime_advance(struct runtime_thread *thread, uint32_t request, uint64_t amount);

/* Sets the thread's first boundary of a request to a random position. */
void runtime_set_mark(struct runtime_thread *thread, uint32_t request);

/* Samples the present call path without our own frames. `function` becomes the innermost frame: the run-time address
 * of the real function that is called; 0: none. */
void runtime_sample_here(struct runtime_thread *thread, uint32_t request, uint64_t hits, uint64_t amount,
			 uint64_t function);

/* Samples the code that a signal interrupted: `context` is the handler's third argument. */
void runtime_sample_interrupted(struct runtime_thread *thread, uint32_t request, uint64_t hits, uint64_t amount,
				const void *context);

/* Walks that path without writing a sample. Returns whether runtime_sample_again can write samples of it. */
bool runtime_walk_interrupted(struct runtime_thread *thread, const void *context);

/* Returns whether the last walk reached the root and the outermost frames are in these functions, outermost first. */
bool runtime_walk_is_below(const struct runtime_thread *thread, const struct channel_range *path, uint32_t frames);

/* Copies memory that may not be mapped. Returns false if it is not. Async-signal-safe. */
bool runtime_copy(void *to, size_t bytes, uint64_t address);

/* Writes the last sample's path again, for another request or more hits. Only if runtime_can_repeat: the path was
 * walked, not copied for the user-space fallback. */
bool runtime_can_repeat(const struct runtime_thread *thread);
void runtime_sample_again(struct runtime_thread *thread, uint32_t request, uint64_t hits, uint64_t amount);

/* Advances the interval timers of all requests for the counter, and samples the present path for each that crosses a
 * boundary. */
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

/* Describes the path at which this thread is about to start another one: fills a record and its frames (room for
 * WALK_FRAMES). Returns false if the walk did not reach the root. */
bool runtime_describe_creator(struct runtime_thread *thread, struct sample_record *record, uint64_t *frames);

/* --- records other than samples (ring.c) --- */

/* Returns whether this is the child of a vfork, or of a fork that did not call runtime_forked: it has this process's
 * memory, but the slots and rings belong to its parent. */
bool runtime_is_elsewhere(void);

/* Writes an event. Waits a little if the ring is full, then counts the event as lost. Not for handlers. */
void runtime_write_event(struct runtime_thread *thread, enum channel_event event, uint32_t about, int64_t detail,
			 const char *text, size_t text_bytes);

/* Returns the bytes that the thread's ring has room for now. Async-signal-safe. */
uint64_t runtime_ring_room(const struct runtime_thread *thread);

/* Appends a record and the data behind it, in up to two parts (the second may be empty). Returns false if there is
 * no room. Async-signal-safe. */
bool runtime_ring_write(struct runtime_thread *thread, const void *first, size_t first_bytes, const void *second,
			size_t second_bytes);

/* The same for a record in several parts. */
struct runtime_part {
	const void *bytes;
	size_t size;
};
bool runtime_ring_write_parts(struct runtime_thread *thread, const struct runtime_part *parts, size_t count);

/* --- clocks --- */

static inline uint64_t runtime_now_ns(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000ULL + (uint64_t)time.tv_nsec;
}

/* Finds the offset of the process's time namespace, before its first stamp: a process enters
 * another one when it is forked or executes a program. Where a filter forbids to read it, the
 * parent's remains. Async-signal-safe. */
void runtime_find_time_offset(void);

/* Return the kernel's own clock, for times that the recorder reads: now, and at a time of CLOCK_MONOTONIC. */
static inline uint64_t runtime_stamp_of(uint64_t monotonic_ns)
{
	return monotonic_ns - (uint64_t)runtime.time_offset_ns;
}

static inline uint64_t runtime_stamp_ns(void)
{
	return runtime_stamp_of(runtime_now_ns(CLOCK_MONOTONIC));
}

/* Returns from - what, or 0 if `what` is larger: clocks are read one after the other. */
static inline uint64_t runtime_less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

/* --- ticks (ticks/) --- */

/* Installs the process's handler of the timers' signal. Returns 0, or -1 if the kernel refuses. */
int tick_install(void);
/* Create the present thread's timers; delete them after counting the rest. */
void tick_create(struct runtime_thread *thread);
void tick_finish(struct runtime_thread *thread);
/* Called in the child of a fork before its thread's timers are created. */
void tick_forked(void);
/* Start ticks with all clocks set to now; stop them and count the time since the last tick. For any thread (see
 * runtime_each_thread): if its own handler runs at the same time, the use of one tick is lost. */
void tick_start(struct runtime_thread *thread);
void tick_stop(struct runtime_thread *thread);
/* Counts what the present thread has used since its last tick, for the totals of hooks. */
void tick_count_rest(struct runtime_thread *thread);
/* Sends one tick to the thread now. If ticks are stopped, the tick only calls fp_tick. */
void tick_send(struct runtime_thread *thread);

/* Called around a wait that ticks are kept out of (signals/waits.c). `function` is the waiting function. If a jump
 * has left the wait, call tick_wait_clear: the next tick charges the time. */
void tick_wait_begins(struct runtime_thread *thread, uint64_t function);
void tick_wait_ends(struct runtime_thread *thread);
void tick_wait_clear(struct runtime_thread *thread);
/* Stop ticks for a while; the clocks go on. */
void tick_pause(struct runtime_thread *thread);
void tick_resume(struct runtime_thread *thread);

/* --- floating point exceptions (fp/) --- */

int fp_install(void);
/* Begin and end the present thread; it may be the first of a forked process. */
void fp_start(struct runtime_thread *thread);
void fp_stop(struct runtime_thread *thread);
/* Called after runtime.on has changed. Waits a little until all threads have followed. `thread`: the present one;
 * NULL: do not change it. Not in two threads at the same time. */
void fp_turn(struct runtime_thread *thread);
/* Called at each tick of a thread that has `fp`. */
void fp_tick(struct runtime_thread *thread, void *context);

/* --- signals (signals/, in both libraries) ---
 *
 * The real functions, also where another library interposes them. */
int real_sigaction(int number, const struct sigaction *action, struct sigaction *old);
int real_sigmask(int how, const sigset_t *set, sigset_t *old);

#endif
