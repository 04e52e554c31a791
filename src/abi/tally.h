/*
 * The tally: the file in which hooks and probe points count. It is mapped into the program, and the runtime counts
 * in it directly (src/collect/agent/hooks), so that no count is lost, even if the program is
 * killed. src/collect/count/ makes a profile of it.
 *
 *     struct tally_header         TALLY_HEADER_BYTES
 *     chunk, chunk, ...           each a struct tally_chunk and the data behind it, `bytes` long,
 *                                 a multiple of TALLY_GRANULE
 *
 * The file grows by whole chunks. To add one, the runtime adds its bytes to header->used, reserves the disk space,
 * maps the chunk and fills in its header, `kind` last. A chunk with kind TALLY_NOTHING was never finished and its
 * length is unknown: readers skip it granule by granule.
 *
 *   PROCESS   struct tally_process    one for each process, with the modules that it has had
 *   THREAD    struct tally_thread     one for each thread, then its objects
 *   OBJECTS   more objects of that thread
 *   BLOCKS    struct tally_blocks     execution counts of basic blocks
 *   EVENTS    struct tally_trace      events in the order in which they occurred
 *   RING      struct tally_ring       a thread's last events
 *   PROBES    struct tally_probes     the probe points that the program has reached (cpprof/profiler.h)
 *
 * Objects (nodes, edges, ticks) refer to each other by their addresses in the process that made them; `address` of a
 * chunk is its address there. A chunk is never unmapped or moved, and always belongs to the same process; a forked
 * process begins chunks of its own. The runtime completes an object before it links it: a reader may read at any
 * time, and checks everything that it reads.
 *
 * Times are of the kernel's clock (collect/shared/time_offset.h) in ns, or time stamps where noted: tally_process has pairs of both.
 */
#ifndef ABI_TALLY_H
#define ABI_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "abi/counters.h"
#include "abi/probe_kinds.h"

/* Absolute path of the file that `cpprof record --instrumented` has made. */
#define TALLY_VARIABLE "CPPROF_TALLY"
/* Used without TALLY_VARIABLE, by a program that is linked with libcpprof and runs alone: the path of the file to
 * make (default: cpprof.data in the directory in which the program starts) and the measurement (default: paths; a
 * name of TALLY_MEASUREMENT_NAMES). */
#define TALLY_OUTPUT_VARIABLE "CPPROF_OUTPUT"
#define TALLY_MEASURE_VARIABLE "CPPROF_MEASURE"
/* Path of a file of rules for probe points (docs/instrumented.md). */
#define TALLY_PROBES_VARIABLE "CPPROF_PROBES"

#define TALLY_MAGIC \
	"\x89"      \
	"CPT\r\n\x1a\n"

enum {
	TALLY_VERSION = 3,
	TALLY_GRANULE = 64 * 1024,
	TALLY_HEADER_BYTES = TALLY_GRANULE,
	TALLY_REQUESTS = 16,
	TALLY_CHUNK_MAGIC = 0x6b6e6843,
};

/* The measurement: one for all processes of a run. */
enum tally_measurement {
	TALLY_OFF,         /* hooks return at once */
	TALLY_ARCS,        /* (call site, function) -> calls; all edges are in the root of the thread */
	TALLY_PATHS,       /* exact calls per call path; samples are charged to the current path */
	TALLY_PATHS_TIMED, /* ... and the time between any two events is charged to the path that was current */
	TALLY_TRACE,       /* each event is written to the file */
	TALLY_BLOCKS,      /* executions of basic blocks; calls are counted as arcs */
	TALLY_COUNTS,      /* as TALLY_PATHS, without samples */
	TALLY_MEASUREMENTS
};
/* By enum tally_measurement: "off", "arcs", "paths", "paths-timed", "trace", "blocks", "counts". */
#define TALLY_MEASUREMENT_NAMES                                                    \
	{                                                                          \
		"off", "arcs", "paths", "paths-timed", "trace", "blocks", "counts" \
	}

/* A resource that is sampled meanwhile by the interval timers of the runtime, as in the preload backend. */
struct tally_request {
	uint64_t interval; /* gticks */
	uint8_t counter;   /* enum counter */
	uint8_t fp_kinds;  /* enum fp_kind, or-ed */
	uint8_t has_unit;  /* COUNTER_OWN: 1: the program has declared its unit; atomic */
	uint8_t spare[5];
	char own[64];    /* COUNTER_OWN: the program's name for it */
	char name[256];  /* the profile's name of the resource: "cpu" */
	char title[320]; /* "CPU Time" */
	char unit[64];   /* "ns" */
};

/* The least and the most that one call of a probe point adds to a time. Negative: it hides a part of the call's own. */
struct tally_cost {
	int64_t least_ps, most_ps;
};

struct tally_header {
	char magic[8];
	uint32_t version;
	uint32_t measurement; /* enum tally_measurement */
	uint64_t used;        /* bytes of the file that are taken, including this header; atomic */
	uint64_t limit;       /* maximum of `used` */
	uint64_t tick_ns;     /* CPU time from sample to sample; 0: no samples */
	uint64_t start_ns;
	int64_t start_unix_ns;
	uint32_t request_count;
	uint32_t processes;     /* process numbers given out so far; atomic */
	uint32_t starts_paused; /* 1: counting starts with cpprof_start or moncontrol(1) */
	uint32_t is_over;       /* 1: nothing that is written from now on is read */
	struct tally_request requests[TALLY_REQUESTS];
	/* Cost of one entry and exit of a probe point where each call is timed; all 0: not measured. The `inside` part
	 * falls between the two time stamps and is charged to the probe point, the `outside` part to its caller. */
	struct tally_cost probe_inside, probe_outside;
	/* The first problem with a rule in CPPROF_PROBES or with the user's implementation. "": none */
	char rules_finding[256];
	/* The name of the user's implementation that is also called at probe points. "": none */
	char implementation[64];
	uint64_t throttle_calls, throttle_ns; /* the last throttling rule: see tally_probe.throttled_calls. 0: none */
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
	TALLY_LABELS,
	TALLY_CHUNK_KINDS
};

struct tally_chunk {
	uint32_t magic;   /* TALLY_CHUNK_MAGIC */
	uint32_t kind;    /* enum tally_chunk_kind: written last, with release */
	uint64_t bytes;   /* length of the chunk, a multiple of TALLY_GRANULE */
	uint64_t used;    /* bytes of it that objects take, including this header */
	uint64_t address; /* its address in the process; 0: not mapped (TALLY_EVENTS) */
	uint32_t process; /* number of its process, from 0 */
	uint32_t thread;  /* number of its thread within the process, from 0; in TALLY_PROCESS 0 */
};

/* --- processes --- */

enum tally_hook { /* the hooks that were called, or-ed in tally_process.hooks */
		  TALLY_HOOK_MCOUNT = 1,
		  TALLY_HOOK_FENTRY = 2,
		  TALLY_HOOK_CYG = 4,    /* __cyg_profile_func_enter and _exit */
		  TALLY_HOOK_BLOCK = 8,  /* __sanitizer_cov_trace_pc */
		  TALLY_HOOK_GUARD = 16, /* __sanitizer_cov_trace_pc_guard */
		  TALLY_HOOK_PROBE = 32, /* cpprof_probe_enter and _leave, or the inline code of cpprof/profiler.h */
		  TALLY_SANDBOXED = 64,  /* no hook: a seccomp filter of the program forbids the agent's system calls */
		  TALLY_NO_TIMER = 128   /* no hook: the kernel refused a timer, or the handler of its signal */
};

enum { TALLY_BUILD_ID_MAX = 32 };

/* A module that the process has, or has had. Modules follow each other in the PROCESS chunk from
 * tally_process.modules on; each is `bytes` long, a multiple of 8, with its path at the end. The library does not
 * reuse addresses of unloaded code, so ranges do not overlap, unless `others_mixed` is set. */
struct tally_module {
	uint32_t bytes; /* 0: the end */
	uint8_t build_id_bytes;
	uint8_t is_vdso;
	uint8_t others_mixed; /* 1: counts of modules are mixed, or a later one found no room */
	uint8_t spare;
	uint64_t start, end; /* range of all its mapped segments */
	uint64_t bias;       /* address = bias + ELF virtual address */
	uint8_t build_id[TALLY_BUILD_ID_MAX];
	char path[]; /* absolute, ends with a NUL */
};

struct tally_process {
	struct tally_chunk chunk;
	uint32_t pid;
	uint32_t parent;                 /* number of the process that forked it, or UINT32_MAX */
	uint32_t hooks;                  /* enum tally_hook, or-ed */
	uint32_t threads;                /* thread numbers given out so far; atomic */
	uint64_t start_ns, end_ns;       /* end_ns 0: it was killed, or still runs */
	uint64_t start_ticks, end_ticks; /* time stamps of these; end_ticks is renewed now and then, see seen_ns */
	uint64_t seen_ns;                /* the kernel's clock at end_ticks */
	/* Losses: reports state each of them. Atomic. */
	uint64_t threads_refused;   /* threads that could not be counted: no memory, or no room in the file */
	uint64_t threads_stopped;   /* ... that counted until memory, disk space or room in the file ran out */
	uint64_t events_lost;       /* TALLY_TRACE: events that could not be written */
	uint64_t calls_uncounted;   /* calls that could not be counted (the present agent never adds to it) */
	uint64_t samples_elsewhere; /* ticks that interrupted the hooks: charged to the path that was current */
	char name[64];              /* the program's name at its start */
	uint64_t modules_bytes;     /* bytes of the complete modules below */
	struct tally_module modules[];
};

/* --- call paths --- */

struct tally_edge;
struct tally_tick;

/* A call path: `function` called from the path `parent`. Paths are not folded: each depth of a recursion has a node
 * of its own, until the thread has TALLY_NODES_MAX nodes (see TALLY_EDGE_FOLDED). */
struct tally_node {
	uint64_t function; /* an address in it: its first byte, or the address its hook returns to. 0: a root */
	struct tally_node *parent;
	struct tally_edge *edges; /* roughly in the order of their first calls */
	struct tally_tick *ticks;
	uint64_t exclusive_ticks;  /* TALLY_PATHS_TIMED: time spent here and not in an instrumented callee */
	uint64_t number;           /* TALLY_TRACE: events refer to the node by it, from 1; 0: a root */
	struct tally_edge *recent; /* private to the runtime: a guess of the first call from here; NULL: no guess */
};

enum { TALLY_NODES_MAX = 1 << 21 };

enum tally_edge_flags {
	TALLY_EDGE_FOREIGN = 1, /* the call site is not in the parent's code: something between is not instrumented */
	TALLY_EDGE_INLINED =
		2, /* the function is inlined into its parent: the call site is the call site of the parent's call */
	TALLY_EDGE_WITHIN =
		8, /* `function` is a probe point within its parent (a region, a loop), not a called function */
	TALLY_EDGE_FOLDED =
		4 /* too many nodes: `child` is not below the parent, but nearer to the root, if possible of the same function */
};

/* The calls of `function` from `call_site`, in the list of the node of the caller. */
struct tally_edge {
	uint64_t call_site;       /* the return address; 0: unknown */
	uint64_t function;        /* as in the child */
	uint64_t count;           /* calls */
	struct tally_node *child; /* TALLY_ARCS and TALLY_BLOCKS: NULL */
	struct tally_edge *next;
	uint32_t flags; /* enum tally_edge_flags */
	uint32_t code;  /* hooks that report returns: the hook's return address (lower half, made odd). Others: the
			 * caller's distance, even, private to the runtime */
	struct tally_edge *after; /* private to the runtime: a guess of the node's next call */
};

/* Samples that were taken while the path of its node was current. */
struct tally_tick {
	uint64_t pc; /* of the thread: in the node's function, or in code called from it without hooks */
	uint64_t hits;
	uint64_t samples;
	struct tally_tick *next;
	uint32_t request; /* index in tally_header.requests */
	uint32_t labels;  /* number of the thread's label set, see TALLY_LABELS; 0: none */
};

struct tally_thread {
	struct tally_chunk chunk;
	uint32_t tid;
	uint32_t creator_process;        /* process number of the creator's node. UINT32_MAX: unknown */
	uint64_t start_ns, end_ns;       /* end_ns 0: it still runs, or was killed */
	struct tally_node *creator;      /* the path that was current where this thread was created; NULL: unknown */
	uint64_t threads_before;         /* threads that counted in this struct before this one and have ended */
	uint64_t totals[TALLY_REQUESTS]; /* gticks in all, counted exactly */
	uint64_t lost[TALLY_REQUESTS];   /* samples for which there was no memory */
	char name[16];
	struct tally_node root; /* function 0 */
				/* Objects follow: nodes, edges and ticks, in no order, each aligned to 8 bytes. */
};

/* --- basic blocks --- */

/* Executions in one thread: a hash table of (pc, count) pairs up to `chunk.used`; pc is 0 in a free slot. When the
 * table is full, the runtime begins a chunk of twice the size and leaves this one as it is: readers add the counts. */
struct tally_block {
	uint64_t pc; /* the address that the block's hook returns to */
	uint64_t count;
};

struct tally_blocks {
	struct tally_chunk chunk;
	struct tally_block blocks[];
};

/* --- traces --- */

/* The thread's objects have the paths and their counts, as with TALLY_PATHS; the events add the times. An event is
 * one word, or a word and its operands:
 *
 *   63..32 lower half of the time stamp   31..2 number   1..0 kind
 *
 * ENTER and LEAVE carry the path that is current from then on (tally_node.number; 0: the root): ENTER after a call,
 * LEAVE after a return or a jump out of the callee. An event's meaning therefore does not depend on earlier events,
 * and a handler that interrupts a hook before the hook has written its event does no harm. Hooks that report only
 * entries (mcount, __fentry__) write no LEAVE. For OTHER, `number` is an enum tally_event_other. */
enum tally_event_kind { TALLY_EVENT_OTHER, TALLY_EVENT_ENTER, TALLY_EVENT_LEAVE, TALLY_EVENT_SPARE };
enum { TALLY_EVENT_TIME_SHIFT = 32, TALLY_EVENT_NUMBER_SHIFT = 2 };

enum tally_event_other {
	TALLY_EVENT_NOTHING, /* readers skip it */
	TALLY_EVENT_TIME,    /* 1 operand: the time stamp, for its upper half. The first event of each chunk */
	TALLY_EVENT_TICK,    /* 3 operands: pc (1: unknown), request + 1, hits: the thread was sampled */
	TALLY_EVENT_USER,    /* 3 operands: id and value (1 instead of 0), enum tally_event_user */
	TALLY_EVENT_OTHERS
};

/* Third operand of a cpprof_event. No operand may be 0, so it marks those whose value is 0. */
enum tally_event_user {
	TALLY_USER_WHOLE = 1,
	TALLY_USER_NO_ID = 2,
	TALLY_USER_NO_VALUE = 4
}; /* or-ed, the first always */

/* The runtime writes the whole ring of a thread at once with pwrite. The order of a thread's chunks in the file is
 * therefore the order of its events. `chunk.used` is the end of the events; zeros follow where the write was cut
 * short. */
struct tally_trace {
	struct tally_chunk chunk;
	uint64_t events; /* number of events that begin in it */
	uint64_t first;  /* index of its first word, counted over the whole thread */
	uint64_t words[];
};

/* The runtime writes events here, in memory that stays in the cache, until a granule is full: the last events are
 * kept even if the program is killed. words[0] is the thread's word number `flushed`; words below the end of its
 * last EVENTS chunk are also there. No word of an event is 0: a 0 before another word belongs to an event that a
 * handler interrupted and that was never written. */
struct tally_ring {
	struct tally_chunk chunk;
	uint64_t spare;
	uint64_t flushed; /* number of words that are in EVENTS chunks */
	uint64_t words[];
};

/* --- probe points --- */

/* A probe point that was reached. `function` of its nodes and edges is the address of its descriptor. Records follow
 * each other in a PROBES chunk; the runtime completes each before it adds it to probes_bytes, and begins another
 * chunk when one is full. */
struct tally_probe {
	uint32_t bytes;   /* of this struct and its texts, a multiple of 8 */
	uint32_t number;  /* from 1, in its process */
	uint64_t address; /* of the descriptor, as tally_node.function and tally_edge.function */
	uint64_t code;    /* an address in the code that reached it first; 0: unknown */
	uint16_t kind;    /* enum probe_kind */
	uint16_t level;   /* enum probe_level */
	uint32_t line;
	uint32_t flags;                  /* enum tally_probe_flags, or-ed; changes while the program runs */
	uint32_t switched;               /* number of times it was switched on or off */
	uint64_t throttled_calls;        /* TALLY_PROBE_THROTTLED: after this number of calls ... */
	uint64_t throttled_ns;           /* ... which took this time altogether */
	uint32_t signature, file, group; /* offsets in `texts`, the name's is 0. "": none */
	uint32_t spare;
	char texts[];
};

enum tally_probe_flags {
	TALLY_PROBE_OFF = 1,       /* it is off now */
	TALLY_PROBE_THROTTLED = 2, /* ... because of throttling */
	TALLY_PROBE_WAITS = 4      /* time in it is waiting (libcpprof-wrap) */
};

struct tally_probes {
	struct tally_chunk chunk;
	uint64_t probes_bytes; /* bytes of the complete records below */
	struct tally_probe probes[];
};

/* --- labels --- */

/* A label set of the process: "key=value" lines. The text follows, and zeros up to the next multiple of 8 bytes. */
struct tally_label_set {
	uint32_t number; /* from 1; a number has one text in a process */
	uint32_t bytes;  /* of the text */
	char text[];
};

struct tally_labels {
	struct tally_chunk chunk;
	uint64_t sets_bytes; /* bytes of the complete sets below */
	uint8_t sets[];
};

_Static_assert(sizeof(struct tally_header) <= TALLY_HEADER_BYTES, "the header has room");
_Static_assert(sizeof(struct tally_chunk) == 40 && sizeof(struct tally_node) == 56 && sizeof(struct tally_edge) == 56 &&
		       sizeof(struct tally_tick) == 40,
	       "as in files that exist");
_Static_assert(sizeof(struct tally_request) == 720 && sizeof(struct tally_header) == 11960 &&
		       sizeof(struct tally_process) == 208 && sizeof(struct tally_thread) == 408 &&
		       sizeof(struct tally_probe) == 72 && sizeof(struct tally_probes) == 48 &&
		       sizeof(struct tally_labels) == 48 && sizeof(struct tally_blocks) == 40 &&
		       sizeof(struct tally_trace) == 56 && sizeof(struct tally_ring) == 56,
	       "another size needs another TALLY_VERSION");

#endif
