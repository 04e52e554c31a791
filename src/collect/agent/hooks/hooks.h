/*
 * The compilers' hooks (mcount, __fentry__, __cyg_profile_func_enter, ...) call the measurement that was chosen at
 * start. The measurement counts the event in the thread's tally (abi/tally.h).
 *
 *   hooks.S (one per processor), hooks/cyg.c, hooks/gmon.c
 *                     the hooks, under the names that compilers and the C library use
 *   probes/enter_leave.c
 *                     the same for probe points in the source, where cpprof/profiler.h does not count inline
 *   hooks/hooks.c     threads: their first event, their end, reuse of their state
 *   hooks/arcs.c hooks/paths.c hooks/timed.c hooks/trace.c hooks/blocks.c
 *                     measurements: one vtable each
 *   hooks/frames.c hooks/jumps.c hooks/stacks.c
 *                     which frames are still active (longjmp, exceptions, other stacks)
 *   hooks/tally.c hooks/tally_modules.c
 *                     the file
 *
 * A hook runs in any context: before constructors, in a handler that interrupted a hook, in malloc, after the
 * thread's last destructor, on any stack, between vfork and exec. It allocates memory only with mmap, takes no lock
 * on its usual path, calls no function that could itself be instrumented, and keeps errno and (mcount, __fentry__)
 * all registers.
 *
 * A handler that interrupts a hook may call hooks. They push their frames above `top` and restore it. Therefore one
 * store raises `top`, and the frame that it points to is checked, and written again if necessary, after that store.
 * One instruction increments a count. No atomics are needed, because each table belongs to one thread.
 */
#ifndef COLLECT_AGENT_HOOKS_HOOKS_H
#define COLLECT_AGENT_HOOKS_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/tally.h"
#include "collect/agent/core/runtime.h"

/*
 * A call that has not returned, according to the events so far. `return_slot` is
 *   - for a hook that reports entries only: the address at which the stack holds the call's return address;
 *   - for -finstrument-functions: the function's stack pointer when it called the hook, or-ed with HOOK_FRAME_LEAVES;
 *   - for a probe point: the address of the return address, or-ed with HOOK_FRAME_LEAVES and HOOK_FRAME_PROBE.
 */
struct hook_frame {
	struct tally_node *node;
	uint64_t return_slot;
	uint64_t call_site;       /* its return address */
	struct tally_edge *guess; /* the call that its node is expected to make next, or &hooks_no_edge */
};
enum {                        /* flags in `return_slot` */
       HOOK_FRAME_LEAVES = 1, /* the hook reports the return as well */
       HOOK_FRAME_PROBE = 2   /* a probe point in the source: node->function is the address of a struct cpprof_probe */
};
/* A value of `return_slot`: the frame is not a call, but the base of a run, which is the frames of one stack
 * (hooks/stacks.c). frames[0] is a base. */
#define HOOK_FRAME_BASE UINT64_MAX

/* An edge that equals no call. Guesses and caches point to it instead of being NULL. */
extern struct tally_edge hooks_no_edge;

struct hook_thread;

/* The destination of a longjmp or another jump over frames. */
struct hook_landing {
	uint64_t stack_pointer;
	const void *buffer; /* the buffer that setjmp filled in; NULL: the jump uses none */
};

/* A measurement. Every member is required, gets the current thread's state, and returns as soon as it can.
 * `return_slot` is as in struct hook_frame. */
struct hook_measurement {
	const char *name;
	/* mcount, __fentry__: `function` was called; the stack holds its return address `call_site` at
	 * `return_slot`. */
	void (*entered)(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot);
	/* __cyg_profile_func_enter and _exit, and probe points in the source (`function` is then the address of a
	 * struct cpprof_probe). `code` is the hook's return address. It lies in the function, or in the function that the
	 * function is inlined into. */
	void (*enter)(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
		      uint64_t code);
	void (*leave)(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot);
	/* A basic block begins; `pc` is an address in it. */
	void (*block)(struct hook_thread *thread, uint64_t pc);
	/* The thread passed `hits` boundaries of a request in the code that a handler interrupted; `context` is the
	 * handler's third argument. With NULL it passed them in the code that called this library.
	 * Async-signal-safe; may interrupt any other member. */
	void (*tick)(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context);
	/* The thread is about to jump to `landing`. Drops the frames whose return slots lie below its stack pointer,
	 * and the frames that were pushed after its setjmp. */
	void (*rewind)(struct hook_thread *thread, const struct hook_landing *landing);
	/* Writes the data that is still in private memory. The thread may continue to count. */
	void (*flush)(struct hook_thread *thread);
};
extern const struct hook_measurement hooks_off, hooks_arcs, hooks_paths, hooks_paths_timed, hooks_trace, hooks_blocks;

enum { HOOK_CACHE = 4096, HOOK_JUMP_SETS = 16, HOOK_JUMP_WAYS = 4 };

/* A call of setjmp (hooks/jumps.c). */
struct hook_jump {
	struct hook_landing landing;
	uint64_t depth; /* index of the frame that was on top; its contents follow */
	const struct tally_node *node;
	uint64_t return_slot, call_site;
};

/* Private to hooks.c. */
struct hook_owner {
	struct hook_thread *next; /* the list of all states; only a fork removes states */
	uint32_t tid;
	uint32_t has_ended;              /* the thread runs its last destructors, or has exited */
	uint32_t has_stopped;            /* memory, disk space or the limit is exhausted: it never counts again */
	uint64_t seen_ns;                /* CLOCK_MONOTONIC at its last tally_note_time */
	uint64_t totals[TALLY_REQUESTS]; /* the part of the clocks' totals that is in tally_thread.totals already */
};

/* The state of a thread; private memory. */
struct hook_thread {
	const struct hook_measurement *measurement; /* hooks_off while it does not count */
	struct hook_frame *top;
	uint64_t direct_low; /* stack_low if cpprof/profiler.h may count inline, else UINT64_MAX */
	struct hook_frame *limit;
	uint64_t last_ticks;       /* TALLY_PATHS_TIMED: time stamp of the last charge; TALLY_PATHS: 0 */
	struct hook_frame *frames; /* frames[0] is the root's and always exists */
	struct tally_thread *shared;
	struct tally_chunk *chunk;      /* objects are allocated from it */
	uint64_t nodes;                 /* number of nodes made so far */
	uint64_t stack_low, stack_high; /* bounds of the last event's stack; empty if they are unknown */
	uint64_t *next_event;           /* TALLY_TRACE: position of the next event (hooks/trace.c); NULL: no ring yet */
	uint64_t *events_end;           /* ... no event begins here or behind */
	uint32_t ticks_high;            /* ... upper half of the last TALLY_EVENT_TIME */
	uint32_t spare;
	/* processor/agent/hooks_offsets.h has the offsets of the members so far and of this one. `cache` finds edges
	 * of `arcs` by (call site, function). */
	struct tally_edge *cache[HOOK_CACHE];
	struct hook_frame *run;         /* hooks/stacks.c: the base of the run that contains `top` */
	uint64_t own_low, own_high;     /* ... bounds of the thread's own stack; 0: not determined yet */
	uint64_t other_low, other_high; /* ... assumed bounds of the last event's stack if it is any other, else 0 */
	uint64_t depth_unknown;         /* active calls without a frame, because there was no room */
	struct tally_ring *ring;        /* TALLY_TRACE: the ring that receives events (hooks/trace.c) */
	uint64_t paths_numbered;        /* ... the tally_node.number that was given last */
	bool events_over;               /* ... memory, disk space or the limit is exhausted */
	struct tally_blocks *blocks;    /* the current table of counts (hooks/blocks.h) */
	uint64_t block_mask, block_count;
	uint32_t number; /* of its tally_thread */
	struct hook_owner owner;
	struct hook_edges *edges; /* hooks/edges.c: the further edges of nodes that have many; NULL: none yet */
	struct hook_note *notes;  /* hooks/around.c: one for each frame, in private memory; NULL: none yet */
	uint64_t notes_bytes;
	/* The set is a hash of the buffer's address; in a set, the last remembered jump is the first. */
	struct hook_jump jumps[HOOK_JUMP_SETS][HOOK_JUMP_WAYS];
};

/* Fills the thread's cache with &hooks_no_edge, if the measurement uses the cache. */
void hooks_clear_arcs(struct hook_thread *thread);

/* Updates direct_low. Call it after `measurement` or `stack_low` has changed. */
void hooks_allow_direct(struct hook_thread *thread);

/* Initializes a new thread's frames, when `frames` and `limit` are set: the root's frame only, and no known stack. */
void hooks_frames_begin(struct hook_thread *thread, struct tally_node *root);

/* mcount and __fentry__ run while the vector registers still hold values of the function that called them. Therefore
 * the files of measurements are compiled with -mgeneral-regs-only, and they call other code (for example the C
 * library) through this function, which keeps all vector registers. Returns the value of function(first, second). */
uint64_t hooks_keep_vectors(uint64_t (*function)(void *, uint64_t), void *first, uint64_t second);

/* The current thread's state, never NULL. Before a thread's first event it is `hooks_none`, whose measurement
 * makes the state. */
extern _Thread_local struct hook_thread *hook_thread __attribute__((tls_model("initial-exec")));
extern struct hook_thread hooks_none;

/* --- resolvers (ready.c) ---
 *
 * The resolver of an IFUNC symbol may run before the dynamic linker has relocated this library,
 * before it has filled in the thread-local variables, and in a static program before there are
 * any. Hooks return at once until then. */

extern bool hooks_ready;
/* Sets hooks_ready if hooks may run now. Keeps the vector registers. */
void hooks_become_ready(void);

static inline bool hooks_are_ready(void)
{
	if (__builtin_expect(!hooks_ready, 0))
		hooks_become_ready();
	return __builtin_expect(hooks_ready, 1);
}

/* --- the process (tally.c, hooks.c) --- */

struct hooks {
	struct tally_header *header;   /* NULL: this process counts nothing */
	struct tally_process *process; /* this process's chunk */
	uint32_t process_number;
	const struct hook_measurement *measurement; /* the measurement of all threads while counting is on */
	uint32_t on;
	bool awaits_start; /* the program starts counting itself, by monstartup */
};
extern struct hooks hooks;

/* Opens or makes the file and begins to count. Only the first call has an effect: the call of a constructor, of
 * __monstartup or of a hook. */
void hooks_begin(void);

/* As hooks_begin, but only opens the recorder's file and makes none. The first constructor calls it. */
void hooks_begin_recorded(void);

/* Returns the current thread's state, and makes it if there is none. If that fails, returns a state whose
 * measurement is hooks_off and that must not be written to. Async-signal-safe. */
struct hook_thread *hooks_thread_begin(void);
/* Makes the current thread's state, if there is none, and records `creator`: the path that was current where the
 * thread was created, or NULL if unknown. */
void hooks_thread_created(struct tally_node *creator);
/* Returns the current thread's current path, or NULL if it has none. */
struct tally_node *hooks_current(void);
/* The current thread ends. Its last destructors may still call hooks: another thread gets the state only after this
 * one has exited. */
void hooks_thread_end(void);

/* Turns counting on or off for all threads (moncontrol, cpprof_start, cpprof_stop). */
void hooks_turn(bool on);
/* Sets the measurement of all threads; those that are off stay off. Async-signal-safe, by any thread. */
void hooks_measure_by(const struct hook_measurement *measurement);
/* The program exits or is about to call exec: writes the data in private memory and sets the end times. */
void hooks_finish(void);
/* Writes the data that the current thread has in private memory. */
void hooks_flush(void);
/* Writes the unit of a resource of the program into the file, unless a process has declared one before. */
void hooks_unit_declared(uint32_t request, const char *unit, size_t bytes);
/* Records the text of a label set, which the samples of this process name by its number. */
void hooks_labels_declared(uint32_t number, const char *text, size_t bytes);
/* Records the sets that a forked process has from its parent. */
void hooks_labels_forked(void);
/* The exec failed: clears the end times that hooks_finish has set. */
void hooks_clear_end(void);
/* A filter of the program forbids system calls of the agent: notes it in the tally. Makes no system call. */
void hooks_sandboxed(void);
/* Calls `leave_out` for the memory of the threads' states. */
void hooks_leave_out(void (*leave_out)(const void *start, uint64_t bytes));
/* Returns whether these filters would end a program by a system call that only the hooks make (hooks/calls.c). */
struct machine_filter;
bool hooks_are_harmed(const struct machine_filter *filters);
/* Called before this thread enters the strict mode, in which the kernel permits it no time stamps either: stops the
 * measurements that need them. */
void hooks_stop_stamps(void);
/* Called in the child of a fork: begins chunks for the new process. */
void hooks_forked(void);
/* A part of hooks_forked: enters the active calls of the thread, up to `top`, into the child's own tables. Returns
 * false if there is no memory (hooks/fork.c). */
bool hooks_copy_frames(struct hook_thread *thread, const struct hook_frame *top);
/* Records the new name of the thread `tid`; `bytes` is its length without a NUL. */
void hooks_named(uint32_t tid, const char *name, size_t bytes);
/* Adds the new gticks of the current thread's clocks to its totals in the tally, and at most every 100 ms records
 * the time. Called by the thread's handler of ticks, and when the thread ends. */
void hooks_total(const struct runtime_thread *thread);
/* Charges `hits` samples of a request: see hook_measurement.tick. */
void hooks_tick(uint32_t request, uint64_t hits, const void *context);
/* Records a call of setjmp. The landing has the stack pointer that a jump will restore. Async-signal-safe. */
void hooks_store_jump(const struct hook_landing *landing);
/* The current thread is about to jump to `landing`: see hook_measurement.rewind. Async-signal-safe. */
void hooks_rewind(const struct hook_landing *landing);
/* The current thread was not created by the C library: its hooks return at once until it exits. */
void hooks_refuse_thread(void);
/* Memory, disk space or the limit is exhausted: this thread's hooks return at once from now on. */
void hooks_stop_thread(struct hook_thread *thread);

/* --- used by the rest of the runtime (hooks/none.c where there are no hooks) --- */

/* Returns true if samples are charged to the hooks' call paths, false if the agent walks the stack (sample.c). */
static inline bool hooks_measure(void)
{
	return hooks.header != NULL;
}

/* Returns a mapped chunk that is zero behind its header, or NULL if there is no memory, no disk space or the limit
 * is reached. `bytes` is rounded up. The caller fills the chunk in and then sets `kind` by tally_chunk_finish.
 * Async-signal-safe. */
struct tally_chunk *tally_chunk_new(uint64_t bytes, uint32_t thread);
void tally_chunk_finish(struct tally_chunk *chunk, enum tally_chunk_kind kind);
/* Appends a chunk of events, which is one granule and not mapped. `words` is as long as the granule's words and zero
 * behind `count`. `events` and `first` are as in struct tally_trace. Returns false if the chunk could not be
 * written. Async-signal-safe. */
bool tally_write_events(uint32_t thread, const uint64_t *words, size_t count, uint64_t events, uint64_t first);
/* Returns `bytes` of zeros for a node, edge or tick of the thread, or NULL if there is no memory; the thread has
 * then stopped counting (hooks_off). */
void *tally_object_new(struct hook_thread *thread, size_t bytes);

/* Code was loaded or unloaded: registers the modules of this process. The addresses of unloaded modules are normally
 * not used again, so that they keep their meaning. Not async-signal-safe. */
void tally_modules_changed(void);
/* Registers the module that contains `address`, if there is one. Call it before an edge or a tick with a new address
 * is made. Async-signal-safe; takes some ns if the module is registered already. */
void tally_register_code(uint64_t address);

/* An address near this thread's stack pointer while a hook calls the dynamic linker, else 0. */
extern _Thread_local uint64_t hooks_asking __attribute__((tls_model("initial-exec")));

/* Finds the range [*start, *end) of the code around `address` in the unwind table: a function, or a part of one.
 * Returns false if none is found. Async-signal-safe. */
bool hooks_function_bounds(uint64_t address, uint64_t *start, uint64_t *end);
/* Returns true if the code at `address` is a part of a function that the compiler has placed apart from the
 * function's start. */
bool hooks_is_function_part(uint64_t address);

static inline void hooks_count(uint64_t *count)
{
	__asm__ volatile("incq %0" : "+m"(*count));
}

#endif
