/*
 * libcpprof: what a program may tell its profiler.
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
 * Where no recorder is, all of this does nothing and costs next to nothing: a tick is one
 * look at one byte that does not change. Nothing here ever ends the program, prints, or
 * changes errno.
 *
 * All functions may be called by any thread at any time after main has begun, or by
 * constructors. What may be called in a signal handler says so.
 *
 * For C99 and later, C++11 and later; what it takes from GNU C other compilers do without.
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
	CPPROF_LABEL_KEY_MAX = 63,   /* bytes of a key */
	CPPROF_LABEL_VALUE_MAX = 255 /* bytes of a value; what is longer is cut */
};

/* --- resources of the program's own --- */

/* A resource: anything that the program uses or does and that can be counted. Its memory
 * is the library's. */
typedef struct cpprof_counter {
	uint32_t is_measured; /* the library's: 0, nobody wants to know now */
} cpprof_counter;

/* The resource of this name: `cpprof record -r own:NAME` measures it. `unit` is what one
 * of it is called, in the singular: "order", "byte". The texts are copied or not kept.
 * Never NULL, valid for ever; the same name gives the same resource, and its first unit
 * that is not NULL or empty counts. It takes a microsecond at most when a recorder is
 * there, the first time: call it once and keep what it returns. */
CPPROF_PUBLIC cpprof_counter *cpprof_resource(const char *name, const char *unit)
#ifndef CPPROF_PORTABLE
	__attribute__((returns_nonnull))
#endif
	;

/* What cpprof_tick calls where the resource is measured. Not for programs to call. */
CPPROF_PUBLIC void cpprof_tick_measured(cpprof_counter *counter, uint64_t amount);

/* The program has used `amount` (below 2^63) of a resource, in this thread, here: at each
 * interval's boundary that is crossed, the call path that leads here is sampled. Which
 * boundary is drawn by lot, so neither the size nor the rhythm of the amounts matters.
 * Async-signal-safe. */
CPPROF_INLINE void cpprof_tick(cpprof_counter *counter, uint64_t amount)
{
	if (CPPROF_IS_MEASURED(counter)) {
		cpprof_tick_measured(counter, amount);
#ifndef CPPROF_PORTABLE
		/* The call above is no function's last deed, so that who ticks stays on the stack. */
		__asm__ __volatile__("");
#endif
	}
}

/* --- the recording --- */

/* Whether a recorder is there and counts at present: 1 or 0. Async-signal-safe. */
CPPROF_PUBLIC int cpprof_is_recording(void);

/* Counting of this process begins (where `cpprof record --paused` left that to the
 * program, or after cpprof_stop), or ends: of all threads and all resources. Only the last
 * call matters; forked processes begin as their parent is. */
CPPROF_PUBLIC void cpprof_start(void);
CPPROF_PUBLIC void cpprof_stop(void);

/* Returns when all that was sampled so far in this process is in the profile's file, so
 * that `cpprof report` shows it while the program runs on.
 * 0; -1: it is not (no recorder is there, it has ended, or it took longer than 10 s). */
CPPROF_PUBLIC int cpprof_flush(void);

/* --- events --- */

/* This has happened in this thread now; what `id` and `value` mean is the program's affair. It is written between the
 * calls and returns of a trace (`cpprof record --instrumented=trace`), which `cpprof export --format events` lists;
 * where none is written it does nothing. Costs less than a microsecond. Async-signal-safe. */
CPPROF_PUBLIC void cpprof_event(uint64_t id, uint64_t value);
#define CPPROF_EVENT(id, value) cpprof_event(id, value)

/* --- probe points --- */

/* Of what cpprof/profiler.h has put into the program (docs/control.md): which of it is measured, from now on, as `cpprof
 * control` says it from outside and the file in CPPROF_SITES from the start. Rules hold in their order, for probe points that
 * are reached later too. `pattern` is a function's name, qualified as far as it need be ("work", "C::work", "parse_*"),
 * a signature ("int C<*>::work(T)*"), "file:io.c" or "group:io"; * is any text and ? any character.
 * How many probe points that are known so far it is about; -1: there is no pattern, it is too long (240 bytes), or
 * there are too many rules (256). Async-signal-safe; not for every call, since it looks at all probe points. */
CPPROF_PUBLIC int cpprof_sites_turn(const char *pattern, int on);
/* Probe points above that level are off: 1, only functions are measured, to 4, all. 0: none. The number of known probe points; -1: it is no level. */
CPPROF_PUBLIC int cpprof_sites_level(int level);
/* A probe point that was entered `calls` times, each time for less than `ns` on average with all that it called, turns itself off; reports
 * say so. 0 and 0: none does any more. 0; -1: one of them is 0, or what is
 * measured knows no calls (arcs, blocks, off). */
CPPROF_PUBLIC int cpprof_sites_throttle(uint64_t calls, uint64_t ns);

/* A probe point as it is now. Texts are the library's, valid for ever, "" where there is none. */
struct cpprof_site_state {
	const char *name, *signature, *file, *group;
	uint32_t line;
	uint16_t kind, level; /* enum cpprof_kind, enum cpprof_level */
	int is_on;
	int is_throttled; /* it has turned itself off */
};
/* Visits those that were reached so far; how many they are. */
CPPROF_PUBLIC size_t cpprof_sites_list(void (*visit)(const struct cpprof_site_state *state, void *context),
				       void *context);

/* --- labels --- */

/* From now on what this thread does is done for `key` = `value`: a tenant, a kind of
 * request. It stays until the same key is given another value, or NULL, which removes it.
 * Each sample has the labels that its thread has then; threads begin without any, forked
 * processes with those of the thread that forked. The texts are copied, in any encoding
 * (UTF-8 is what reports are shown in); line breaks in a value become spaces.
 * 0; -1: this label is not set and an older value of the key is gone, since the key is
 * empty, too long, or contains '=' or a line break; the thread has CPPROF_LABEL_KEYS
 * others, or all its labels exceed 1,000 bytes; or the process has had so many different
 * sets of labels (some 30,000) that no more are kept. Without a recorder 0. Costs about 0.1 us where the thread's
 * labels come as they have been before, in whatever thread. */
CPPROF_PUBLIC int cpprof_label(const char *key, const char *value);

#ifdef __cplusplus
}
#endif

#endif
