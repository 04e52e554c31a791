/*
 * libcpprof-wrap: functions of the C library as probe points of the group RUNTIME.
 *
 *	program --> our read: cpprof_probe_enter --> the real read --> cpprof_probe_leave --> program
 *
 * A wrapper is a frame like any other function that the source itself tells of. It holds nothing but that: a thread may
 * be cancelled in the real one (these files are compiled with -fexceptions, so it is left then too), or jump out of it.
 * Probe points are off until our constructor has run: before that the dynamic linker and others' constructors call us.
 */
#ifndef COLLECT_AGENT_WRAP_WRAP_H
#define COLLECT_AGENT_WRAP_WRAP_H

#include "collect/agent/core/real.h"
#include <cpprof/profiler.h>

/* The linker puts all of them in an array. `text`: the function's name in
 * reports. */
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

/* A function that does something, and one that waits. */
#define WRAP(type, name, parameters, arguments)                \
	WRAP_PROBE(name##_probe, #name, CPPROF_KIND_FUNCTION); \
	WRAP_BODY(name##_probe, type, name, parameters, REAL(name) arguments)
#define WRAP_WAIT(type, name, parameters, arguments)       \
	WRAP_PROBE(name##_probe, #name, CPPROF_KIND_WAIT); \
	WRAP_BODY(name##_probe, type, name, parameters, REAL(name) arguments)
/* Another name for the same function in reports: one with 64-bit offsets, one
 * that checks lengths. */
#define WRAP_LIKE(like, type, name, parameters, arguments) \
	WRAP_BODY(like##_probe, type, name, parameters, REAL(name) arguments)

#endif
