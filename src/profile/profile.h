/*
 * A profile in memory: resources x call paths x threads, in hits. Everything
 * that records makes one of these, everything that reports reads one.
 *
 *   strings                        every text, by number
 *   resources, processes, threads, modules
 *   functions <- frames <- locations     a location is an address in a module;
 *                                        once symbolized it has one frame, or
 *                                        several where functions were inlined
 *   nodes                          the call path tree over locations
 *   hits                           (time, thread, node, resource, count)
 *   labels <- label sets           what the program itself calls its work, by hit
 *   touches                        memory that hits of page faults touched
 *   findings                       what a reader must know of the profile's quality
 *
 * All tables are append-only arrays; an id is an index. A node's parent has a
 * smaller id than the node, so one backward pass over `nodes` sums weights.
 * Node 0 is the root that stands above every path; it has no location.
 * Label set 0 is the empty one.
 *
 * Ownership: the profile owns everything; pointers into it are valid until the
 * next call that adds to the same table. Every `add` returns the new id, or
 * ERROR_MEMORY or ERROR_LIMIT as a negative number, and then nothing changed.
 * Field names that end in `name`, `path`, `text`... and say "string" are ids
 * in `strings`. Times are CLOCK_MONOTONIC in ns.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "base/strings.h"

#define PROFILE_NONE UINT32_MAX /* "no such thing" in a field that holds an id */
enum { PROFILE_ROOT = 0, PROFILE_NO_LABELS = 0, PROFILE_BUILD_ID_MAX = 32 };

enum resource_kind {
	RESOURCE_SAMPLED = 0, /* a hit row is one sample; `count` interval boundaries were crossed at it */
	RESOURCE_MERGED = 1,  /* a hit row stands for `count` samples of one hit each (imported data) */
	RESOURCE_EXACT = 2,   /* `count` is the amount itself, in gticks */
};

struct profile_resource {
	uint32_t name;     /* string: "page-faults", what the user types */
	uint32_t title;    /* string: "Page Faults", what the reports' heading says */
	uint32_t unit;     /* string: what one gtick is: "ns", "fault", "switch", ... */
	uint32_t backend;  /* string: who measured it: "perf", ... */
	uint32_t note;     /* string: "" or what the user must know: "user mode only" */
	uint8_t kind;      /* enum resource_kind */
	uint64_t interval; /* mean gticks from hit to hit; 1 if exact */
	uint64_t total;    /* gticks that the kernel counted in all; 0: not known */
	uint64_t lost;     /* samples of this resource known to be lost */
};

struct profile_process {
	uint32_t pid;
	uint32_t parent_pid; /* 0: not known */
	uint32_t name;       /* string: the command name, as of its last exec */
	uint64_t start_ns;   /* 0: before the recording */
	uint64_t end_ns;     /* 0: still running when the recording ended */
	uint32_t cgroup;     /* string: path of its control group, "/system.slice/cron.service"; "" if not known */
};

struct profile_thread {
	uint32_t tid;
	uint32_t process; /* index in processes */
	uint32_t name;    /* string */
	uint64_t start_ns;
	uint64_t end_ns;
};

enum module_kind {
	MODULE_FILE = 0,   /* an ELF file */
	MODULE_VDSO = 1,   /* the kernel's [vdso] */
	MODULE_ANON = 2,   /* executable memory without a file: generated code */
	MODULE_KERNEL = 3, /* work of the kernel with no user stack above it */
	MODULE_NAMES = 4,  /* imported data: locations are names, not addresses */
	/* Its one location marks a node at which a thread was started: above it is the
	 * stack that did, below it the thread's own, from its outermost frame on. */
	MODULE_THREAD = 5,
};

struct profile_module {
	uint32_t path;          /* string: as the target sees it; "[vdso]", "[anon]", ... */
	uint8_t kind;           /* enum module_kind */
	uint8_t build_id_bytes; /* 0: none known */
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
};

/* What a walk of the user stack left unsaid: the state of every stack taken. */
struct profile_cause {
	uint32_t text;  /* string: the named state, from the list in unwind/cause.h */
	uint64_t count; /* samples that ended so */
	bool whole;     /* these paths reach their root */
	bool completed; /* ... but only with help from outside the copied stack */
};

struct profile_function {
	uint32_t name;    /* string: demangled, as shown; "libfoo.so+0x1a40" if it has no symbol */
	uint32_t linkage; /* string: the symbol's name, "" if none */
	uint32_t module;  /* index in modules, or PROFILE_NONE */
	uint32_t file;    /* string: source file that defines it, "" if not known */
	uint32_t line;    /* of the definition, 0 if not known */
	uint8_t role;     /* enum function_role */
	uint32_t group;   /* string: what its source says that it belongs to, "io"; "" if nothing */
};

/* Lets a reader trim what stands above `main` without knowing any C library. */
enum function_role {
	ROLE_NONE = 0,
	ROLE_START = 1,  /* C library code above main or above a thread's start function:
	                 * _start, __libc_start_main..., clone, start_thread */
	ROLE_MAIN = 2,   /* main itself */
	ROLE_CREATE = 3, /* pthread_create and the like: what it calls on the way to a new thread is the library's */
};

/* The kind of code that a frame stands for. */
enum frame_kind {
	FRAME_NATIVE = 0,      /* machine code of a file, or code whose kind is not known */
	FRAME_KERNEL = 1,      /* the kernel's */
	FRAME_JIT = 2,         /* machine code that a run-time compiler generated */
	FRAME_INTERPRETER = 3, /* a function of an interpreted program */
};

struct profile_frame {
	uint32_t function; /* index in functions */
	uint32_t file;     /* string: source file executing there, "" if not known */
	uint32_t line;     /* 0: not known */
	bool inlined;      /* inlined into the next frame of the same location */
	uint8_t kind;      /* enum frame_kind */
};

struct profile_location {
	uint32_t module;      /* index in modules */
	uint32_t first_frame; /* index in frames; PROFILE_NONE until symbolized */
	uint32_t frame_count; /* frames first_frame..., innermost (inlined) first */
	uint64_t address;     /* ELF virtual address in the module's file. Of a caller: one
	                       * byte before its return address, so that it lies in the call. */
	bool by_frames;       /* shares its address with other locations: its frames identify it, too */
};

struct profile_node {
	uint32_t parent;   /* id of a smaller node; node 0: PROFILE_NONE */
	uint32_t location; /* index in locations; node 0: PROFILE_NONE */
};

struct profile_hit {
	uint64_t time_ns; /* 0: not known */
	uint32_t node;
	uint32_t thread;   /* index in threads, or PROFILE_NONE */
	uint32_t count;    /* > 0 */
	uint32_t resource; /* index in resources */
};

/* Where a page fault's memory was: one for each sample of a resource of faults. */
struct profile_touch {
	uint64_t time_ns; /* as of its hit */
	uint64_t address; /* that was touched */
	uint32_t node;
	uint32_t thread;
	uint32_t resource;
	uint32_t count;   /* hits of that sample */
	uint32_t mapping; /* string: "/usr/lib/libc.so.6", "[heap]", "[stack]", "[anon]"; "" if not known */
};

/* What a thread was working at when it was sampled, in the program's own words: "tenant" is "acme". */
struct profile_label {
	uint32_t key;   /* string, not "" */
	uint32_t value; /* string */
};

/* Labels first_label, first_label + 1, ...: sorted by key, each key once. No two sets are equal. */
struct profile_label_set {
	uint32_t first_label; /* index in labels */
	uint32_t label_count;
};

/* One (key, value) text of the description: "command", "host", "kernel", "cpus",
 * "cpprof", "directory", ... A key may occur several times. */
struct profile_note {
	uint32_t key;
	uint32_t value;
};

/* See profile/findings.h. */
struct profile_finding {
	uint32_t code;    /* string: the code's name; a later version may have more than finding_codes.h */
	uint32_t text;    /* string: one clause, with the count */
	uint64_t count;   /* of what the code's unit names; 0 if it has none */
	uint8_t severity; /* enum finding_severity */
};

struct profile {
	struct strings strings;
	struct profile_resource *resources;
	struct profile_process *processes;
	struct profile_thread *threads;
	struct profile_module *modules;
	struct profile_function *functions;
	struct profile_frame *frames;
	struct profile_location *locations;
	struct profile_node *nodes;
	struct profile_hit *hits;
	struct profile_touch *touches;
	struct profile_cause *causes;
	struct profile_note *notes;
	struct profile_finding *findings;
	struct profile_label *labels;
	struct profile_label_set *label_sets;
	/* Label sets of the first hits; all further ones have none. Apart from the rows,
	 * so that who has no labels does not pay for them: see profile_hit_labels. */
	uint32_t *hit_labels;

	size_t resource_count, process_count, thread_count, module_count, function_count, frame_count, location_count,
		node_count, hit_count, touch_count, cause_count, note_count, finding_count, label_count,
		label_set_count, hit_label_count;
	size_t resource_capacity, process_capacity, thread_capacity, module_capacity, function_capacity, frame_capacity,
		location_capacity, node_capacity, hit_capacity, touch_capacity, cause_capacity, note_capacity,
		finding_capacity, label_capacity, label_set_capacity, hit_label_capacity;

	uint64_t start_ns;     /* CLOCK_MONOTONIC when recording began; 0: not known */
	uint64_t end_ns;       /* ... and ended */
	int64_t start_unix_ns; /* wall clock at start_ns */
	uint64_t lost;         /* samples lost in all: never hidden */
	bool symbolized;       /* the locations' frames are final */
	bool ended;            /* the recorder ended normally */
	int findings_error;    /* 0, or why a finding could not be added: ERROR_MEMORY, ERROR_LIMIT */

	struct hash_map node_by_edge;        /* (parent, location) -> node */
	struct hash_map location_by_address; /* see profile_add_location */
	struct hash_map set_by_labels;       /* see profile_add_label_set */
	size_t nodes_indexed;                /* nodes below this one are in the map */
	size_t locations_indexed;            /* ... and locations */
	size_t label_sets_indexed;           /* ... and label sets */
};

/* NULL: out of memory. A new profile holds string 0, node 0 and label set 0. */
struct profile *profile_new(void);
void profile_free(struct profile *profile); /* NULL is fine */

/* Id of the string, added if new. */
int64_t profile_add_string(struct profile *profile, const char *text);
static inline const char *profile_string(const struct profile *profile, uint32_t id)
{
	return strings_get(&profile->strings, id);
}

int64_t profile_add_resource(struct profile *profile, const struct profile_resource *resource);
int64_t profile_add_process(struct profile *profile, const struct profile_process *process);
int64_t profile_add_thread(struct profile *profile, const struct profile_thread *thread);
int64_t profile_add_module(struct profile *profile, const struct profile_module *module);
int64_t profile_add_function(struct profile *profile, const struct profile_function *function);
int64_t profile_add_frame(struct profile *profile, const struct profile_frame *frame);
int64_t profile_add_note(struct profile *profile, const char *key, const char *value);
/* The first value of a key, or NULL. */
const char *profile_note(const struct profile *profile, const char *key);

/* The location of (module, address), added without frames if new. */
int64_t profile_add_location(struct profile *profile, uint32_t module, uint64_t address);

/* Appends a location that shares its address with others and has other frames
 * (`by_frames`). profile_add_location never returns it. */
int64_t profile_append_location(struct profile *profile, uint32_t module, uint64_t address);

/* The child of `parent` at `location`, added if new: about 20 ns when it is
 * there already and in cache (bench/). */
int64_t profile_add_node(struct profile *profile, uint32_t parent, uint32_t location);

/* Appends a node without looking for an equal one: for readers of files, in
 * which nodes are distinct by construction. The next profile_add_node indexes
 * such nodes first, which takes a while once; profile_index_nodes does it now. */
int64_t profile_append_node(struct profile *profile, uint32_t parent, uint32_t location);
int profile_index_nodes(struct profile *profile);

/* Room for `count` hit rows in all. A large room is made of huge pages. */
int profile_reserve_hits(struct profile *profile, size_t count);

/* Appends hit rows; a count above 32 bits becomes several rows. */
int profile_add_hit(struct profile *profile, uint64_t time_ns, uint32_t thread, uint32_t node, uint32_t resource,
		    uint64_t count);

/* The set of these labels, added if new. They may be in any order, and are sorted in
 * place; of labels of one key the last counts. */
int64_t profile_add_label_set(struct profile *profile, struct profile_label *labels, size_t count);

/* The hits from number `first` on have this label set, those before what they had.
 * 0 or ERROR_MEMORY. */
int profile_label_hits(struct profile *profile, size_t first, uint32_t label_set);

static inline uint32_t profile_hit_labels(const struct profile *profile, size_t hit)
{
	return hit < profile->hit_label_count ? profile->hit_labels[hit] : PROFILE_NO_LABELS;
}

/* The value (a string) of a key (a string) in a set, or PROFILE_NONE. */
uint32_t profile_label_value(const struct profile *profile, uint32_t label_set, uint32_t key);

int64_t profile_add_touch(struct profile *profile, const struct profile_touch *touch);

/* Adds `count` to the cause of that text (added if new). */
int profile_count_cause(struct profile *profile, const char *text, bool whole, bool completed, uint64_t count);

/* Forgets the hits and touches, after they were written to disk; the memory is kept. */
void profile_clear_hits(struct profile *profile);

/* Id of the resource of that name, or PROFILE_NONE. */
uint32_t profile_find_resource(const struct profile *profile, const char *name);

/* Checks that every id in every table points at something and that parents
 * come before children: what a reader calls on data from outside.
 * Returns 0 or ERROR_CORRUPT. */
int profile_check(const struct profile *profile);
/* The same of everything but the hits (touches are checked). */
int profile_check_tables(const struct profile *profile);

/* From the start of the recording to its end, or to the last hit if that is later. */
uint64_t profile_duration_ns(const struct profile *profile);

#endif
