/*
 * What the compiler's hooks do: a call of mcount, __fentry__, __cyg_profile_func_enter, ... goes to
 * the measurement that was chosen at start, which counts it in the thread's tally (tally/layout.h).
 *
 *   x86_64/hooks.S, hooks_cyg.c, hooks_gmon.c    the hooks themselves, as compilers and the C library name them
 *   hooks.c           threads: their first event, their end, what they hand on
 *   hooks_arcs.c hooks_paths.c hooks_timed.c hooks_trace.c hooks_blocks.c    measurements: one vtable each
 *   hooks_frames.c    which frames are still there (longjmp, exceptions, other stacks)
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
#ifndef RUNTIME_HOOKS_H
#define RUNTIME_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/runtime.h"
#include "tally/layout.h"

/* A call that has not returned, as far as is known. */
struct hook_frame {
	struct tally_node *node;
	uint64_t place; /* entries alone known: where its return address lies; else the hook's stack pointer when it
			 * was entered, and HOOK_FRAME_LEAVES */
	uint64_t site;  /* its return address */
};
enum { HOOK_FRAME_LEAVES = 1 }; /* in `place`: its hook tells when it is left */

struct hook_thread;

/* A measurement: every member is required. They are called with the present thread's state, and return as soon as
 * they can. `place` as in hook_frame. */
struct hook_measurement {
	const char *name;
	/* mcount, __fentry__: `function` was called, its return address `site` lies at `place`. */
	void (*entered)(struct hook_thread *thread, uint64_t function, uint64_t site, uint64_t place);
	/* __cyg_profile_func_enter and _exit. */
	void (*enter)(struct hook_thread *thread, uint64_t function, uint64_t site, uint64_t place);
	void (*leave)(struct hook_thread *thread, uint64_t function, uint64_t site, uint64_t place);
	/* A basic block begins; `pc` is in it. */
	void (*block)(struct hook_thread *thread, uint64_t pc);
	/* A resource's interval was over `hits` times, and this is where (a handler's third argument; NULL: here).
	 * Async-signal-safe; may have interrupted any of the others. */
	void (*tick)(struct hook_thread *thread, uint32_t request, uint64_t hits, const void *context);
	/* Frames whose place is below `stack_pointer` are gone: about to jump there. */
	void (*rewind)(struct hook_thread *thread, uint64_t stack_pointer);
	/* Writes what is still in private memory; the thread may go on. */
	void (*flush)(struct hook_thread *thread);
};
extern const struct hook_measurement hooks_off, hooks_arcs, hooks_paths, hooks_paths_timed, hooks_trace, hooks_blocks;

enum { HOOK_CACHE = 4096 };

/* The state of a thread; private memory. */
struct hook_thread {
	const struct hook_measurement *measurement; /* hooks_off where it cannot count, or not now */
	struct hook_frame *top, *frames, *limit;    /* frames[0] is the root's, always there */
	struct tally_thread *shared;
	struct tally_chunk *chunk;      /* that objects are taken from */
	uint64_t last_tsc;              /* TALLY_PATHS_TIMED: when time was charged last */
	uint64_t nodes;                 /* made so far */
	uint64_t stack_low, stack_high; /* of the stack that `top` is on, as far as known */
	uint64_t *words;                /* TALLY_TRACE: a ring of words (hooks_trace.c) */
	uint64_t written, flushed;      /* ... words that were put into it, and into the file; both only grow */
	uint64_t base_tsc;              /* ... what its events count from */
	uint64_t paths_numbered;        /* ... */
	uint64_t events;                /* ... that are in the ring */
	struct tally_blocks *blocks; /* the table that is counted in */
	uint64_t block_mask, block_count;
	uint32_t number;                      /* of its tally_thread */
	struct tally_edge *cache[HOOK_CACHE]; /* edges by what they are looked up by: a hint */
};

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

/* The present thread's state, made if need be; &hooks_nobody with hooks_off behind it: it cannot be. */
struct hook_thread *hooks_thread_begin(void);
/* It ends, but its last destructors may still call hooks: its state is handed to a later thread only when it is
 * really gone. */
void hooks_thread_end(void);

/* moncontrol, cpprof_start, cpprof_stop: of all threads. */
void hooks_turn(bool on);
/* The program ends, or becomes another one: what is in private memory is written, the times are set. */
void hooks_finish(void);
/* The child of a fork: chunks of its own from now on. */
void hooks_forked(void);

/* Whether samples are charged to call paths of the hooks, instead of walking the stack (sample.c). */
static inline bool hooks_measure(void)
{
	return hooks.header != NULL;
}

/* A chunk that is mapped and zero behind its header; NULL: no memory, no disk space or the limit is reached.
 * Async-signal-safe. `bytes` is rounded up. The caller sets `kind` by tally_chunk_finish when it is filled in. */
struct tally_chunk *tally_chunk_new(uint64_t bytes, uint32_t thread);
void tally_chunk_finish(struct tally_chunk *chunk, enum tally_chunk_kind kind);
/* Appends a chunk of events that is not mapped: false, it could not be written. Async-signal-safe. */
bool tally_write_events(uint32_t thread, const uint64_t *words, size_t count, uint64_t events);
/* `bytes` of zeros for a node, edge or tick of the thread; NULL: there is no more, and the thread has stopped
 * counting (hooks_off). */
void *tally_object_new(struct hook_thread *thread, size_t bytes);

/* Code was loaded, or an address turned up that no module has. Not in a handler: there nothing happens. */
void tally_modules_changed(void);

/* The first and the last byte + 1 of the function's code around an address, by its unwind table; false: not
 * known. Async-signal-safe. */
bool hooks_function_bounds(uint64_t address, uint64_t *start, uint64_t *end);

static inline void hooks_count(uint64_t *count)
{
	__asm__ volatile("incq %0" : "+m"(*count));
}

#endif
