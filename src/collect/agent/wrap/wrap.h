/*
 * libcpprof-wrap: functions of the C library as probe points of the group RUNTIME.
 *
 *	program --> our read: cpprof_probe_enter --> the real read --> cpprof_probe_leave --> program
 *
 * A wrapper is counted like a function that the source itself instruments. It holds no lock and no memory, because
 * a thread may be cancelled in the real function or jump out of it. (These files are compiled with -fexceptions,
 * so that cancellation leaves the probe point, too.) Probe points are off until our constructor has run: before
 * that, the dynamic linker and other constructors may call the wrappers.
 */
#ifndef COLLECT_AGENT_WRAP_WRAP_H
#define COLLECT_AGENT_WRAP_WRAP_H

#include "collect/agent/core/real.h"
#include <cpprof/profiler.h>

/* Defines a probe descriptor; the linker puts all of them into one array. `text`: the function's name in reports. */
#define WRAP_PROBE(variable, text, kind)                                                                         \
	static struct cpprof_probe variable __attribute__((section("cpprof_wrap_probes"), used, aligned(8))) = { \
		CPPROF_STATE_OFF, kind, CPPROF_LEVEL_FUNCTION, 0, 0, text, NULL, "", WRAP_GROUP, 0, 0            \
	}
#define WRAP_GROUP "RUNTIME"

#define WRAP_ENTER(variable) \
	struct cpprof_entry cpprof_entry __attribute__((cleanup(cpprof_left), unused)) = cpprof_entered(&(variable))

#define WRAP_BODY(descriptor, type, name, parameters, real_call) \
	INTERPOSED type name parameters                          \
	{                                                        \
		WRAP_ENTER(descriptor);                          \
		return real_call;                                \
	}

/* Wraps a function that works, and one that waits. */
#define WRAP(type, name, parameters, arguments)                \
	WRAP_PROBE(name##_probe, #name, CPPROF_KIND_FUNCTION); \
	WRAP_BODY(name##_probe, type, name, parameters, REAL(name) arguments)
#define WRAP_WAIT(type, name, parameters, arguments)       \
	WRAP_PROBE(name##_probe, #name, CPPROF_KIND_WAIT); \
	WRAP_BODY(name##_probe, type, name, parameters, REAL(name) arguments)
/* Wraps a function that reports show by the name of another one, `like`: a variant with 64-bit offsets, or one
 * that checks lengths. */
#define WRAP_LIKE(like, type, name, parameters, arguments) \
	WRAP_BODY(like##_probe, type, name, parameters, REAL(name) arguments)

#endif
