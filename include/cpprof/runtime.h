/*
 * libcpprof: what a program can pass to its profiler.
 *
 *     static cpprof_counter *orders;
 *     orders = cpprof_resource("orders", "order");
 *     ...
 *     cpprof_label("tenant", tenant);
 *     take_order();
 *     cpprof_tick(orders, 1);
 *
 *     cc program.c $(pkg-config --cflags --libs cpprof)
 *     cpprof record -r own:orders/100 -r cpu ./a.out
 *     cpprof report --by-label tenant
 *
 * Without a recorder all functions do nothing and cost next to nothing: a tick reads one byte that does not change.
 * No function ends the program, prints, or changes errno.
 *
 * Any thread may call all functions at any time after main has begun, and so may constructors. Only functions that
 * are marked async-signal-safe may be called in a signal handler.
 *
 * For C99 and later, C++11 and later. Compilers without the extensions of GNU C can use it too.
 */
#ifndef CPPROF_RUNTIME_H
#define CPPROF_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "profiler.h" /* CPPROF_FUNCTION, CPPROF_REGION("name") */

#ifdef CPPROF_PORTABLE
#define CPPROF_PUBLIC
#define CPPROF_INLINE static inline
#define CPPROF_IS_MEASURED(counter) (*(volatile uint32_t *)&(counter)->is_measured != 0)
#else
#define CPPROF_PUBLIC __attribute__((visibility("default")))
#ifdef __cplusplus
#define CPPROF_INLINE __attribute__((always_inline)) inline
#else
#define CPPROF_INLINE __attribute__((always_inline)) static inline
#endif
#define CPPROF_IS_MEASURED(counter) __builtin_expect(__atomic_load_n(&(counter)->is_measured, __ATOMIC_RELAXED) != 0, 0)
#endif
#ifdef __cplusplus
extern "C" {
#endif

enum {
	CPPROF_LABEL_KEYS = 16,      /* keys that a thread may have at a time */
	CPPROF_LABEL_KEY_MAX = 63,   /* bytes of a key; a longer key is refused */
	CPPROF_LABEL_VALUE_MAX = 255 /* bytes of a value; a longer value is cut */
};

/* --- the program's resources --- */

/* A resource: anything that the program uses or does and that can be counted. The library owns the memory. */
typedef struct cpprof_counter {
	uint32_t is_measured; /* set by the library; 0: the resource is not measured now */
} cpprof_counter;

/* Returns the resource of this name, never NULL; `cpprof record -r own:NAME` measures it. `unit` names one of it in
 * the singular: "order", "byte". The same name returns the same resource, with the first unit that is neither NULL
 * nor empty. The library copies the texts if it needs them. The pointer is valid until the process ends. With a
 * recorder the first call takes up to a microsecond: call the function once and keep the pointer. */
CPPROF_PUBLIC cpprof_counter *cpprof_resource(const char *name, const char *unit)
#ifndef CPPROF_PORTABLE
	__attribute__((returns_nonnull))
#endif
	;

/* cpprof_tick calls it if the resource is measured. Programs do not call it. */
CPPROF_PUBLIC void cpprof_tick_measured(cpprof_counter *counter, uint64_t amount);

/* Counts `amount` (below 2^63) gticks of a resource for this thread. Each time the count passes an interval's
 * boundary, the library samples the call path of the caller. The position of each boundary is random, so neither the
 * size nor the rhythm of the amounts distorts the result. Async-signal-safe. */
CPPROF_INLINE void cpprof_tick(cpprof_counter *counter, uint64_t amount)
{
	if (CPPROF_IS_MEASURED(counter)) {
		cpprof_tick_measured(counter, amount);
#ifndef CPPROF_PORTABLE
		/* Prevents a tail call, so that the function that ticks stays on the stack. */
		__asm__ __volatile__("");
#endif
	}
}

/* --- the recording --- */

/* Returns 1 if a recorder is present and counts now, or 0 if not. Async-signal-safe. */
CPPROF_PUBLIC int cpprof_is_recording(void);

/* Start or stop counting in this process, for all threads and all resources. cpprof_start is needed after `cpprof
 * record --paused` or cpprof_stop. Repeated calls do not add up: the last call decides. A forked process starts in
 * the state of its parent. */
CPPROF_PUBLIC void cpprof_start(void);
CPPROF_PUBLIC void cpprof_stop(void);

/* Waits until everything sampled so far in this process is in the profile's file, so that `cpprof report` shows it
 * while the program runs. Returns 0, or -1 if it is not: there is no recorder, it has ended, or it took longer than
 * 10 s. */
CPPROF_PUBLIC int cpprof_flush(void);

/* --- events --- */

/* Records an event in this thread now. The program defines the meaning of `id` and `value`. The event is written
 * between the calls and returns of a trace (`cpprof record --instrumented=trace`), and `cpprof export --format
 * events` lists it. Without a trace the function does nothing. It takes about 50 ns, and makes no system call except
 * where 64 KB of events are written. Async-signal-safe. */
CPPROF_PUBLIC void cpprof_event(uint64_t id, uint64_t value);
#define CPPROF_EVENT(id, value) cpprof_event(id, value)

/* --- probe points --- */

/* Switches the probe points that match `pattern` on or off (docs/instrumented.md), as `cpprof control` does from outside
 * and the file in CPPROF_PROBES at start. Rules apply in their order, and also to probe points that are reached
 * later. `pattern` is a function's name, with or without qualification ("work", "C::work", "parse_*"), a signature
 * ("int C<*>::work(T)*"), "file:io.c" or "group:io"; * matches any text and ? any character. Returns the number of
 * registered probe points that match, or -1 if there is no pattern, if it is too long (240 bytes), or if there are
 * too many rules (256). Async-signal-safe. Do not call it often: it visits all probe points. */
CPPROF_PUBLIC int cpprof_probes_turn(const char *pattern, int on);
/* Switches off the probe points above `level`: 1 leaves only functions on, 4 everything, 0 nothing. Returns the
 * number of registered probe points, or -1 if it is not a level. */
CPPROF_PUBLIC int cpprof_probes_level(int level);
/* Throttling: a probe point that was entered `calls` times and took less than `ns` per call, with everything that it
 * called, switches itself off; reports state it. 0 and 0 disable throttling. Returns 0, or -1 if only one of them is
 * 0 or if the measurement does not time calls (arcs, blocks, off). */
CPPROF_PUBLIC int cpprof_probes_throttle(uint64_t calls, uint64_t ns);

/* The present state of a probe point. The library owns the texts, which are valid until the process ends; a missing
 * text is "". */
struct cpprof_probe_state {
	const char *name, *signature, *file, *group;
	uint32_t line;
	uint16_t kind, level; /* enum cpprof_kind, enum cpprof_level */
	int is_on;
	int is_throttled; /* throttling has switched it off */
};
/* Calls `visit` for each probe point that was reached so far. Returns their number. */
CPPROF_PUBLIC size_t cpprof_probes_list(void (*visit)(const struct cpprof_probe_state *state, void *context),
					void *context);

/* --- labels --- */

/* Labels everything that this thread does from now on with `key` = `value`: a tenant, a kind of request. The label
 * stays until the same key gets another value, or NULL, which removes it. Each sample has the labels that its thread
 * has at that time. Threads start without labels, forked processes with the labels of the thread that forked. The library
 * copies the texts in any encoding (reports show UTF-8) and replaces line breaks in a value by spaces.
 *
 * Returns 0, also without a recorder, or -1 if the label is not set; an older value of the key is then removed.
 * Reasons are: the key is empty, too long, or contains '=' or a line break; the thread has CPPROF_LABEL_KEYS other
 * labels, or all its labels exceed 1,000 bytes; the process has had so many different label sets (some 30,000) that
 * no more are kept; the recorder has no slot for the thread. Takes about 0.1 us if the process has had the thread's
 * new label set before, in any thread. */
CPPROF_PUBLIC int cpprof_label(const char *key, const char *value);

#ifdef __cplusplus
}
#endif

#endif
