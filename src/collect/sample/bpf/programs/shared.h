/*
 * What the eBPF programs and the monitor share: the maps' values and the
 * records in the ring. Compiles on both sides; every size is fixed.
 *
 *   monitor --(settings, code, probes)--> programs --(records, totals)--> monitor
 */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_SHARED_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_SHARED_H

#include "abi/code_table.h"
#include "abi/counters.h"
#include "abi/interval_clock.h"
#include "abi/sample_record.h"

enum {
	BPF_PROBES = 1024,  /* uprobes and tracepoints of a run */
	BPF_SYSCALLS = 512, /* numbers that have a class */
	BPF_SCRATCHES_PER_CPU = 3,
};

/* --- threads --- */

enum bpf_thread_state {
	BPF_THREAD_WAITS_FOR_EXEC = 1, /* it is to become the command */
	BPF_THREAD_COUNTS = 2,
	BPF_THREAD_ENDED = 3
};

struct bpf_thread {
	uint32_t pid, tid; /* as the monitor's pid namespace has them */
	uint32_t state;    /* enum bpf_thread_state */
	uint32_t wait;     /* enum bpf_wait, since left_ns */
	uint64_t start_ns;
	uint64_t left_ns;    /* when it left the CPU; 0: it runs */
	uint64_t waited;     /* ns that are still to be charged to where it waited */
	uint32_t is_sampled; /* its stack is being read: what faults then is not its own doing */
	uint32_t spare;
	uint64_t hand_over_until_ns; /* its stacks are too deep to be walked here until then */
	struct interval_clock clocks[SAMPLE_REQUESTS];
};

enum bpf_wait { BPF_WAIT_OTHER, BPF_WAIT_IO, BPF_WAIT_LOCK };

/* --- what is measured --- */

struct bpf_request {
	uint64_t interval; /* gticks; of time ns */
	int32_t syscall;   /* its number; -1: all */
	uint8_t counter;   /* enum counter */
	uint8_t spare[3];
};

/* How a system call says how many bytes it moved or was asked to move. */
enum bpf_transfer {
	BPF_TRANSFER_NONE,
	BPF_TRANSFER_READ = 1,
	BPF_TRANSFER_WRITE = 2,
	BPF_TRANSFER_DIRECTION = 3,
	/* where the number asked for is */
	BPF_TRANSFER_THIRD = 1 << 2,    /* read(fd, buffer, BYTES) */
	BPF_TRANSFER_FOURTH = 2 << 2,   /* sendfile(out, in, offset, BYTES) */
	BPF_TRANSFER_FIFTH = 3 << 2,    /* copy_file_range(in, offset, out, offset, BYTES) */
	BPF_TRANSFER_VECTOR = 4 << 2,   /* readv(fd, VECTOR, count) */
	BPF_TRANSFER_MESSAGE = 5 << 2,  /* recvmsg(fd, MESSAGE) */
	BPF_TRANSFER_MESSAGES = 6 << 2, /* recvmmsg(fd, MESSAGES, count): it returns how many messages */
	BPF_TRANSFER_ASKED = 7 << 2,
	/* what waiting in it is */
	BPF_SYSCALL_IO = 1 << 5,
	BPF_SYSCALL_LOCK = 1 << 6
};

/* A uprobe or tracepoint: what it counter, for which request. */
struct bpf_probe {
	uint8_t request;
	uint8_t argument; /* 1 to 6; 0: 1 each */
	uint8_t factor;   /* 1 to 6: one that it is multiplied by; 0: none */
	uint8_t at_return;
	uint8_t guard;       /* 1 to 6: only calls count with this argument > guard_above; 0: all do */
	uint8_t field_bytes; /* tracepoint: 1, 2, 4, 8; 0: 1 each */
	uint8_t field_signed;
	uint8_t is_allocation;
	uint32_t field_offset;
	uint32_t guard_above;
	uint32_t but_not; /* a process whose calls another probe counter; 0: none */
	uint32_t spare;
};

/* --- settings and results --- */

struct bpf_settings {
	uint32_t self;       /* the monitor's pid */
	uint32_t everything; /* watch every process */
	uint32_t creations;  /* tell where threads are started */
	uint32_t pid;        /* watch this process's threads when asked to (bpf_task_pass) */
	uint32_t measures_waits;
	uint32_t requests;         /* how many */
	uint32_t syscall_requests; /* how many of them, and which, are of system calls */
	uint8_t syscall_request[SAMPLE_REQUESTS];
	uint32_t late_waits; /* where a thread waited is only known when it does something next */
};

struct bpf_results {
	uint64_t totals[SAMPLE_REQUESTS]; /* of threads that ended, or at the end of all */
	uint64_t lost[SAMPLE_REQUESTS];   /* samples for which the ring had no room */
	uint64_t lost_creations;
	uint64_t lost_threads; /* for whose timers there was no memory: they are not counted */
	uint64_t ends[WALK_END_COUNT];
};

/* What a pass over all tasks does. */
enum bpf_task_pass {
	BPF_PASS_LEVEL, /* finds out in which pid namespace the monitor is */
	BPF_PASS_WATCH, /* watches those of settings.pid, or all */
	BPF_PASS_FINISH /* adds up what living threads have used, and what they still wait for */
};

/* Programs and monitor are of one build, but of two compilers. */
_Static_assert(sizeof(struct bpf_thread) == 440 && sizeof(struct bpf_request) == 16 && sizeof(struct bpf_probe) == 24 &&
		       sizeof(struct bpf_settings) == 48 && sizeof(struct bpf_results) == 368,
	       "sizes of what programs and monitor share");

#endif
