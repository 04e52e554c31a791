/*
 * The counters: everything that can be counted. A row of the table of resources (resources/resources.h) names its
 * counter, each backend has a table of the counters that it supports, and the eBPF programs and the agent receive
 * the counter in their requests (abi/channel.h, abi/tally.h, collect/sample/bpf/programs/shared.h).
 *
 * The values are part of those layouts, which may be written and read by different builds: new counters are added at
 * the end.
 */
#ifndef ABI_COUNTERS_H
#define ABI_COUNTERS_H

#include "abi/integers.h"

enum counter {
	COUNTER_NONE,

	/* Time of a thread, in ns. */
	COUNTER_CPU,
	COUNTER_USER,
	COUNTER_SYS,
	COUNTER_REAL,    /* running or not */
	COUNTER_BLOCKED, /* off the CPU */
	COUNTER_IO_TIME,
	COUNTER_LOCK_WAIT,

	/* Calls that read, write or wait for a file, and their bytes. */
	COUNTER_IO_CALLS,
	COUNTER_READ,
	COUNTER_WRITTEN,
	COUNTER_TRANSFERRED,
	COUNTER_READ_REQUESTED,
	COUNTER_WRITE_REQUESTED,
	COUNTER_TRANSFER_REQUESTED,

	COUNTER_ALLOC_BYTES,
	COUNTER_ALLOCS,
	COUNTER_FP,  /* floating point exceptions of given kinds: enum fp_kind */
	COUNTER_OWN, /* the program's, by cpprof_tick */

	COUNTER_SYSCALLS,
	COUNTER_SWITCHES,
	COUNTER_SIGNALS,
	COUNTER_TRAPS,
	COUNTER_DISK_BYTES,

	COUNTER_PAGE_FAULTS,
	COUNTER_MINOR_FAULTS,
	COUNTER_MAJOR_FAULTS,
	COUNTER_MIGRATIONS,

	/* Events of the processor. */
	COUNTER_CYCLES,
	COUNTER_INSTRUCTIONS,
	COUNTER_CACHE_MISSES,
	COUNTER_BRANCH_MISSES,

	/* Events that the user names: each counts 1, or a value that the event carries. */
	COUNTER_CALLS,      /* calls of a function */
	COUNTER_UPROBE,     /* likewise, or the sum of an argument or of return values */
	COUNTER_TRACEPOINT, /* of the kernel */
	COUNTER_USDT,       /* a static probe in the program's source */

	COUNTER_TEXT_FAULTS, /* page faults that fetched an instruction */
	COUNTER_DATA_FAULTS, /* all others */

	COUNTER_COUNT
};

/* Kinds of floating point exceptions, numbered as in the processor's flags. */
enum fp_kind {
	FP_KIND_INVALID = 1,
	FP_KIND_DENORMAL = 2,
	FP_KIND_DIVZERO = 4,
	FP_KIND_OVERFLOW = 8,
	FP_KIND_UNDERFLOW = 16,
	FP_KIND_INEXACT = 32,
	FP_KIND_ALL = 63,
	FP_KIND_COUNT = 6
};

static inline bool counter_is_cpu_time(enum counter counter)
{
	return counter >= COUNTER_CPU && counter <= COUNTER_SYS;
}

/* Time that passes whether or not the thread runs, or only while it does not run. */
static inline bool counter_is_wait(enum counter counter)
{
	return counter >= COUNTER_REAL && counter <= COUNTER_LOCK_WAIT;
}

/* The agent counts it with the ticks of a thread's timer. */
static inline bool counter_needs_ticks(enum counter counter)
{
	return counter >= COUNTER_CPU && counter <= COUNTER_BLOCKED;
}

/* Only the agent inside the process can count it. */
static inline bool counter_is_inside(enum counter counter)
{
	return counter == COUNTER_FP || counter == COUNTER_OWN;
}

/* Page faults: the event carries the address that was accessed. */
static inline bool counter_is_fault(enum counter counter)
{
	return (counter >= COUNTER_PAGE_FAULTS && counter <= COUNTER_MAJOR_FAULTS) || counter == COUNTER_TEXT_FAULTS ||
	       counter == COUNTER_DATA_FAULTS;
}

#endif
