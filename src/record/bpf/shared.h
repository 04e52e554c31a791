/*
 * What the eBPF programs and the monitor share: the maps' values and the
 * records in the ring. Compiles on both sides; every size is fixed.
 *
 *   monitor --(settings, code, places)--> programs --(records, totals)--> monitor
 */
#ifndef RECORD_BPF_SHARED_H
#define RECORD_BPF_SHARED_H

#ifdef __bpf__
#define UINT32_MAX 0xffffffffu
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __s8 int8_t;
typedef __s16 int16_t;
typedef __s32 int32_t;
typedef __s64 int64_t;
#else
#include <stdbool.h>
#include <stdint.h>
#endif

enum {
	BPF_REQUESTS = 16,  /* as RESOURCE_REQUESTS_MAX */
	BPF_PLACES = 1024,  /* uprobes and tracepoints of a run */
	BPF_SYSCALLS = 512, /* numbers that have a class */
	BPF_NO_REQUEST = 255,

	/* A walk's frames. A deeper stack is handed over to the monitor. */
	BPF_FRAMES = 1024,
	/* How much of a stack that could not be walked is handed over. */
	BPF_PAGE_BYTES = 4096,
	BPF_STACK_PAGES = 16,
	BPF_STACK_BYTES = BPF_STACK_PAGES * BPF_PAGE_BYTES,
	/* The stack is read in windows of so many words. */
	BPF_WINDOW_WORDS = 64,

	/* Rows, and the page indexes of the tables, lie in slots of 8 bytes, in chunks of
	 * 2 MB. The first is always there, others are made as they are needed. */
	BPF_CHUNK_SHIFT = 18,
	BPF_CHUNK_SLOTS = 1 << BPF_CHUNK_SHIFT,
	BPF_CHUNKS = 256,
	BPF_CODES = 64 * 1024, /* maps of all processes */
	BPF_SCRATCHES_PER_CPU = 3,
	BPF_REGISTERS = 17, /* DWARF's numbering */
};

/* --- code --- */

/* Executable memory of one process. pc of rows count from `base`. */
struct bpf_code {
	uint64_t start, end; /* run time */
	uint64_t base;       /* run-time address that rows count from */
	uint32_t rows;       /* number of the first row, over all chunks */
	uint32_t row_count;  /* 0: this code has no rules */
	uint32_t pages; /* number of the 8-byte slot, over all chunks, where its page index begins: two pages a slot */
	uint32_t page_count;
	uint32_t page_shift;
	uint32_t spare;
};

/* The code of one process: a run of `struct bpf_code`, sorted. */
struct bpf_process {
	uint32_t first, count;
};

/* --- threads --- */

/* One thread's interval timer of one resource: gticks are laid out in strata of
 * one interval each, with one boundary in each, at a place drawn for it. So hits
 * are the gticks divided by the interval, give or take one, and no boundary is in
 * step with anything. */
struct bpf_clock {
	uint64_t used;  /* gticks in the present stratum, below the interval */
	uint64_t mark;  /* where its boundary is */
	uint64_t total; /* gticks in all */
};

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
	struct bpf_clock clocks[BPF_REQUESTS];
};

enum bpf_wait { BPF_WAIT_OTHER, BPF_WAIT_IO, BPF_WAIT_LOCK };

/* --- what is measured --- */

/* What a request counts. The rest are what one place (struct bpf_place) or one perf event says. */
enum bpf_counts {
	BPF_COUNTS_OTHER,
	BPF_COUNTS_SYSCALLS, /* these four at the end of system calls */
	BPF_COUNTS_READ,
	BPF_COUNTS_WRITTEN,
	BPF_COUNTS_TRANSFERRED,
	BPF_COUNTS_SWITCHES,
	BPF_COUNTS_ELAPSED, /* these four in ns */
	BPF_COUNTS_WAITED,
	BPF_COUNTS_WAITED_FOR_IO,
	BPF_COUNTS_WAITED_FOR_LOCKS,
	BPF_COUNTS_SIGNALS,
	BPF_COUNTS_TRAPS,
	BPF_COUNTS_DISK_BYTES
};

struct bpf_request {
	uint64_t interval; /* gticks; of time ns */
	int32_t syscall;   /* its number; -1: all */
	uint8_t counts;    /* enum bpf_counts */
	uint8_t requested; /* bytes asked for */
	uint8_t spare[2];
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

/* A uprobe or tracepoint: what it counts, for which request. */
struct bpf_place {
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
	uint32_t but_not; /* a process whose calls another place counts; 0: none */
	uint32_t spare;
};

/* --- records --- */

enum bpf_record_kind {
	BPF_RECORD_WALKED,     /* frames */
	BPF_RECORD_HANDED_OVER /* registers, then stack bytes */
};

/* How a walk ended. One list makes the enum and its texts. */
#define BPF_WALK_LIST(X)                                           \
	X(BPF_WALK_ROOT, "reached the root")                       \
	X(BPF_WALK_NO_STACK, "no user stack")                      \
	X(BPF_WALK_OTHER_ABI, "32-bit code")                       \
	X(BPF_WALK_NO_CODE, "code that was not known yet")         \
	X(BPF_WALK_NO_ROWS, "code without unwind rules")           \
	X(BPF_WALK_NO_RULE, "no unwind rule at the address")       \
	X(BPF_WALK_SLOW, "a rule that is evaluated in full")       \
	X(BPF_WALK_UNREADABLE, "memory that was not there")        \
	X(BPF_WALK_NO_PROGRESS, "the stack pointer does not grow") \
	X(BPF_WALK_DEPTH, "too deep")                              \
	X(BPF_WALK_KNOWN_DEEP, "too deep a moment ago")            \
	X(BPF_WALK_ASLEEP, "asleep when the recording ended")

enum bpf_walk_end {
#define X(name, text) name,
	BPF_WALK_LIST(X)
#undef X
		BPF_WALK_END_COUNT
};

struct bpf_record {
	uint64_t time_ns;
	uint32_t pid, tid;
	uint8_t kind;    /* enum bpf_record_kind */
	uint8_t end;     /* enum bpf_walk_end */
	uint8_t request; /* BPF_NO_REQUEST: where a thread is started */
	uint8_t flags;
	uint32_t child; /* the thread that is started */
	uint64_t hits;
	uint64_t amount;
	int64_t detail;  /* a system call's result, the address that was touched */
	int32_t syscall; /* -1: none */
	uint32_t frames; /* of the walk */
	uint32_t stack_bytes;
	uint32_t absent; /* bit n: the stack's page n was not there, and is zeros here */
};

enum {
	BPF_RECORD_TOUCHED = 1, /* detail is an address */
	BPF_RECORD_SYSCALL = 2, /* detail is a system call's result */
	BPF_RECORD_IN_KERNEL = 4,
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
	uint8_t syscall_request[BPF_REQUESTS];
	uint32_t late_waits; /* where a thread waited is only known when it does something next */
};

struct bpf_results {
	uint64_t totals[BPF_REQUESTS]; /* of threads that ended, or at the end of all */
	uint64_t lost[BPF_REQUESTS];   /* samples for which the ring had no room */
	uint64_t lost_creations;
	uint64_t lost_threads; /* for whose timers there was no memory: they are not counted */
	uint64_t ends[BPF_WALK_END_COUNT];
};

/* What a pass over all tasks does. */
enum bpf_task_pass {
	BPF_PASS_LEVEL, /* finds out in which pid namespace the monitor is */
	BPF_PASS_WATCH, /* watches those of settings.pid, or all */
	BPF_PASS_FINISH /* adds up what living threads have used, and what they still wait for */
};

#endif
