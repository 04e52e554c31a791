/*
 * The memory that the monitor shares with the processes that it watches from the
 * inside: a memfd of the monitor's, found by CHANNEL_VARIABLE in the environment.
 *
 *   struct channel   settings; the bell
 *   processes        a slot for each process that has connected
 *   threads          a slot for each of their threads, with
 *   rings            its ring: only that thread writes, only the monitor reads
 *   -------------    from here on the targets map it read-only:
 *   codes, chunks    what code they have, for the walks (abi/code_table.h)
 *
 * Whatever becomes of a target, what it had written is there: a record counts from
 * the moment that its ring's head has passed it. The monitor believes nothing that
 * it reads here; a target that scribbles harms its own profile alone.
 *
 * Slots: the runtime takes a free one (CAS on `state`), the monitor alone frees it.
 * Fields marked (m) are the monitor's to write, all others the runtime's. What both
 * look at is accessed by the __atomic builtins: written with release, read with acquire.
 */
#ifndef ABI_CHANNEL_H
#define ABI_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "abi/code_table.h"
#include "abi/counters.h"
#include "abi/interval_clock.h"
#include "abi/sample_record.h"

#define CHANNEL_VARIABLE "CPPROF_CHANNEL" /* "/proc/MONITOR/fd/N" */

enum {
	CHANNEL_MAGIC = 0x6c6e6863, /* "chnl" */
	CHANNEL_VERSION = 5,        /* of this layout: others are not connected to */
	CHANNEL_PROCESSES = 1024,
	CHANNEL_THREADS = 2048,
	CHANNEL_RING_BYTES = 256 * 1024, /* a power of two */
	CHANNEL_CHUNKS = 64,             /* at most CODE_CHUNKS */
	CHANNEL_NAME_BYTES = 64,
	CHANNEL_TEXT_BYTES = 1024, /* of a record's text, at most */
};

/* --- what is measured --- */

struct channel_request {
	uint64_t interval; /* gticks; of time ns */
	uint8_t counter;   /* enum counter */
	uint8_t fp_kinds;  /* COUNTER_FP: enum fp_kind, or-ed */
	uint8_t spare[6];
	char name[CHANNEL_NAME_BYTES]; /* COUNTER_OWN: as the program calls it */
};

/* --- threads --- */

enum channel_slot_state {
	CHANNEL_FREE,
	CHANNEL_TAKEN, /* being filled in */
	CHANNEL_LIVE,
	CHANNEL_ENDED /* the monitor drains it, adds up what it counted and frees it */
};

/* What a thread has moved by the calls that the runtime sees, whether or not it counts them:
 * `filed` are those that the kernel has in its account (/proc/PID/io), `others` transfer by
 * sockets, or move nothing. */
struct channel_moved {
	struct channel_amounts {
		uint64_t read, written; /* bytes */
		uint64_t calls;
	} filed, others;
};

struct channel_thread {
	uint32_t state; /* enum channel_slot_state; (m): FREE */
	uint32_t pid, tid;
	uint32_t process;  /* number of its process's slot */
	uint64_t start_ns; /* CLOCK_MONOTONIC */

	/* The ring: bytes ever written and ever read; positions are modulo its size. A
	 * record is a struct sample_record and what follows it, a multiple of 8 bytes
	 * (channel_record_bytes), and may wrap around the end. */
	uint64_t head;
	uint64_t tail __attribute__((aligned(64))); /* (m) */

	/* Only the thread itself writes these. */
	struct interval_clock clocks[SAMPLE_REQUESTS] __attribute__((aligned(64)));
	uint64_t lost[SAMPLE_REQUESTS]; /* samples for which the ring had no room */
	uint64_t
		waits_since_ns; /* CLOCK_MONOTONIC, when it began the wait that it is in; 0: none, or ticks come in it */
	uint64_t lost_events;   /* records other than samples */
	uint64_t estimated[SAMPLE_REQUESTS]; /* gticks of clocks[].total that were estimated, not counted */
	struct channel_moved moved;
};

/* --- processes --- */

struct channel_process {
	uint32_t state; /* enum channel_slot_state; (m): FREE */
	uint32_t pid;
	uint32_t code_wanted; /* raised by the runtime when its code has changed ... */
	uint32_t code_loaded; /* (m) ... set to what code_wanted was, when it is loaded: a futex */
	uint32_t flush_wanted;
	uint32_t flush_done;        /* (m) likewise, of cpprof_flush: a futex */
	uint64_t code;              /* (m) struct walk_process as one word: first | count << 32; 0: none */
	uint64_t code_version;      /* (m) raised before and after `code` changes: odd while it does */
	uint32_t findings;          /* enum channel_finding, or-ed */
	uint32_t threads_unwatched; /* threads for which there was no slot or no timer */
	uint64_t late_ticks;        /* ticks that waited for a handler on a small alternate stack */
	uint32_t execs;             /* threads in exec: from then on what /proc tells may be of another program */
	uint32_t order; /* slots that were taken before: a program takes its own after the one that it follows */
};

enum channel_finding {
	CHANNEL_FINDING_SIGNAL = 1, /* the program took the timers' signal for itself */
	CHANNEL_FINDING_FPE = 2,    /* ... or handles SIGFPE or SIGTRAP behind our back */
	CHANNEL_FINDING_NEW = 4,    /* operator new of an allocator of its own: not seen */
	CHANNEL_FINDING_ESTIMATED = 8,
	CHANNEL_FINDING_MALLOC = 16, /* the program's own malloc stands before ours: not seen */
	CHANNEL_FINDING_WINDOWS = 32 /* the program started or stopped the measurement itself */
};

/* --- records ---
 *
 * Samples are SAMPLE_WALKED and SAMPLE_HANDED_OVER (abi/sample_record.h); a walked one without
 * hits, of a request of real or blocked time, is where a thread waits (waits_since_ns). So is where
 * a thread was started: request SAMPLE_NO_REQUEST, tid the creator's, about the new
 * thread's, written by the new thread before anything else. Others are: */

enum { CHANNEL_EVENT = 2 }; /* sample_record.kind: `end` is one of these, text of `stack_bytes` follows */

enum channel_event {
	CHANNEL_STARTED,  /* a program began, the first record of its main thread: text = its name */
	CHANNEL_FORKED,   /* a forked process, likewise: detail = its parent's pid */
	CHANNEL_THREAD,   /* a thread began, the first record but for where it was started; text = its name */
	CHANNEL_NAMED,    /* the thread `about` has the name `text` now */
	CHANNEL_EXITS,    /* the thread ends */
	CHANNEL_CODE,     /* code was mapped or unmapped: read /proc/PID/maps; then see code_wanted */
	CHANNEL_EXECS,    /* about to become another program: text = its path, about = enum channel_exec */
	CHANNEL_RESOURCE, /* the program declared the resource of request `about`: text = its unit, or "" */
	CHANNEL_LABELS,   /* label set `about` is text: "key=value" lines, '\n' between them */
	CHANNEL_FLUSH,    /* cpprof_flush was called: then see flush_wanted */
	CHANNEL_DECLARED  /* the program declared a resource that was not requested: text = its name */
};

/* What the next program's environment lacks, or-ed. */
enum channel_exec {
	CHANNEL_EXEC_NO_LIBRARY = 1,   /* LD_PRELOAD with our library */
	CHANNEL_EXEC_NO_CHANNEL = 2,   /* CHANNEL_VARIABLE */
	CHANNEL_EXEC_OTHER_CHANNEL = 4 /* it has another's */
};

/* Bytes of a record in its ring. Its fields may be anything: bounded by the caller. */
static inline uint64_t channel_record_bytes(const struct sample_record *record)
{
	enum { ALIGNMENT = 8 };
	uint64_t bytes = sizeof(*record) + (uint64_t)record->frames * sizeof(uint64_t);
	if (record->kind == SAMPLE_HANDED_OVER)
		bytes += (uint64_t)SAMPLE_REGISTERS * sizeof(uint64_t);
	return bytes + ((uint64_t)record->stack_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* --- the whole --- */

struct channel { /* all (m) but for what says otherwise */
	uint32_t magic, version;
	uint32_t monitor_pid;
	uint32_t is_over; /* the recording has ended: nothing more is read */
	uint32_t request_count;
	uint32_t starts_paused; /* nothing counts until cpprof_start */
	uint64_t tick_ns;       /* mean distance of a thread's timer ticks; 0: no timers */
	struct channel_request requests[SAMPLE_REQUESTS];

	uint32_t bell __attribute__((aligned(64))); /* a futex: raised and woken by a runtime that has news */
	uint32_t bell_wanted;                       /* 0: the monitor is at work already, no need to wake it */
	uint32_t label_sets;                        /* runtimes count it up: the last label set's number */
	uint32_t processes_refused;                 /* runtimes count it up: no free process slot */
	uint32_t processes_taken;                   /* likewise: see channel_process.order */
	uint32_t beat;                              /* raised some times a second, as long as the monitor lives */

	struct channel_process processes[CHANNEL_PROCESSES] __attribute__((aligned(4096)));
	struct channel_thread threads[CHANNEL_THREADS] __attribute__((aligned(4096)));
};

#define CHANNEL_PAGE 4096ULL
#define CHANNEL_ROUND(bytes) (((bytes) + CHANNEL_PAGE - 1) / CHANNEL_PAGE * CHANNEL_PAGE)
/* Offsets in the file. */
#define CHANNEL_RINGS CHANNEL_ROUND(sizeof(struct channel))
#define CHANNEL_CODES (CHANNEL_RINGS + (uint64_t)CHANNEL_THREADS * CHANNEL_RING_BYTES)
#define CHANNEL_CHUNKS_AT (CHANNEL_CODES + CHANNEL_ROUND(WALK_CODES * sizeof(struct walk_code)))
#define CHANNEL_BYTES (CHANNEL_CHUNKS_AT + (uint64_t)CHANNEL_CHUNKS * CODE_CHUNK_SLOTS * CODE_SLOT_BYTES)

/* Runtime and monitor may come from different builds: another size needs another CHANNEL_VERSION. */
_Static_assert(sizeof(struct channel_request) == 80 && sizeof(struct channel_thread) == 832 &&
		       sizeof(struct channel_process) == 64 && offsetof(struct channel, processes) == 4096,
	       "sizes of the channel's parts");

#endif
