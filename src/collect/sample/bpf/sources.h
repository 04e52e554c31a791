/* The kernel events by which the eBPF programs count: one table, which a cpprof that was built without
 * eBPF uses too. */
#ifndef COLLECT_SAMPLE_BPF_SOURCES_H
#define COLLECT_SAMPLE_BPF_SOURCES_H

#include "abi/counters.h"

enum bpf_source {
	BPF_SOURCE_NONE,       /* none: only the agent inside the process can count it */
	BPF_SOURCE_CLOCK,      /* interrupts of a perf clock or of a counter of the processor */
	BPF_SOURCE_EVENT,      /* each software event of perf */
	BPF_SOURCE_SWITCH,     /* threads leaving the CPU and returning to it */
	BPF_SOURCE_SYSCALL,    /* the end of each system call */
	BPF_SOURCE_SIGNAL,     /* the delivery of a signal */
	BPF_SOURCE_TRAP,       /* CPU exceptions */
	BPF_SOURCE_DISK,       /* requests to block devices */
	BPF_SOURCE_FUNCTION,   /* functions: uprobes */
	BPF_SOURCE_TRACEPOINT, /* any tracepoint of the kernel */
	BPF_SOURCE_USDT        /* a static probe that the program's author put in */
};

enum bpf_source bpf_source_of(enum counter counter);

#endif
