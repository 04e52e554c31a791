/*
 * What the compiler's hooks do: a call of mcount, __fentry__, __cyg_profile_func_enter, ... goes to
 * the measurement that was chosen at start, which counts it in the thread's tally (abi/tally.h).
 *
 *   hooks.S (the processor's), hooks/cyg.c, hooks/gmon.c    the hooks themselves, as compilers and the C library name them
 *   probes/enter_leave.c      the same for objects in the source, as far as cpprof/profiler.h does not count by itself
 *   hooks.c           threads: their first event, their end, what they hand on
 *   hooks/arcs.c hooks/paths.c hooks/timed.c hooks/trace.c hooks/blocks.c    measurements: one vtable each
 *   hooks/frames.c hooks/jumps.c    which frames are still there (longjmp, exceptions, other stacks)
 *   tally.c tally_modules.c    the file
 *
 * A hook runs anywhere: before constructors, in handlers that have interrupted a hook, in malloc, after the
 * thread's last destructor, on any stack, between vfork and exec. It allocates by mmap alone, takes no lock on its
 * way, calls nothing that could itself be instrumented, keeps errno and (mcount, __fentry__) all registers.
 *
 * Interrupted by a handler that calls hooks: these go on above `top` and leave it as it was; so `top` is
 * raised by one store, and what it points at is written (again) behind that. Counts are incremented by one
 * instruction. No atomics: a table has one thread.
 */
#ifndef COLLECT_AGENT_HOOKS_HOOKS_H
#define COLLECT_AGENT_HOOKS_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/tally.h"
#include "collect/agent/core/runtime.h"

/* A call that has not returned, as far as is known. */
struct hook_frame {
	struct tally_node *node;
	uint64_t
		return_slot; /* entries alone known: where its return address lies; else its stack pointer where it called
			 * the hook, and HOOK_FRAME_LEAVES; or where its return address lies, that and HOOK_FRAME_PROBE */
	uint64_t call_site;       /* its return address */
	struct tally_edge *guess; /* of its node: what it calls next, probably; or &hooks_no_edge */
};
enum {                        /* in `return_slot` */
       HOOK_FRAME_LEAVES = 1, /* its hook tells when it is left */
       HOOK_FRAME_PROBE = 2   /* ... and is the source's own: the node's function is a struct cpprof_site's address */
};
/* As `return_slot`: none was called here, a run of frames on another stack begins; frames[0] is one. */
#define HOOK_FRAME_BASE UINT64_MAX

/* Of no call. */
extern struct tally_edge hooks_no_edge;

struct hook_thread;

/* Where a jump leads. */
struct hook_landing {
	uint64_t stack_pointer;
	const void *buffer; /* of setjmp; NULL: no such jump */
};

/* A measurement: every member is required. They are called with the present thread's state, and return as soon as
 * they can. `return_slot` as in hook_frame. */
struct hook_measurement {
	const char *name;
	/* mcount, __fentry__: `function` was called, its return address `call_site` lies at `return_slot`. */
	void (*entered)(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot);
	/* __cyg_profile_func_enter and _exit, and the source's own (`function` is then a struct cpprof_site's address). `code`:
	 * where the hook returns to, which is in the function, or where that is inlined. */
	void (*enter)(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot,
		      uint64_t code);
	void (*leave)(struct hook_thread *thread, uint64_t function, uint64_t call_site, uint64_t return_slot);
	/* A basic block begins; `pc` is in it. */
	void (*block)(struct hook_thread *thread, uint64_t pc);
	/* A resource's interval was over `hits` times, and this is where (a handler's third argument; NULL: here).
	 * Async-signal-safe; may have interrupted any of the others. */
	void (*tick)(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context);
	/* About to jump there: frames whose return slot is below its stack pointer are gone, and those that came behind setjmp. */
	void (*rewind)(struct hook_thread *thread, const struct hook_landing *landing);
	/* Writes what is still in private memory; the thread may go on. */
	void (*flush)(struct hook_thread *thread);
};
extern const struct hook_measurement hooks_off, hooks_arcs, hooks_paths, hooks_paths_timed, hooks_trace, hooks_blocks;

enum { HOOK_CACHE = 4096, HOOK_JUMPS = 64 };

/* What setjmp was called from (hooks/jumps.c). */
struct hook_jump {
	struct hook_landing landing;
	uint64_t depth; /* which of the thread's frames that was, and what is to be found there */
	const struct tally_node *node;
	uint64_t return_slot, call_site;
};

/* Whose state it is: of hooks.c alone. */
struct hook_owner {
	struct hook_thread *next; /* of all states that there are; none is ever taken out */
	uint32_t tid;
	uint32_t has_ended;              /* its last destructors run, or it is gone */
	uint32_t has_stopped;            /* for want of memory: it is not turned on again */
	uint64_t seen_ns;                /* when it last said what time it is */
	uint64_t totals[TALLY_REQUESTS]; /* of the thread's clocks, as far as they are in tally_thread.totals */
};

/* The state of a thread; private memory. */
struct hook_thread {
	const struct hook_measurement *measurement; /* hooks_off where it cannot count, or not now */
	struct hook_frame *top;
	uint64_t direct_low; /* stack_low where cpprof/profiler.h counts by itself; UINT64_MAX: it does not */
	struct hook_frame *limit;
	uint64_t last_ticks;       /* TALLY_PATHS_TIMED: when time was charged last; else 0 */
	struct hook_frame *frames; /* frames[0] is the root's, always there */
	struct tally_thread *shared;
	struct tally_chunk *chunk;      /* that objects are taken from */
	uint64_t nodes;                 /* made so far */
	uint64_t stack_low, stack_high; /* of the stack that the last event was on, as far as known */
	uint64_t *next_event; /* TALLY_TRACE: where the next event is put (hooks/trace.c); NULL: there is no ring yet */
	uint64_t *events_end; /* ... and where none begins */
	uint32_t ticks_high;  /* ... the upper half of the last TALLY_EVENT_TIME */
	uint32_t spare;
	/* processor/agent/hooks_offsets.h has what is above, and this: arcs by (call site, function), a hint. */
	struct tally_edge *cache[HOOK_CACHE];
	struct hook_frame *run;         /* hooks/stacks.c: the base of the run that `top` is in */
	uint64_t own_low, own_high;     /* ... the thread's own stack; 0: not known (yet) */
	uint64_t other_low, other_high; /* ... that of the last event, if it is one that nobody knows; 0: it is not */
	uint64_t depth_unknown;         /* calls that have no frame, as there was no room */
	struct tally_ring *ring;        /* TALLY_TRACE: where events are written (hooks/trace.c) */
	uint64_t operands;              /* ... of the words in it, those that begin no event */
	uint64_t paths_numbered;        /* ... tally_node.number of the last one */
	bool events_over;               /* ... no memory, disk space or the limit is reached */
	struct tally_blocks *blocks;    /* the table that is counted in */
	uint64_t block_mask, block_count;
	uint32_t number; /* of its tally_thread */
	struct hook_owner owner;
	struct hook_edges *edges; /* hooks/edges.c: all edges of nodes that have many; NULL: none yet */
	struct hook_note
		*notes; /* hooks/around.c: one for each frame, private memory of so many bytes; NULL: none yet */
	uint64_t notes_bytes;
	struct hook_jump jumps[HOOK_JUMPS]; /* by buffer */
};

/* Its cache is as that of a new thread. */
void hooks_forget_arcs(struct hook_thread *thread);

/* When measurement or stack_low has changed. */
void hooks_allow_direct(struct hook_thread *thread);

/* A new thread's frames, when `frames` and `limit` are set: the root's alone, and no stack is known. */
void hooks_frames_begin(struct hook_thread *thread, struct tally_node *root);

/* What mcount and __fentry__ call has the vector registers of the function that called them: the files of
 * measurements are compiled with -mgeneral-regs-only, and call what is not (the C library, say) by this, which
 * keeps all of them; its value is the function's. */
uint64_t hooks_keep_vectors(uint64_t (*function)(void *, uint64_t), void *first, uint64_t second);

/* Never NULL: before a thread's first event it is `hooks_nobody`, whose measurement makes its state. */
extern _Thread_local struct hook_thread *hook_thread __attribute__((tls_model("initial-exec")));
extern struct hook_thread hooks_nobody;

/* --- the process (tally.c, hooks.c) --- */

struct hooks {
	struct tally_header *header;   /* NULL: nothing is counted in this process */
	struct tally_process *process; /* ours */
	uint32_t process_number;
	const struct hook_measurement *measurement; /* as chosen; what threads have when counting is on */
	uint32_t on;
};
extern struct hooks hooks;

/* Finds or makes the file and begins; once, whoever calls it first: a constructor, __monstartup or the first hook
 * that is called. */
void hooks_begin(void);

/* The same as far as the recorder asks for it: nothing is made. By the first constructor. */
void hooks_begin_recorded(void);

/* The present thread's state, made if need be. Where it cannot be, one whose measurement is hooks_off: it may be
 * looked at, not written to. Async-signal-safe. */
struct hook_thread *hooks_thread_begin(void);
/* The same of a thread that was created where that was the current path; NULL: not known. */
void hooks_thread_created(struct tally_node *creator);
/* The present thread's current path; NULL: none. */
struct tally_node *hooks_current(void);
/* It ends, but its last destructors may still call hooks: its state is handed to a later thread only when it is
 * really gone. */
void hooks_thread_end(void);

/* moncontrol, cpprof_start, cpprof_stop: of all threads. */
void hooks_turn(bool on);
/* What all threads measure by from now on, as far as they are not off. Async-signal-safe, by any thread. */
void hooks_measure_by(const struct hook_measurement *measurement);
/* The program ends, or becomes another one: what is in private memory is written, the times are set. */
void hooks_finish(void);
/* What the present thread has in private memory is written. */
void hooks_flush(void);
/* ... it has not become another one. */
void hooks_go_on(void);
/* The child of a fork: chunks of its own from now on. */
void hooks_forked(void);
/* ... gives it the calls that have not returned, which are as its parent has them, in tables of its own. False: there is
 * no room for all (hooks/fork.c). */
bool hooks_copy_frames(struct hook_thread *thread, const struct hook_frame *top);
/* The thread of that number has another name. */
void hooks_named(uint32_t tid, const char *name, size_t bytes);
/* What the present thread's clocks have counted so far is written down, and sometimes what time it is. In its
 * handler of ticks, and when it ends. */
void hooks_total(const struct runtime_thread *thread);
/* A request's interval was over so often, here or in what a handler has interrupted (`context`). */
void hooks_tick(uint32_t request, uint64_t hits, const void *context);
/* setjmp is called, with that stack pointer behind it. Async-signal-safe. */
void hooks_remember(const struct hook_landing *landing);
/* The present thread is about to jump there: calls that were made below or since are over. Async-signal-safe. */
void hooks_rewind(const struct hook_landing *landing);
/* The present thread is one that the C library does not know: its hooks return at once, for good. */
void hooks_refuse_thread(void);
/* There is nothing left to count in: this thread's hooks return at once from now on. */
void hooks_stop_thread(struct hook_thread *thread);

/* --- as far as the rest of the runtime goes (hooks/none.c where there are no hooks) --- */

/* Whether samples are charged to call paths of the hooks, instead of walking the stack (sample.c). */
static inline bool hooks_measure(void)
{
	return hooks.header != NULL;
}

/* A chunk that is mapped and zero behind its header; NULL: no memory, no disk space or the limit is reached.
 * Async-signal-safe. `bytes` is rounded up. The caller sets `kind` by tally_chunk_finish when it is filled in. */
struct tally_chunk *tally_chunk_new(uint64_t bytes, uint32_t thread);
void tally_chunk_finish(struct tally_chunk *chunk, enum tally_chunk_kind kind);
/* Appends a chunk of events, a granule that is not mapped: `words` fills it, and is zeros behind `count`. False: it could
 * not be written. Async-signal-safe. */
bool tally_write_events(uint32_t thread, const uint64_t *words, size_t count, uint64_t events, uint64_t first);
/* `bytes` of zeros for a node, edge or tick of the thread; NULL: there is no more, and the thread has stopped
 * counting (hooks_off). */
void *tally_object_new(struct hook_thread *thread, size_t bytes);

/* Code was loaded, or unloaded: what was is known for ever, its addresses are not given out again. Not in a handler. */
void tally_modules_changed(void);
/* The module of the code at this address is known from now on, if any has it: call it before an edge or a tick
 * with a new address is made. Async-signal-safe; some ns where it is known already. */
void tally_know_code(uint64_t address);

/* The stack pointer, or near it, where this thread asks the dynamic linker in their names; 0: it does not. */
extern _Thread_local uint64_t hooks_asking __attribute__((tls_model("initial-exec")));

/* The first and the last byte + 1 of the function's code around an address, by its unwind table; false: not
 * known. Async-signal-safe. */
bool hooks_function_bounds(uint64_t address, uint64_t *start, uint64_t *end);
/* Whether the code there is a part of a function that the compiler has put elsewhere than its begin. */
bool hooks_is_function_part(uint64_t address);

static inline void hooks_count(uint64_t *count)
{
	__asm__ volatile("incq %0" : "+m"(*count));
}

#endif
