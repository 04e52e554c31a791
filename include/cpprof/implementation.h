/*
 * An implementation of the Profiler that users write: told when each probe point (cpprof/profiler.h) is entered and
 * left, beside what the library counts itself.
 *
 *     static uint64_t enter(const struct cpprof_site *site) { return now(); }
 *     static void leave(const struct cpprof_site *site, uint64_t entered) { add(site, now() - entered); }
 *     static void finish(void) { print(); }
 *
 *     CPPROF_PUBLIC_IMPLEMENTATION = {
 *         .version = CPPROF_IMPLEMENTATION_VERSION, .name = "mine", .enter = enter, .leave = leave, .finish = finish,
 *     };
 *
 *     cc -shared -fPIC -o libmine.so mine.c $(pkg-config --cflags cpprof)
 *     cpprof record --instrumented=./libmine.so ./program
 *
 * or, of a program that is linked with libcpprof and runs alone, CPPROF_MEASURE=./libmine.so ./program. The library is
 * loaded into the program when that starts, and stays. Paths and counts are in the profile as ever; what the implementation finds it
 * may write where it likes, or tell as a resource of its own (cpprof_resource, cpprof_tick): `-r own:NAME` then
 * charges it to the path that is current. examples/implementation.c is a whole one.
 *
 * This header includes nothing but <stdint.h>; for C and C++.
 */
#ifndef CPPROF_IMPLEMENTATION_H
#define CPPROF_IMPLEMENTATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cpprof_site; /* cpprof/profiler.h: name, file, line, ... of a probe point; valid as long as its library is loaded */

enum { CPPROF_IMPLEMENTATION_VERSION = 1 };

struct cpprof_implementation {
	uint32_t version;  /* CPPROF_IMPLEMENTATION_VERSION */
	uint32_t reserved; /* 0 */
	const char *name;  /* what it calls itself, shown by `cpprof info` */

	/* The process begins, before main: 0, or it does not want to be told of anything. `output` is the file that is
	 * recorded into, to write another one beside. NULL: nothing is to be done. */
	int (*begin)(const char *output);

	/* A probe point is entered, in the present thread; what this returns, `leave` is given for the same call. Where a probe point was left
	 * by longjmp, or its thread or process has ended, `leave` is not called. Neither is called while the other,
	 * or itself, is at work in the same thread: so they may call what has probe points itself (malloc, say), but a handler that
	 * interrupts them is not told of. They keep errno. Both are required. */
	uint64_t (*enter)(const struct cpprof_site *site);
	void (*leave)(const struct cpprof_site *site, uint64_t entered);

	/* The process ends by itself, or becomes another program. NULL: nothing is to be done. */
	void (*finish)(void);
	/* This is the child of a fork: what was counted is its parent's. NULL: nothing is to be done. */
	void (*forked)(void);
};

/* What the library must define. */
extern __attribute__((visibility("default"))) const struct cpprof_implementation cpprof_implementation;
#ifdef __cplusplus
#define CPPROF_PUBLIC_IMPLEMENTATION \
	extern "C" __attribute__((visibility("default"))) const struct cpprof_implementation cpprof_implementation
#else
#define CPPROF_PUBLIC_IMPLEMENTATION \
	__attribute__((visibility("default"))) const struct cpprof_implementation cpprof_implementation
#endif

#ifdef __cplusplus
}
#endif

#endif
