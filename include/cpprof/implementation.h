/*
 * An implementation of the Profiler that a user writes. libcpprof calls its functions when the program enters and
 * leaves a probe point (cpprof/profiler.h), in addition to counting itself.
 *
 *     static uint64_t enter(const struct cpprof_probe *probe) { return now(); }
 *     static void leave(const struct cpprof_probe *probe, uint64_t entered) { add(probe, now() - entered); }
 *     static void finish(void) { print(); }
 *
 *     CPPROF_PUBLIC_IMPLEMENTATION = {
 *         .version = CPPROF_IMPLEMENTATION_VERSION, .name = "mine", .enter = enter, .leave = leave, .finish = finish,
 *     };
 *
 *     cc -shared -fPIC -o libmine.so mine.c $(pkg-config --cflags cpprof)
 *     cpprof record --instrumented=./libmine.so ./program
 *
 * A program that is linked with libcpprof and runs without `cpprof record` uses CPPROF_MEASURE=./libmine.so
 * ./program. libcpprof loads the library when the program starts and never unloads it. The profile has call paths
 * and counts as usual. The implementation writes its results wherever it likes, or passes them to a resource of its
 * own (cpprof_resource, cpprof_tick): `-r own:NAME` then charges them to the current path. examples/implementation.c
 * is a complete example.
 *
 * This header includes only <stdint.h>. It is for C and C++.
 */
#ifndef CPPROF_IMPLEMENTATION_H
#define CPPROF_IMPLEMENTATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cpprof_probe; /* cpprof/profiler.h: name, file, line, ... of a probe point. Valid while its library is loaded */

enum { CPPROF_IMPLEMENTATION_VERSION = 1 };

struct cpprof_implementation {
	uint32_t version;  /* CPPROF_IMPLEMENTATION_VERSION */
	uint32_t reserved; /* 0 */
	const char *name;  /* `cpprof info` shows it */

	/* Called when the process starts, before main. Returns 0, or another value to refuse: then no function of
	 * the implementation is called. `output` is the path of the recorded file, so that an implementation can
	 * write another file beside it. NULL: no call. */
	int (*begin)(const char *output);

	/* The current thread enters or leaves a probe point. Both functions are required. libcpprof passes the
	 * return value of `enter` to the `leave` of the same call. It does not call `leave` if a longjmp left the
	 * probe point, or if the thread or process ended in it. In one thread it never calls one of the two while
	 * either is active: both may therefore call code that has probe points (malloc, for example), and probe
	 * points in a handler that interrupts them are not reported. Both functions must preserve errno. */
	uint64_t (*enter)(const struct cpprof_probe *probe);
	void (*leave)(const struct cpprof_probe *probe, uint64_t entered);

	/* Called when the process exits normally or is about to execute another program. NULL: no call. */
	void (*finish)(void);
	/* Called in the child after a fork: everything counted so far belongs to the parent. NULL: no call. */
	void (*forked)(void);
};

/* The symbol that the library must define. */
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
