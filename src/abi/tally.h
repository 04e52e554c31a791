/*
 * The tally: what the compiler's hooks count in a program, in a file that is mapped into it.
 * The runtime counts in there directly (src/collect/agent/hooks), so whatever becomes of the
 * program, what it had counted is there; src/collect/count/ makes a profile of it.
 *
 *     struct tally_header         TALLY_HEADER_BYTES
 *     chunk, chunk, ...           each a struct tally_chunk and what follows it, `bytes` long,
 *                                 a multiple of TALLY_GRANULE
 *
 * The file grows by whole chunks: who needs one adds its bytes to header->used, reserves the
 * disk space for it, maps it and fills in the chunk's header, `kind` last. A chunk whose kind is
 * TALLY_NOTHING was never finished, its length is not known: it is skipped by granules.
 *
 *   PROCESS   struct tally_process    one for each process, with the modules that it has had
 *   THREAD    struct tally_thread     one for each thread, then objects of its own
 *   OBJECTS   more of that thread's objects
 *   BLOCKS    struct tally_blocks     execution counts of basic blocks
 *   EVENTS    struct tally_trace      events in the order in which they came
 *   RING      struct tally_ring       a thread's last events
 *   PROBES    struct tally_probes     probe points that the program's source itself tells of (cpprof/profiler.h)
 *
 * Objects (nodes, edges, ticks) refer to each other by their addresses in the process that made
 * them: `address` of its chunks says where these were. A chunk is never unmapped or moved, and
 * belongs to one process for good; a forked process begins chunks of its own. Everything that is
 * linked in is complete before it is: a reader may look at any moment, and believes nothing.
 *
 * Times are CLOCK_MONOTONIC in ns, or time stamps where it says so: tally_process has pairs of both.
 */
#ifndef ABI_TALLY_H
#define ABI_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "abi/counters.h"
#include "abi/probe_kinds.h"

/* The file, made by `cpprof record --instrumented`: an absolute path. */
#define TALLY_VARIABLE "CPPROF_TALLY"
/* Without it, of a program that was linked with libcpprof and runs alone: where the file is made
 * (default: cpprof.data in the directory in which it starts) and which measurement it is to be
 * (default: paths; a name of tally_measurement_names). */
#define TALLY_OUTPUT_VARIABLE "CPPROF_OUTPUT"
#define TALLY_MEASURE_VARIABLE "CPPROF_MEASURE"
/* Rules that say which probe points are on (docs/control.md): a file. */
#define TALLY_PROBES_VARIABLE "CPPROF_SITES"

#define TALLY_MAGIC \
	"\x89"      \
	"CPT\r\n\x1a\n"

enum {
	TALLY_VERSION = 2,
	TALLY_GRANULE = 64 * 1024,
	TALLY_HEADER_BYTES = TALLY_GRANULE,
	TALLY_REQUESTS = 16,
	TALLY_CHUNK_MAGIC = 0x6b6e6843,
};

/* What is measured: one for all processes of a run. */
enum tally_measurement {
	TALLY_OFF,         /* hooks return at once */
	TALLY_ARCS,        /* (call site, function) -> calls; all edges hang below the thread's root */
	TALLY_PATHS,       /* exact calls per call path; samples are charged to the current path */
	TALLY_PATHS_TIMED, /* ... and the time between any two events to the path that was current */
	TALLY_TRACE,       /* each event is written down */
	TALLY_BLOCKS,      /* executions of basic blocks; of calls arcs as well */
	TALLY_COUNTS,      /* as TALLY_PATHS, and no samples are taken */
	TALLY_MEASUREMENTS
};
/* By enum tally_measurement: "off", "arcs", "paths", "paths-timed", "trace", "blocks", "counts". */
#define TALLY_MEASUREMENT_NAMES                                                    \
	{                                                                          \
		"off", "arcs", "paths", "paths-timed", "trace", "blocks", "counts" \
	}

/* A resource that is sampled meanwhile: by the clocks of the runtime, as the preload backend's. */
struct tally_request {
	uint64_t interval; /* gticks */
	uint8_t counter;   /* enum counter */
	uint8_t fp_kinds;  /* enum fp_kind, or-ed */
	uint8_t spare[6];
	char own[64];    /* COUNTER_OWN: as the program calls it */
	char name[256];  /* "cpu"; the profile's resource */
	char title[320]; /* "CPU Time" */
	char unit[64];   /* "ns" */
};

struct tally_header {
	char magic[8];
	uint32_t version;
	uint32_t measurement; /* enum tally_measurement */
	uint64_t used;        /* bytes of the file that are taken, this header included; atomic */
	uint64_t limit;       /* ... and how many there may be */
	uint64_t tick_ns;     /* CPU time from sample to sample; 0: none are taken */
	uint64_t start_ns;
	int64_t start_unix_ns;
	uint32_t request_count;
	uint32_t processes;     /* that have taken a number so far; atomic */
	uint32_t starts_paused; /* 1: nothing is counted before cpprof_start or moncontrol(1) */
	uint32_t is_over;       /* 1: nobody reads what is written from now on */
	struct tally_request requests[TALLY_REQUESTS];
	/* What one entry and exit of a probe point cost where each call is timed, in ps; 0: not measured. `inside`
	 * falls between their two time stamps, which is time of the probe point itself, `outside` is that of who called it. */
	uint64_t probe_inside_ps, probe_outside_ps;
	/* What could not be done about probe points: of the rules in CPPROF_SITES, or of the user's own implementation. "": nothing */
	char rules_finding[256];
	/* The user's own implementation that was told of probe points, too: its name for itself. "": there is none */
	char implementation[64];
	uint64_t throttle_calls, throttle_ns; /* the last rule: see tally_probe.throttled_calls. 0: there is none */
};

/* --- chunks --- */

enum tally_chunk_kind {
	TALLY_NOTHING,
	TALLY_PROCESS,
	TALLY_THREAD,
	TALLY_OBJECTS,
	TALLY_BLOCK_COUNTS,
	TALLY_EVENTS,
	TALLY_RING,
	TALLY_PROBES,
	TALLY_CHUNK_KINDS
};

struct tally_chunk {
	uint32_t magic;   /* TALLY_CHUNK_MAGIC */
	uint32_t kind;    /* enum tally_chunk_kind: written last, with release */
	uint64_t bytes;   /* of the chunk, a multiple of TALLY_GRANULE */
	uint64_t used;    /* ... of them taken by objects, this header included */
	uint64_t address; /* where it is in its process; 0: it is not mapped (TALLY_EVENTS) */
	uint32_t process; /* number of its process, from 0 */
	uint32_t thread;  /* number of its thread within the process, from 0; of TALLY_PROCESS 0 */
};

/* --- processes --- */

enum tally_hook { /* which were called, or-ed in tally_process.hooks */
		  TALLY_HOOK_MCOUNT = 1,
		  TALLY_HOOK_FENTRY = 2,
		  TALLY_HOOK_CYG = 4,    /* __cyg_profile_func_enter and _exit */
		  TALLY_HOOK_BLOCK = 8,  /* __sanitizer_cov_trace_pc */
		  TALLY_HOOK_GUARD = 16, /* __sanitizer_cov_trace_pc_guard */
		  TALLY_HOOK_PROBE = 32 /* cpprof_site_enter and _leave, or what stands for them in cpprof/profiler.h */
};

enum { TALLY_BUILD_ID_MAX = 32 };

/* Code that the process has, or has had: modules follow each other in the PROCESS chunk, from
 * tally_process.modules on; each is `bytes` long, a multiple of 8, its path behind it. Addresses of
 * code that was unloaded are not given out again, so ranges do not overlap; unless `others_mixed` says so. */
struct tally_module {
	uint32_t bytes; /* 0: the end */
	uint8_t build_id_bytes;
	uint8_t is_vdso;
	uint8_t others_mixed; /* 1: others that came later could not be told from those before them, or found no room here */
	uint8_t spare;
	uint64_t start, end; /* of its mapped segments, all of them */
	uint64_t bias;       /* address = bias + ELF virtual address */
	uint8_t build_id[TALLY_BUILD_ID_MAX];
	char path[]; /* absolute, ends with a NUL */
};

struct tally_process {
	struct tally_chunk chunk;
	uint32_t pid;
	uint32_t parent;                 /* number of the process that forked it, or UINT32_MAX */
	uint32_t hooks;                  /* enum tally_hook, or-ed */
	uint32_t threads;                /* that have taken a number; atomic */
	uint64_t start_ns, end_ns;       /* end_ns 0: it was killed, or runs */
	uint64_t start_ticks, end_ticks; /* at the same moments; end_ticks is renewed now and then, see seen_ns */
	uint64_t seen_ns;                /* CLOCK_MONOTONIC at end_ticks */
	/* Losses: told to the user, never hidden. Atomic. */
	uint64_t threads_refused;   /* threads that could not be counted: no memory */
	uint64_t threads_stopped;   /* ... that ran out of memory, disk space or the limit while they counted */
	uint64_t events_lost;       /* TALLY_TRACE: events that could not be written */
	uint64_t calls_uncounted;   /* calls in places where nothing could be counted, as far as that is known */
	uint64_t samples_elsewhere; /* ticks that found the hooks at work: charged to the path current then */
	char name[64];              /* the program's, as of its start */
	uint64_t modules_bytes;     /* of the modules below, as far as they are complete */
	struct tally_module modules[];
};

/* --- call paths --- */

struct tally_edge;
struct tally_tick;

/* A call path: `function` called from the path `parent`. Paths are not folded: a recursion has a node for
 * each of its depths, until the thread has TALLY_NODES_MAX nodes (see TALLY_EDGE_FOLDED). */
struct tally_node {
	uint64_t function; /* an address in it: its first byte, or where its hook returns to. 0: a root */
	struct tally_node *parent;
	struct tally_edge *edges; /* about in the order in which they were taken first */
	struct tally_tick *ticks;
	uint64_t exclusive_ticks;  /* TALLY_PATHS_TIMED: time spent here and not in a callee that is instrumented */
	uint64_t number;           /* TALLY_TRACE: by which events refer to it, from 1; 0: a root */
	struct tally_edge *recent; /* the runtime's own: what is called from here first, probably; NULL: not known */
};

enum { TALLY_NODES_MAX = 1 << 21 };

enum tally_edge_flags {
	TALLY_EDGE_FOREIGN = 1, /* the call site is not in the parent's code: something between is not instrumented */
	TALLY_EDGE_INLINED =
		2, /* the function is inlined into its parent: the call site is that of the parent's call */
	TALLY_EDGE_WITHIN =
		8, /* `function` is a probe point within its parent, not a function that is called: a region, a loop */
	TALLY_EDGE_FOLDED = 4 /* too many nodes: `child` is not below the parent, but one of the same function nearer
				 * to the root, or else below the root */
};

/* A call of `function` from `call_site`, below the node that has it in its list. */
struct tally_edge {
	uint64_t call_site;       /* the return address; 0: not known */
	uint64_t function;        /* as in the child */
	uint64_t count;           /* calls */
	struct tally_node *child; /* TALLY_ARCS and TALLY_BLOCKS: NULL */
	struct tally_edge *next;
	uint32_t flags;           /* enum tally_edge_flags */
	uint32_t code;            /* the runtime's own, as is: which hook has told of it first */
	struct tally_edge *after; /* ... what its node calls next, probably */
};

/* Samples that found the path of its node current. */
struct tally_tick {
	uint64_t pc; /* where the thread was: in the node's function, or in code below it that is not instrumented */
	uint64_t hits;
	uint64_t samples;
	struct tally_tick *next;
	uint32_t request; /* index in tally_header.requests */
	uint32_t spare;
};

struct tally_thread {
	struct tally_chunk chunk;
	uint32_t tid;
	uint32_t creator_process;        /* with creator: the process number of that node. UINT32_MAX: not known */
	uint64_t start_ns, end_ns;       /* 0: runs, or was killed */
	struct tally_node *creator;      /* the path that was current where this thread was created; NULL: not known */
	uint64_t threads_before;         /* threads that had ended and have counted in here before this one */
	uint64_t totals[TALLY_REQUESTS]; /* gticks counted exactly, sampled or not */
	uint64_t lost[TALLY_REQUESTS];   /* samples for which there was no memory */
	char name[16];
	struct tally_node root; /* function 0 */
				/* Objects follow: nodes, edges and ticks, in no order, each aligned to 8 bytes. */
};

/* --- basic blocks --- */

/* Executions in one thread. Keyed: (pc, count) pairs, pc 0 where none is, behind `chunk.used` nothing.
 * Where the table is full a chunk of twice the size is begun, and this one stays as it is: counts add up. */
struct tally_block {
	uint64_t pc; /* where the hook returns to, in that block */
	uint64_t count;
};

struct tally_blocks {
	struct tally_chunk chunk;
	struct tally_block blocks[];
};

/* --- traces --- */

/* The paths and their counts are in the thread's objects, as those of TALLY_PATHS are; the events say when. Each
 * is one word, or a word and those that belong to it:
 *
 *   63..32 lower half of the time stamp   31..2 number   1..0 kind
 *
 * ENTER and LEAVE carry the path that is current from then on (tally_node.number; 0: the root): ENTER because it was
 * called, LEAVE because what it had called was left, by returning or by a jump. So what an event means depends on
 * none before it, and a handler that interrupts a hook before it has written its event does no harm. Hooks that know
 * entries alone (mcount, __fentry__) write no LEAVE. OTHER: `number` is an enum tally_event_other. */
enum tally_event_kind { TALLY_EVENT_OTHER, TALLY_EVENT_ENTER, TALLY_EVENT_LEAVE, TALLY_EVENT_SPARE };
enum { TALLY_EVENT_TIME_SHIFT = 32, TALLY_EVENT_NUMBER_SHIFT = 2 };

enum tally_event_other {
	TALLY_EVENT_NOTHING, /* to be skipped */
	TALLY_EVENT_TIME,    /* 1 word: the time stamp, whose upper half what follows has. Each chunk begins with one */
	TALLY_EVENT_TICK,    /* 3 words: pc (1: not known), request + 1, hits: the thread was sampled */
	TALLY_EVENT_USER,    /* 3 words: id and value, 1 where they are 0; and an enum tally_event_user */
	TALLY_EVENT_OTHERS
};

/* Of cpprof_event. No word may be 0, so it says what is. */
enum tally_event_user {
	TALLY_USER_WHOLE = 1,
	TALLY_USER_NO_ID = 2,
	TALLY_USER_NO_VALUE = 4
}; /* or-ed, the first always */

/* Written with pwrite from the thread's ring, whole: a thread's chunks in the file's order are its events in theirs.
 * `chunk.used` says how far; where that was cut short, zeros follow. */
struct tally_trace {
	struct tally_chunk chunk;
	uint64_t events; /* how many begin in it */
	uint64_t first;  /* of its words, as the thread counts them */
	uint64_t words[];
};

/* Events are written here, in memory that stays in the cache, until a granule is full: so whatever becomes of the program
 * its last events are here. words[0] is word `flushed` of the thread; what is below the end of its last EVENTS chunk is
 * there as well. No word of an event is 0; a 0 before another word was one that a handler had interrupted and that was not
 * written any more. */
struct tally_ring {
	struct tally_chunk chunk;
	uint64_t spare;
	uint64_t flushed; /* words that are in EVENTS chunks */
	uint64_t words[];
};

/* --- probe points --- */

/* A probe point that was reached: what nodes and edges have as `function` is then the address of its descriptor. They follow each other
 * in a PROBES chunk; each is complete before probes_bytes counts it. Where a chunk is full another one is begun. */
struct tally_probe {
	uint32_t bytes;   /* of this and its texts, a multiple of 8 */
	uint32_t number;  /* from 1, of its process */
	uint64_t address; /* of the descriptor: tally_node.function, tally_edge.function */
	uint64_t code;    /* an address in the code that reached it first; 0: not known */
	uint16_t kind;    /* enum probe_kind */
	uint16_t level;   /* enum probe_level */
	uint32_t line;
	uint32_t flags;                  /* enum tally_probe_flags, or-ed; changes while the program runs */
	uint32_t switched;               /* how often it was switched off or on */
	uint64_t throttled_calls;        /* TALLY_PROBE_THROTTLED: after so many calls ... */
	uint64_t throttled_ns;           /* ... of so much time altogether */
	uint32_t signature, file, group; /* where in `texts` they begin; the name at 0. "": none */
	uint32_t spare;
	char texts[];
};

enum tally_probe_flags {
	TALLY_PROBE_OFF = 1,       /* it is off now */
	TALLY_PROBE_THROTTLED = 2, /* ... by itself */
	TALLY_PROBE_WAITS = 4      /* time in it is spent waiting: of libcpprof-wrap */
};

struct tally_probes {
	struct tally_chunk chunk;
	uint64_t probes_bytes; /* of the probes below, as far as they are complete */
	struct tally_probe probes[];
};

_Static_assert(sizeof(struct tally_header) <= TALLY_HEADER_BYTES, "the header has room");
_Static_assert(sizeof(struct tally_chunk) == 40 && sizeof(struct tally_node) == 56 && sizeof(struct tally_edge) == 56 &&
		       sizeof(struct tally_tick) == 40,
	       "as in files that exist");
_Static_assert(sizeof(struct tally_request) == 720 && sizeof(struct tally_header) == 11944 &&
		       sizeof(struct tally_process) == 208 && sizeof(struct tally_thread) == 408 &&
		       sizeof(struct tally_probe) == 72 && sizeof(struct tally_probes) == 48 &&
		       sizeof(struct tally_blocks) == 40 && sizeof(struct tally_trace) == 56 &&
		       sizeof(struct tally_ring) == 56,
	       "another size needs another TALLY_VERSION");

#endif
