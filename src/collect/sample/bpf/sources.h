/* Where the eBPF programs see what a counter counts: one table, also of a cpprof that was built without them. */
#ifndef COLLECT_SAMPLE_BPF_SOURCES_H
#define COLLECT_SAMPLE_BPF_SOURCES_H

#include "abi/counters.h"

enum bpf_source {
	BPF_SOURCE_NONE,       /* nowhere: only the agent inside the process sees it */
	BPF_SOURCE_CLOCK,      /* a perf clock or a counter of the processor that interrupts */
	BPF_SOURCE_EVENT,      /* a software event of perf, each one */
	BPF_SOURCE_SWITCH,     /* where threads leave the CPU and come back */
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
