/*
 * The data that the eBPF programs and the monitor share: the maps' values and the records in the ring.
 * Compiles on both sides; every size is fixed. The layout has no version: one build compiles the programs and
 * their loader, and the loader's object contains the programs.
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
	BPF_WANTED = 32768, /* running processes to which a recording attaches */
};

/* --- threads --- */

enum bpf_thread_state {
	BPF_THREAD_WAITS_FOR_EXEC = 1, /* it will execute the command */
	BPF_THREAD_COUNTS = 2,
	BPF_THREAD_ENDED = 3
};

struct bpf_thread {
	uint32_t pid, tid; /* in the monitor's pid namespace */
	uint32_t state;    /* enum bpf_thread_state */
	uint32_t wait;     /* enum bpf_wait: the wait that began at left_ns */
	uint64_t start_ns;
	uint64_t left_ns;    /* when it left the CPU; 0: it is on a CPU */
	uint64_t came_ns;    /* when its time on the CPU that is not counted yet began; 0: it is not on a CPU */
	uint64_t ran_ns;     /* the kernel's account of its time on CPUs when it last left one */
	uint64_t waited;     /* ns of waiting that are not charged yet */
	uint32_t is_sampled; /* its stack is being read: faults meanwhile are not its own */
	uint32_t spare;
	uint64_t hand_over_until_ns;       /* until then its stacks are copied: they are too deep for the walk */
	uint64_t interpreted;              /* address of the interpreter's structure of the thread; 0: not known */
	uint64_t not_interpreted_until_ns; /* until then it is not looked for again */
	struct interval_clock clocks[SAMPLE_REQUESTS];
};

enum bpf_wait { BPF_WAIT_OTHER, BPF_WAIT_IO, BPF_WAIT_LOCK };

/* --- requests and probes --- */

struct bpf_request {
	uint64_t interval; /* gticks; for time ns */
	int32_t syscall;   /* its number; -1: all */
	uint8_t counter;   /* enum counter */
	uint8_t spare[3];
};

/* Where a system call holds the number of bytes that it moved or was requested to move, and the kind of
 * wait in it. */
enum bpf_transfer {
	BPF_TRANSFER_NONE,
	BPF_TRANSFER_READ = 1,
	BPF_TRANSFER_WRITE = 2,
	BPF_TRANSFER_DIRECTION = 3,
	/* where the requested number is */
	BPF_TRANSFER_THIRD = 1 << 2,    /* read(fd, buffer, BYTES) */
	BPF_TRANSFER_FOURTH = 2 << 2,   /* sendfile(out, in, offset, BYTES) */
	BPF_TRANSFER_FIFTH = 3 << 2,    /* copy_file_range(in, offset, out, offset, BYTES) */
	BPF_TRANSFER_VECTOR = 4 << 2,   /* readv(fd, VECTOR, count) */
	BPF_TRANSFER_MESSAGE = 5 << 2,  /* recvmsg(fd, MESSAGE) */
	BPF_TRANSFER_MESSAGES = 6 << 2, /* recvmmsg(fd, MESSAGES, count): returns the number of messages */
	BPF_TRANSFER_ASKED = 7 << 2,
	/* the kind of wait */
	BPF_SYSCALL_IO = 1 << 5,
	BPF_SYSCALL_LOCK = 1 << 6
};

/* A uprobe or tracepoint: what it counts, and for which request. */
struct bpf_probe {
	uint8_t request;
	uint8_t argument; /* 1 to 6: the argument that is the amount; 0: 1 each */
	uint8_t factor;   /* 1 to 6: an argument that multiplies the amount; 0: none */
	uint8_t at_return;
	uint8_t guard;       /* 1 to 6: only calls with this argument > guard_above count; 0: all calls count */
	uint8_t value_bytes; /* of the amount: 1, 2, 4, 8; 0: tracepoint: 1 each; argument or return value: unknown */
	uint8_t value_signed;
	uint8_t is_allocation;
	uint32_t field_offset;
	uint32_t guard_above;
	uint32_t but_not; /* a process whose calls another probe counts; 0: none */
	uint32_t next;    /* number of a further probe of the same tracepoint, which is larger; 0: none */
};

/* --- names of the kernel's functions --- */

enum { BPF_NAMES = 32, BPF_NAME_BYTES = 256 };

/* The monitor writes addresses, and the program on_names writes the name of the function at each. */
struct bpf_names {
	uint64_t address[BPF_NAMES];
	char name[BPF_NAMES][BPF_NAME_BYTES]; /* "vfs_write", "nft_do_chain [nf_tables]", or a number: no name */
};

/* --- settings and results --- */

struct bpf_settings {
	uint32_t self;       /* the monitor's pid */
	uint32_t everything; /* watch every process */
	uint32_t creations;  /* report the stacks that start threads */
	uint32_t children;   /* watch the processes that watched processes start */
	uint32_t measures_waits;
	uint32_t measures_cpu;     /* count the threads' time on a CPU */
	uint32_t requests;         /* how many */
	uint32_t syscall_requests; /* number of the requests for system calls; they are: */
	uint8_t syscall_request[SAMPLE_REQUESTS];
	uint32_t late_waits;    /* a thread's wait is charged at its next event */
	uint32_t kernel_stacks; /* samples have the kernel's own stack too */
};

struct bpf_results {
	uint64_t totals[SAMPLE_REQUESTS]; /* of ended threads; after BPF_PASS_FINISH, of all */
	uint64_t lost[SAMPLE_REQUESTS];   /* samples for which the ring had no room */
	uint64_t lost_creations;
	uint64_t lost_threads;   /* threads that are not counted: there was no memory for their timers */
	uint64_t signs_assumed;  /* values of an unknown type that were taken for a negative number of 32 bits */
	uint64_t function_calls; /* at which a probe of a function ran */
	uint64_t ends[WALK_END_COUNT];
};

/* The purpose of a visit to all tasks. */
enum bpf_task_pass {
	BPF_PASS_LEVEL, /* finds the monitor's pid namespace */
	BPF_PASS_WATCH, /* watches the threads of the wanted processes, or all threads */
	BPF_PASS_FINISH /* adds up the use of running threads, and their present waits */
};

/* Programs and monitor come from one build, but from two compilers. */
_Static_assert(sizeof(struct bpf_thread) == 472 && sizeof(struct bpf_request) == 16 && sizeof(struct bpf_probe) == 24 &&
		       sizeof(struct bpf_settings) == 56 && sizeof(struct bpf_results) == 400,
	       "sizes of what programs and monitor share");

#endif
