/*
 * The memory that the monitor shares with the processes that it observes from the inside (backend preload). It is a
 * memfd of the monitor. The environment variable CHANNEL_VARIABLE has its path and its inode.
 *
 *   struct channel   settings; the bell
 *   processes        a slot for each process that has connected
 *   threads          a slot for each thread of these processes
 *   rings            a ring for each thread: only that thread writes it, only the monitor reads it
 *   -------------    targets map everything from here on read-only:
 *   codes, chunks    the code tables of the processes, for walks (abi/code_table.h)
 *
 * A record is valid as soon as its ring's head has passed it, even if the target is then killed. The monitor checks
 * everything that it reads here; a target that overwrites the memory damages only its own profile.
 *
 * Slots: the runtime takes a free one (CAS on `state`); once it is live, only the monitor frees it. The monitor writes the fields
 * marked (m), the runtime all others. Both access shared fields with the __atomic builtins: write with release, read
 * with acquire.
 */
#ifndef ABI_CHANNEL_H
#define ABI_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/code_table.h"
#include "abi/counters.h"
#include "abi/interval_clock.h"
#include "abi/sample_record.h"
#include "abi/unwind_row.h"

#define CHANNEL_VARIABLE "CPPROF_CHANNEL" /* "/proc/MONITOR/fd/N:INODE", each in decimal */
#define CHANNEL_FILE "cpprof-channel"     /* the memfd's name */
#define CHANNEL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

enum {
	CHANNEL_MAGIC = 0x6c6e6863, /* "chnl" */
	CHANNEL_VERSION = 12,       /* of this header, code_table.h and interval_clock.h */
	CHANNEL_PROCESSES = 1024,
	CHANNEL_THREADS = 2048,
	CHANNEL_RING_BYTES = 256 * 1024, /* a power of two */
	CHANNEL_CHUNKS = 64,             /* at most CODE_CHUNKS */
	CHANNEL_NAME_BYTES = 64,
	CHANNEL_TEXT_BYTES = 1024, /* maximum of a record's text */
	CHANNEL_PATH_FRAMES = 64,  /* maximum of an experiment's path */
};

/* The versions of all layouts in the memory, in one word: a byte for the channel, one for its records and one for the
 * rows in its code tables. Runtime and monitor connect only if they have the same (channel_has_our_layouts). */
#define CHANNEL_WORD(channel, record, row) ((uint32_t)(channel) << 16 | (uint32_t)(record) << 8 | (uint32_t)(row))
#define CHANNEL_VERSIONS CHANNEL_WORD(CHANNEL_VERSION, SAMPLE_RECORD_VERSION, UNWIND_ROW_VERSION)
_Static_assert(CHANNEL_VERSION < 256 && SAMPLE_RECORD_VERSION < 256 && UNWIND_ROW_VERSION < 256,
	       "a version has a byte of CHANNEL_VERSIONS");

/* --- what is measured --- */

struct channel_request {
	uint64_t interval; /* gticks; for time ns */
	uint8_t counter;   /* enum counter */
	uint8_t fp_kinds;  /* COUNTER_FP: enum fp_kind, or-ed */
	uint8_t spare[6];
	char name[CHANNEL_NAME_BYTES]; /* COUNTER_OWN: the program's name for it */
};

/* --- threads --- */

enum channel_slot_state {
	CHANNEL_FREE,
	CHANNEL_TAKEN, /* the runtime is filling it in */
	CHANNEL_LIVE,
	CHANNEL_ENDED /* the monitor drains it, adds its counts to the sums and frees it */
};

/* Bytes and calls that a thread has transferred by the calls that the runtime observes, whether or not a request
 * counts them. `filed` are calls that the kernel's account (/proc/PID/io) includes; `others` transfer by sockets, or
 * transfer nothing. */
struct channel_moved {
	struct channel_amounts {
		uint64_t read, written; /* bytes */
		uint64_t calls;
	} filed, others;
};

struct channel_thread {
	uint32_t state; /* enum channel_slot_state; (m): FREE */
	uint32_t pid, tid;
	uint32_t process;  /* index of its process's slot */
	uint64_t start_ns; /* the kernel's clock, as all times here: collect/shared/time_offset.h */

	/* The ring: number of bytes ever written and ever read; positions are modulo its size. A record is a struct
	 * sample_record and the data behind it, a multiple of 8 bytes, and may wrap around the end. */
	uint64_t head;
	uint64_t tail __attribute__((aligned(64))); /* (m) */

	/* Only the thread itself writes the following fields. Of time, an interval clock has the waits without ticks
	 * (`used`, `mark`), and the total of all. */
	struct interval_clock clocks[SAMPLE_REQUESTS] __attribute__((aligned(64)));
	uint64_t lost[SAMPLE_REQUESTS]; /* samples for which the ring had no room */
	uint64_t waits_since_ns;        /* start of the present wait; 0: no wait, or ticks interrupt it */
	uint64_t lost_events;           /* records other than samples for which the ring had no room */
	uint32_t bounded;               /* bit n: request n was not counted to the end, so its total is a lower bound */
	struct channel_moved moved;
};

/* --- processes --- */

struct channel_process {
	uint32_t state; /* enum channel_slot_state; (m): FREE */
	uint32_t pid;
	uint32_t code_wanted; /* the runtime increments it when code has changed ... */
	uint32_t code_loaded; /* (m) ... a futex: the code_wanted whose code is loaded */
	uint32_t flush_wanted;
	uint32_t flush_done;        /* (m) likewise for cpprof_flush: a futex */
	uint64_t code;              /* (m) struct walk_process as one word: first | count << 32; 0: none */
	uint64_t code_version;      /* (m) incremented before and after `code` changes: odd while it does */
	uint32_t findings;          /* enum channel_finding, or-ed: reasons why counts may be missing */
	uint32_t threads_unwatched; /* threads that got no slot */
	uint64_t late_ticks;        /* ticks that waited for a handler on a small alternate stack */
	uint32_t execs;             /* threads in exec: while not 0, /proc/PID may describe another program */
	uint32_t stretch_max;       /* largest factor of the distances of a waiting thread's ticks; 0: not stretched */
	uint32_t order;   /* number of slots taken before; a program's slot has a higher one than its predecessor's */
	uint32_t program; /* `order` of the process that has executed its program: a forked one has its parent's */
	uint32_t threads_untimed;       /* threads to which the kernel gave no timer */
	struct interpreter interpreter; /* (m) changes with `code` */
};

enum channel_finding {
	CHANNEL_FINDING_SIGNAL = 1,   /* the program uses the timers' signal for itself */
	CHANNEL_FINDING_FPE = 2,      /* the program handles SIGFPE or SIGTRAP (the present agent never sets it) */
	CHANNEL_FINDING_NEW = 4,      /* the program's operator new: its calls are not observed */
	CHANNEL_FINDING_FREQUENT = 8, /* floating point exceptions that are not all counted */
	CHANNEL_FINDING_MALLOC = 16,  /* the program's malloc comes before ours: its calls are not observed */
	CHANNEL_FINDING_WINDOWS = 32, /* not an error: the program chose the parts that are measured */
	CHANNEL_FINDING_SANDBOX = 64, /* a seccomp filter of the program forbids system calls of the agent */
	CHANNEL_FINDING_APART = 256,  /* the program opened a library whose calls do not reach the agent */
	CHANNEL_FINDING_MEMORY = 128, /* the ring of a thread could not be mapped: the thread has no slot */
};

/* --- records ---
 *
 * A description of an interpreted function is SAMPLE_DESCRIPTION. Samples are SAMPLE_WALKED and SAMPLE_FALLBACK (abi/sample_record.h). Two walked samples without hits have a
 * meaning of their own. One for a request of real or blocked time has the path where its thread waits
 * (waits_since_ns). One with SAMPLE_NO_REQUEST has the path that started a thread: `tid` is the creator's, `about`
 * the new thread's, and the new thread writes it first. All other records are events: */

enum { CHANNEL_EVENT = 2 }; /* sample_record.kind: `end` is enum channel_event; `stack_bytes` of text follow */

enum channel_event {
	CHANNEL_STARTED,  /* a program started, the first record of its main thread: text = its name */
	CHANNEL_FORKED,   /* a process was forked, likewise: detail = its parent's pid */
	CHANNEL_THREAD,   /* a thread started: the first record, except its creator's path; text = its name */
	CHANNEL_NAMED,    /* the thread `about` has the name `text` now */
	CHANNEL_EXITS,    /* the thread exits */
	CHANNEL_CODE,     /* code was mapped or unmapped: the monitor reads /proc/PID/maps; see code_wanted */
	CHANNEL_EXECS,    /* about to execute a program: text = its path, about = enum channel_exec */
	CHANNEL_RESOURCE, /* the program declared the resource of request `about`: text = its unit, or "" */
	CHANNEL_LABELS,   /* text is label set `about`: "key=value" lines with '\n' between them */
	CHANNEL_FLUSH,    /* cpprof_flush was called; see flush_wanted */
	CHANNEL_DECLARED  /* the program declared a resource that was not requested: text = its name */
};

/* Entries that are missing or differ in the environment of the executed program, or-ed. */
enum channel_exec {
	CHANNEL_EXEC_NO_LIBRARY = 1,    /* LD_PRELOAD with our library */
	CHANNEL_EXEC_NO_CHANNEL = 2,    /* CHANNEL_VARIABLE */
	CHANNEL_EXEC_OTHER_CHANNEL = 4, /* CHANNEL_VARIABLE names another channel */
	CHANNEL_EXEC_FILTERED = 8 /* a seccomp filter would end the program with our library, which was left out */
};

/* --- experiments (collect/agent/causal/causal.h) --- */

/* A virtual speed-up: while a thread runs in `path`, all other threads owe pauses of `percent` of that time.
 *
 *   frames = 0  ->  delays = TURN + 1, no ns  ->  path, percent  ->  frames = N        (m) the next experiment
 *
 * A runtime that has compared a stack with the path adds its delay only if the turn in `delays` is still the turn that it
 * read before. */
struct channel_experiment {
	uint32_t is_wanted; /* (m) there will be experiments; set before the target starts */
	uint32_t frames;    /* (m) of the path; 0: no experiment */
	uint32_t percent;   /* (m) 0 to 100 */
	uint32_t program;   /* (m) the program whose code has the path: channel_process.program */
	uint64_t until_ns;  /* (m) no pauses after that, because the monitor has ended */
	/* The pauses that each thread owes since the turn began, in ns, below the number of the turn. Runtimes raise it. */
	uint64_t delays;
	struct channel_range {
		uint64_t start, end; /* run-time addresses of a function */
	} path[CHANNEL_PATH_FRAMES]; /* (m) outermost first */
};

enum { CHANNEL_DELAY_BITS = 40 }; /* 18 minutes of pauses in a turn */
#define CHANNEL_DELAY_MASK ((UINT64_C(1) << CHANNEL_DELAY_BITS) - 1)

/* --- the whole --- */

struct channel { /* all fields are (m) except where noted */
	uint32_t magic;
	uint32_t versions; /* CHANNEL_VERSIONS */
	uint32_t monitor_pid;
	uint32_t is_over; /* the recording has ended: the monitor reads nothing more */
	uint32_t request_count;
	uint32_t starts_paused; /* no counting before cpprof_start */
	uint64_t tick_ns;       /* mean interval of a thread's timer ticks; 0: no timers */
	struct channel_request requests[SAMPLE_REQUESTS];

	uint32_t bell __attribute__((aligned(64))); /* a futex: a runtime with news increments and wakes it */
	uint32_t bell_wanted;                       /* 0: the monitor is active and needs no wake-up */
	uint32_t label_sets;                        /* runtimes increment it: the last label set's number */
	uint32_t processes_refused;                 /* runtimes increment it: processes that got no slot */
	uint32_t processes_taken;                   /* runtimes increment it: see channel_process.order */
	uint32_t beat;                              /* the monitor increments it several times a second while it runs */

	struct channel_experiment experiment __attribute__((aligned(64)));

	struct channel_process processes[CHANNEL_PROCESSES] __attribute__((aligned(4096)));
	struct channel_thread threads[CHANNEL_THREADS] __attribute__((aligned(4096)));
};

/* Returns whether all layouts in the memory are the layouts of this build. */
static inline bool channel_has_our_layouts(const struct channel *channel)
{
	return channel->magic == CHANNEL_MAGIC && channel->versions == CHANNEL_VERSIONS;
}

#define CHANNEL_PAGE 4096ULL
#define CHANNEL_ROUND(bytes) (((bytes) + CHANNEL_PAGE - 1) / CHANNEL_PAGE * CHANNEL_PAGE)
/* Offsets in the memfd. */
#define CHANNEL_RINGS CHANNEL_ROUND(sizeof(struct channel))
#define CHANNEL_CODES (CHANNEL_RINGS + (uint64_t)CHANNEL_THREADS * CHANNEL_RING_BYTES)
#define CHANNEL_CHUNKS_AT (CHANNEL_CODES + CHANNEL_ROUND(WALK_CODES * sizeof(struct walk_code)))
#define CHANNEL_BYTES (CHANNEL_CHUNKS_AT + (uint64_t)CHANNEL_CHUNKS * CODE_CHUNK_SLOTS * CODE_SLOT_BYTES)

/* Runtime and monitor may come from different builds: another size needs another CHANNEL_VERSION. */
_Static_assert(sizeof(struct channel_request) == 80 && sizeof(struct channel_thread) == 768 &&
		       sizeof(struct channel_process) == 144 && offsetof(struct channel, processes) == 4096,
	       "sizes of the channel's parts");

#endif
