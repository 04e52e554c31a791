/*
 * A profile in memory: resources x call paths x threads, in hits. Every recorder makes a profile, and every report
 * reads one.
 *
 *   strings                        every text, by number
 *   resources, processes, threads, modules
 *   functions <- frames <- locations     a location is an address in a module; once symbolized,
 *                                        it has one frame, or several if functions were inlined
 *   nodes                          the call path tree over locations
 *   hits                           (time, thread, node, resource, count)
 *   labels <- label sets           keys and values that the program attached to threads, by hit
 *   touches                        memory that hits of page faults touched
 *   findings                       what was lost, estimated or impossible
 *
 * All tables are append-only arrays; an id is an index. A node's parent has a smaller id than the node, so one
 * backward pass over `nodes` sums weights. Node 0 is the root of all paths; it has no location. Label set 0 is the
 * empty one.
 *
 * Ownership: the profile owns everything; pointers into it are valid until the next call that adds to the same
 * table. Every `add` returns the new id, or ERROR_MEMORY or ERROR_LIMIT; after an error the table is unchanged. A
 * field whose comment begins with "string" is an id in `strings`. Times are CLOCK_MONOTONIC in ns.
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
	RESOURCE_SAMPLED = 0, /* a hit row is one sample that crossed `count` interval boundaries */
	RESOURCE_MERGED = 1,  /* a hit row has `count` samples of one hit each (imported data) */
	RESOURCE_EXACT = 2,   /* `count` is the exact amount, in gticks */
	RESOURCE_SUMS =
		3, /* `count` is the amount, in gticks, that an unknown number of samples found (imported data) */
};

struct profile_resource {
	uint32_t name;     /* string: "page-faults", as on the command line */
	uint32_t title;    /* string: "Page Faults", as in the headings of reports */
	uint32_t unit;     /* string: one gtick: "ns", "fault", "switch", ... */
	uint32_t backend;  /* string: the backend that measured it: "perf", ... */
	uint32_t note;     /* string: a limit of the measurement, "user mode only"; "": none */
	uint8_t kind;      /* enum resource_kind */
	uint64_t interval; /* mean gticks from hit to hit; 1 if exact */
	uint64_t total;    /* gticks counted over the whole recording; 0: not known */
	uint64_t lost;     /* samples of this resource that are known to be lost */
};

struct profile_process {
	uint32_t pid;
	uint32_t parent_pid; /* 0: not known */
	uint32_t name;       /* string: the command name, after its last exec */
	uint64_t start_ns;   /* 0: it began before the recording */
	uint64_t end_ns;     /* 0: it was still running when the recording ended */
	uint32_t cgroup;     /* string: path of its control group, "/system.slice/cron.service"; "": not known */
	/* Its real user id here, plus 1; 0: not known, as of processes of another machine. Source files are opened only if this user may
	 * read them (profile/file_users.h). */
	uint32_t user;
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
	MODULE_ANON = 2,   /* executable memory of one process without a file: generated code */
	MODULE_KERNEL = 3, /* work of the kernel without a user stack */
	MODULE_NAMES = 4,  /* imported data: locations are names, not addresses */
	/* Its one location marks the node at which a thread was created. The path above that node is the creator's
	 * stack; below it is the thread's own stack, from its outermost frame on. */
	MODULE_THREAD = 5,
};

struct profile_module {
	uint32_t path;          /* string: in the target's file system; "[vdso]", "[anon]", ... */
	uint8_t kind;           /* enum module_kind */
	uint8_t build_id_bytes; /* 0: not known */
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
};

/* A reason why walks of user stacks ended, with the number of samples. */
struct profile_cause {
	uint32_t text;  /* string: the cause's name, from the list in unwind/cause.h */
	uint64_t count; /* samples with this cause */
	bool whole;     /* these paths reach their root */
	bool completed; /* ... but only with data from outside the copied stack */
	bool guessed;   /* ... but a step had no unwind rule, and a frame may be missing there */
};

struct profile_function {
	uint32_t name;    /* string: demangled, as in reports; "libfoo.so+0x1a40" if it has no symbol */
	uint32_t linkage; /* string: the symbol's name; "": none */
	uint32_t module;  /* index in modules, or PROFILE_NONE */
	uint32_t file;    /* string: source file that defines it; "": not known */
	uint32_t line;    /* line of the definition; 0: not known */
	uint8_t role;     /* enum function_role */
	uint32_t group;   /* string: the group that the source assigns it to, "io"; "": none */
};

/* The roles let a reader trim the frames outside of `main` independently of the C library. */
enum function_role {
	ROLE_NONE = 0,
	ROLE_START = 1,  /* C library code above main or above a thread's start function:
	                 * _start, __libc_start_main..., clone, start_thread */
	ROLE_MAIN = 2,   /* main itself */
	ROLE_CREATE = 3, /* pthread_create and the like: frames below it, up to the thread mark, are the library's */
};

/* The kind of code that a frame executes. */
enum frame_kind {
	FRAME_NATIVE = 0,      /* machine code of a file, or code of an unknown kind */
	FRAME_KERNEL = 1,      /* code of the kernel */
	FRAME_JIT = 2,         /* machine code that a run-time compiler generated */
	FRAME_INTERPRETER = 3, /* a function of an interpreted program */
};

struct profile_frame {
	uint32_t function; /* index in functions */
	uint32_t file;     /* string: source file of the code; "": not known */
	uint32_t line;     /* 0: not known */
	/* As the compiler wrote it: distinguishes several pieces of code in one line; 0: none or not known. */
	uint32_t discriminator;
	bool inlined; /* inlined into the next frame of the same location */
	uint8_t kind; /* enum frame_kind */
};

/* A caller's address is one byte before its return address, so that it lies in the call. */
struct profile_location {
	uint32_t module;      /* index in modules */
	uint32_t first_frame; /* index in frames; PROFILE_NONE: not symbolized */
	uint32_t frame_count; /* frames first_frame..., innermost (inlined) first */
	uint64_t address;     /* ELF virtual address in the module's file; of MODULE_ANON: in the process */
	bool by_frames;       /* shares its address with other locations; its frames are part of its identity */
	bool is_tail; /* a function that a tail call removed from stacks, at the last byte of its jump (profile/tail_calls.h) */
};

struct profile_node {
	uint32_t parent;   /* id of its parent, which is smaller; PROFILE_NONE for node 0 */
	uint32_t location; /* index in locations; PROFILE_NONE for node 0 */
};

struct profile_hit {
	uint64_t time_ns; /* 0: not known */
	uint64_t count;   /* > 0; the counts of a profile add up to at most PROFILE_HITS_MOST */
	uint32_t node;
	uint32_t thread;   /* index in threads, or PROFILE_NONE */
	uint32_t resource; /* index in resources */
	/* 0, or of a sampled resource: the row is the sum of so many more samples, each of which has the same share of the count. */
	uint32_t more_samples;
};

#define PROFILE_HITS_MOST (UINT64_C(1) << 62)

/* A function that belongs on a path between the location of a call and the outermost frame of the location that follows it there, because of tail
 * calls (profile/tail_calls.h). */
struct profile_tail_call {
	uint32_t caller; /* index in locations */
	uint32_t callee; /* index in functions */
	uint32_t
		location; /* index in locations of one with `is_tail`; PROFILE_NONE: a call of another function, for an unknown reason */
};

/* The memory that a page fault touched: one row for each sample of a resource of faults. */
struct profile_touch {
	uint64_t time_ns; /* the time of its hit */
	uint64_t address; /* touched address */
	uint32_t node;
	uint32_t thread;
	uint32_t resource;
	uint32_t count;   /* hits of its sample */
	uint32_t mapping; /* string: "/usr/lib/libc.so.6", "[heap]", "[stack]", "[anon]"; "": not known */
};

/* A label that the program had attached to the thread when it was sampled: "tenant" is "acme". */
struct profile_label {
	uint32_t key;   /* string, not "" */
	uint32_t value; /* string */
};

/* Labels first_label, first_label + 1, ..., sorted by key; each key occurs once. No two sets are equal. */
struct profile_label_set {
	uint32_t first_label; /* index in labels */
	uint32_t label_count;
};

/* The key of the label that the hits of one process of a parallel job have: its rank. */
#define PROFILE_LABEL_RANK "rank"

/* The key of notes that a function is nested in another one (GNU C, Ada, D): "compare\tsort_rows". */
#define PROFILE_NOTE_NESTED "nested"

/* The key of notes with the remedy for a module without names (profile/nameless.h): "/usr/lib/libz.so.1\tinstall zlib1g-dbgsym". */
#define PROFILE_NOTE_REMEDY "remedy"

/* One (key, value) text of the description: "command", "host", "kernel", "cpus",
 * "cpprof", "directory", ... A key may occur several times. */
struct profile_note {
	uint32_t key;
	uint32_t value;
};

/* See profile/findings.h. */
struct profile_finding {
	uint32_t code;  /* string: the code's name; files of later versions may have codes that finding_codes.h lacks */
	uint32_t text;  /* string: one clause that contains the count */
	uint64_t count; /* in the unit of the code; 0 if the code has no unit */
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
	uint64_t hits_added; /* sum of the counts by profile_add_hit */
	struct profile_hit *hits;
	struct profile_touch *touches;
	struct profile_tail_call *tail_calls;
	struct profile_cause *causes;
	struct profile_note *notes;
	struct profile_finding *findings;
	struct profile_label *labels;
	struct profile_label_set *label_sets;
	/* Label sets of the first hits; all further hits have none. They are not in the rows of hits, so that a
	 * profile without labels needs no memory for them: see profile_hit_labels. */
	uint32_t *hit_labels;

	size_t resource_count, process_count, thread_count, module_count, function_count, frame_count, location_count,
		node_count, hit_count, touch_count, tail_call_count, cause_count, note_count, finding_count,
		label_count, label_set_count, hit_label_count;
	size_t resource_capacity, process_capacity, thread_capacity, module_capacity, function_capacity, frame_capacity,
		location_capacity, node_capacity, hit_capacity, touch_capacity, tail_call_capacity, cause_capacity,
		note_capacity, finding_capacity, label_capacity, label_set_capacity, hit_label_capacity;

	uint64_t start_ns;     /* CLOCK_MONOTONIC at the start of the recording; 0: not known */
	uint64_t end_ns;       /* ... and at its end */
	int64_t start_unix_ns; /* wall clock at start_ns */
	uint64_t lost;         /* all lost samples */
	bool symbolized;       /* the locations' frames are final */
	bool ended;            /* the recorder ended normally */
	int findings_error;    /* 0, or the error that kept a finding from being added: ERROR_MEMORY, ERROR_LIMIT */

	struct hash_map node_by_edge;        /* (parent, location) -> node */
	struct hash_map location_by_address; /* see profile_add_location */
	struct hash_map set_by_labels;       /* see profile_add_label_set */
	size_t nodes_indexed;                /* the map has the nodes below this one */
	size_t locations_indexed;            /* ... and the locations */
	size_t label_sets_indexed;           /* ... and the label sets */
};

/* Returns a profile with string 0, node 0 and label set 0, or NULL if there is no memory. */
struct profile *profile_new(void);
void profile_free(struct profile *profile); /* NULL is fine */

/* Returns the id of the string, which is added if it is new. */
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
int64_t profile_add_tail_call(struct profile *profile, const struct profile_tail_call *call);
int64_t profile_add_note(struct profile *profile, const char *key, const char *value);
/* Returns the first value of a key, or NULL if there is none. */
const char *profile_note(const struct profile *profile, const char *key);

/* Returns the location of (module, address), which is added without frames if it is new. */
int64_t profile_add_location(struct profile *profile, uint32_t module, uint64_t address);

/* Appends a location (`by_frames`) that shares its address with others but has other frames. profile_add_location
 * never returns it. */
int64_t profile_append_location(struct profile *profile, uint32_t module, uint64_t address);

/* Returns the child of `parent` at `location`, which is added if it is new. An existing one takes about 20 ns if it
 * is in the cache (bench/). */
int64_t profile_add_node(struct profile *profile, uint32_t parent, uint32_t location);

/* Appends a node without looking for an equal one. Readers of files use it, because nodes in a file are distinct by
 * construction. The next profile_add_node first indexes such nodes, which takes some time once; profile_index_nodes
 * does it at once. */
int64_t profile_append_node(struct profile *profile, uint32_t parent, uint32_t location);
int profile_index_nodes(struct profile *profile);

/* Reserves room for `count` hit rows in total. A large room consists of huge pages. */
int profile_reserve_hits(struct profile *profile, size_t count);

/* Appends a hit row, unless the count is 0. The counts add up to at most PROFILE_HITS_MOST; what is above it is left out. Returns 0
 * or ERROR_MEMORY. */
int profile_add_hit(struct profile *profile, uint64_t time_ns, uint32_t thread, uint32_t node, uint32_t resource,
		    uint64_t count);
/* The same for a whole row, which may be the sum of several samples. */
int profile_add_hit_row(struct profile *profile, const struct profile_hit *row);

/* Returns the set of these labels, which is added if it is new. Sorts the caller's array, which may be in any order;
 * the last of several labels with one key counts. */
int64_t profile_add_label_set(struct profile *profile, struct profile_label *labels, size_t count);

/* Gives this label set to the hits from number `first` on; hits before `first` keep theirs. Returns 0 or
 * ERROR_MEMORY. */
int profile_label_hits(struct profile *profile, size_t first, uint32_t label_set);

/* Gives every hit this label, unless the hit has a label with this key. The label set of hits without other labels is there even if no hit
 * has it. Returns 0, ERROR_MEMORY or ERROR_LIMIT; then some hits may lack the label. */
int profile_label_all(struct profile *profile, const char *key, const char *value);

/* Returns whether `key` has a value for every hit; without hits, whether a label set has it. */
bool profile_labels_all(const struct profile *profile, const char *key);

/* Returns whether the samples of a hit row can have equal shares of its count. */
static inline bool profile_samples_are_sound(const struct profile_hit *hit)
{
	return hit->more_samples == 0 || hit->count % (UINT64_C(1) + hit->more_samples) == 0;
}

/* Returns whether the hits of a resource are a known number of samples, from which errors are computed. */
static inline bool resource_has_samples(const struct profile_resource *resource)
{
	return resource->kind == RESOURCE_SAMPLED || resource->kind == RESOURCE_MERGED;
}

/* Returns the number of samples of a hit row: 0 for counts that no sample was taken for, and for unknown numbers. */
static inline uint64_t profile_hit_samples(const struct profile *profile, const struct profile_hit *hit)
{
	uint8_t kind = profile->resources[hit->resource].kind;
	return kind == RESOURCE_MERGED ? hit->count : kind == RESOURCE_SAMPLED ? UINT64_C(1) + hit->more_samples : 0;
}

static inline uint32_t profile_hit_labels(const struct profile *profile, size_t hit)
{
	return hit < profile->hit_label_count ? profile->hit_labels[hit] : PROFILE_NO_LABELS;
}

/* Returns the value (a string) of a key (a string) in a set, or PROFILE_NONE if the set does not have the key. */
uint32_t profile_label_value(const struct profile *profile, uint32_t label_set, uint32_t key);

int64_t profile_add_touch(struct profile *profile, const struct profile_touch *touch);

/* Adds the count of `cause` to the cause with this text, which is added if it is new (the text in `cause` is not
 * used). Returns 0 or a negative error. */
int profile_count_cause(struct profile *profile, const char *text, const struct profile_cause *cause);

/* Removes the hits and touches after they were written to disk, and keeps the memory. */
void profile_clear_hits(struct profile *profile);

/* Sets the user of every process, as profile_process.user. */
void profile_set_users(struct profile *profile, uint32_t user);

/* Returns the id of the resource with that name, or PROFILE_NONE if there is none. */
uint32_t profile_find_resource(const struct profile *profile, const char *name);

/* Returns how many ns the hits of a sample of this resource are apart, the last at the sample's time: those of a wait, or of a late tick. 0: all have
 * this time, as amounts that a program states have. */
uint64_t profile_hit_ns(const struct profile *profile, uint32_t resource);

/* Removes the frames and functions that no location has anymore, after locations got other frames, and numbers the others anew: their order
 * stays, except that the frames follow the order of the locations. Returns 0, or ERROR_MEMORY, after which the profile is unchanged. */
int profile_compact(struct profile *profile);

/* Checks that every id in every table refers to an existing row and that parents precede children. Readers call it
 * on data from outside. Returns 0 or ERROR_CORRUPT. */
int profile_check(const struct profile *profile);
/* The same for everything but the hits (touches are checked). */
int profile_check_tables(const struct profile *profile);

/* Returns the time from the start of the recording to its end, or to the last hit if that is later. */
uint64_t profile_duration_ns(const struct profile *profile);

#endif
