/*
 * Reads the counts of the compiler's hooks (abi/tally.h) into a profile.
 *
 *   tally_open           maps the file and checks it: chunks, modules, and each thread's tree
 *   tally_locations      adds processes, threads, modules, resources and all addresses to the profile
 *   frames_name_profile  names the addresses; the names decide what is a frame of its own
 *   tally_hits           names the probe points, then adds nodes and hits
 *   tally_free
 *
 * A file that a program still writes to, or whose program was killed, is read as it is at that moment. Everything in
 * it is checked: a reference without a target is ERROR_CORRUPT, an early end ERROR_TRUNCATED.
 *
 * Each thread has a tree of call paths, made from the objects in the file (objects.c); the events of a trace give
 * the times of its paths (replay.c). Paths consist of functions, not of call sites: a path that was called from two
 * call sites is one path, to which two calls lead.
 *
 *   root (function 0) --call site 1--> main --call site 2--> sort --call site 3--> compare
 *                                           --call site 4-->
 */
#ifndef COLLECT_COUNT_TALLY_H
#define COLLECT_COUNT_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/probe_kinds.h"
#include "abi/tally.h"
#include "base/error.h"
#include "base/hash_map.h"
#include "collect/count/source.h"
#include "collect/sample/state/label_numbers.h"
#include "profile/profile.h"

#define TALLY_NONE UINT32_MAX

/* --- call paths of one thread --- */

enum { COUNT_ROOT = 0 }; /* ancestor of all other paths; its function is 0 */

struct count_path {
	uint64_t function;     /* an address in it, as in struct tally_node */
	uint64_t exclusive_ns; /* time in it and not in an instrumented callee; 0 also if it was not timed */
	/* tally.is_compensated: the same with the probes' time, and how far exclusive_ns may be from the truth: at most
	 * exclusive_ns */
	uint64_t measured_ns, error_ns;
	uint32_t parent; /* index of its parent, which is smaller; TALLY_NONE: it is the root */
	uint32_t call;   /* index of the first call that leads to it, or TALLY_NONE */
	uint64_t number; /* identifies it in events (tally_node.number); 0: no event refers to it */
};

struct count_call {
	uint64_t call_site; /* return address; 0: not known */
	uint64_t function;
	uint64_t count;
	uint32_t path;  /* the path of the caller */
	uint32_t child; /* the path of the callee; TALLY_NONE: there are no paths (arcs) */
	uint32_t flags; /* enum tally_edge_flags */
	uint32_t code;  /* tally_edge.code */
	uint32_t next;  /* next call with the same child, or TALLY_NONE; folded calls are not linked */
};

struct count_tick {
	uint64_t pc;
	uint64_t hits;
	uint64_t samples;
	uint32_t path; /* the path that was current */
	uint32_t request;
	uint32_t labels; /* number of a label set of the process; 0: none */
};

struct count_tree {
	struct count_path *paths; /* parents before their children */
	struct count_call *calls;
	struct count_tick *ticks;
	size_t path_count, call_count, tick_count;
	size_t path_capacity, call_capacity, tick_capacity;
};

/* Makes a tree that has only the root. Returns 0 or ERROR_MEMORY; after an error there is nothing to release. */
int count_tree_init(struct count_tree *tree);
void count_tree_release(struct count_tree *tree);
/* Each appends an item, without looking for an equal one. Returns its index, ERROR_MEMORY or ERROR_LIMIT. A call
 * with a child is linked to the child, unless it is folded (TALLY_EDGE_FOLDED). */
int64_t count_tree_add_path(struct count_tree *tree, uint32_t parent, uint64_t function);
int64_t count_tree_add_call(struct count_tree *tree, const struct count_call *call);
int64_t count_tree_add_tick(struct count_tree *tree, const struct count_tick *tick);

/* --- the file --- */

/* A chunk, with a checked copy of its header; the file contains its first `used` bytes. */
struct count_chunk {
	const uint8_t *bytes; /* its header first; owned, unless the tally is in memory. NULL: TALLY_EVENTS */
	uint64_t offset;      /* in the file */
	uint64_t size;        /* of `bytes`: without a hole at the end */
	uint64_t used;        /* at least the size of its kind's header */
	uint64_t address;
	uint32_t kind;
	uint32_t process; /* index in tally.processes */
	uint32_t thread;  /* its number in that process; 0 for TALLY_PROCESS */
};

struct count_module {
	uint64_t start, end; /* addresses in its process */
	uint64_t bias;
	const char *path; /* in the file, with a NUL at its end */
	const uint8_t *build_id;
	uint8_t build_id_bytes;
	bool is_vdso;
	bool others_mixed; /* see abi/tally.h */
	bool is_runtime;   /* one of the libraries of libcpprof; set by tally_locations */
	uint32_t id;       /* in the profile; set by tally_locations */
};

/* A probe point that was reached. Its texts are in the file, with a NUL at their ends. */
struct count_probe {
	uint64_t address; /* of its descriptor: the `function` of its paths and calls */
	uint64_t code;    /* a return address in the code that reached it first; 0: not known */
	const char *name, *signature, *file, *group; /* "": none */
	uint16_t kind;                               /* enum probe_kind */
	uint16_t level;
	uint32_t line;
	uint32_t flags; /* enum tally_probe_flags, when the file was opened */
	uint32_t switched;
	uint64_t throttled_calls, throttled_ns;
	uint32_t location; /* in the profile; PROFILE_NONE before tally_name_probes */
};

static inline bool count_is_function(const struct count_probe *probe)
{
	return probe_is_function(probe->kind);
}

struct count_process {
	const struct tally_process *shared; /* in the file; complete, except for its modules */
	struct count_module *modules;       /* sorted by their start */
	size_t module_count, module_capacity;
	const struct count_chunk **mapped; /* chunks with an address, sorted by it; none overlap */
	size_t mapped_count, mapped_capacity;
	struct count_probe *probes; /* sorted by address */
	size_t probe_count, probe_capacity;
	struct hash_map locations; /* in the profile, by address */
	struct label_numbers labels;
	double ns_per_tick; /* 0: not known */
	uint32_t number;    /* in the file; tally.processes are sorted by it */
	uint32_t id;        /* in the profile */
};

struct count_thread {
	const struct tally_thread *shared; /* in the file */
	struct count_tree tree;
	uint32_t first_chunk, chunk_count; /* in tally.chunks */
	uint32_t process;                  /* index in tally.processes */
	uint32_t number;                   /* in its process */
	uint32_t creator;                  /* index in tally.threads of the thread that created it, or TALLY_NONE */
	uint32_t creator_path;             /* path of the creator that was current then, or TALLY_NONE */
	uint32_t id;                       /* in the profile */
	uint32_t base;                     /* node of its root in the profile; set by tally_hits */
	uint32_t markers;                  /* number of thread marks between the profile's root and `base` */
};

/* A resource of times in the profile, and its companions (profile/companion.h). PROFILE_NONE: there is none. */
struct tally_times {
	uint32_t times, raw, error;
};

struct tally {
	struct count_source source;
	struct tally_header header; /* a copy, checked: counts within bounds, texts end with a NUL */
	struct count_chunk *chunks; /* sorted by process, thread and offset in the file */
	struct count_process *processes;
	struct count_thread *threads; /* sorted by process and number */
	size_t chunk_count, process_count, thread_count;
	size_t chunk_capacity, process_capacity, thread_capacity;
	bool is_compensated; /* the probes' time is subtracted from the paths' times (compensate.c) */
	bool ends_early;     /* the file is shorter than its header says: the disk was full, or it was cut later */
	/* Resources in the profile, set by tally_locations; PROFILE_NONE: there is none. */
	uint32_t requests[TALLY_REQUESTS], calls, blocks, lines;
	struct tally_times real, wait;
	struct count_lines *lines_found; /* private to blocks.c: from tally_block_locations to tally_block_hits */
};

/* Notes of the profile: the measurement ("paths"), and the hooks that were called ("mcount"), one note each. */
#define TALLY_NOTE_MEASUREMENT "measurement"
#define TALLY_NOTE_HOOK "hook"
/* ... and the functions whose addresses other functions take: "compare\tsort_rows\tfile.c:31", one note each. */
#define TALLY_NOTE_TAKEN "taken"
/* ... and the functions that call these by their names: "compare\tfind_row". */
#define TALLY_NOTE_CALLED "called"

/* Returns the name of a measurement, such as "paths", or "" if there is no such measurement. */
const char *tally_measurement_name(uint32_t measurement);

/* Whether a file that begins with these bytes (8 are enough) is a tally. */
bool tally_is(const void *start, size_t bytes);

/* Opens and checks a tally. Returns it, or NULL with `error` set: ERROR_FORMAT, ERROR_VERSION, ERROR_CORRUPT,
 * ERROR_TRUNCATED, ERROR_MEMORY or the code of a system call. The caller frees it; the file may be renamed or
 * removed meanwhile. */
struct tally *tally_open(const char *path, struct error *error);
/* The same from memory, which is aligned to 8 bytes and outlives the tally; `name` is for messages. */
struct tally *tally_open_bytes(const void *bytes, size_t size, const char *name, struct error *error);
void tally_free(struct tally *tally); /* NULL is fine */

/* Fills in an empty profile: description, resources, processes, threads, modules, and a location for each address,
 * which is to be named next. Returns 0 or a negative error. */
int tally_locations(struct tally *tally, struct profile *profile, struct error *error);
/* Gives locations and functions to probe points, with the names that their code has. tally_hits calls it; callers
 * that need the names before that call it themselves. Returns 0, ERROR_MEMORY or ERROR_LIMIT. */
int tally_name_probes(struct tally *tally, struct profile *profile);
/* Adds nodes and hits to that profile, whether its locations have names or not. Returns 0 or a negative error. */
int tally_hits(struct tally *tally, struct profile *profile, struct error *error);

/* All of the above. Returns a symbolized profile that the caller frees, or NULL with `error` set. `names` may be
 * NULL. */
struct frames_options;
struct profile *tally_load(const char *path, const struct frames_options *names, struct error *error);

/* --- for the files of this folder --- */

/* Returns the next chunk of a kind of one thread, in the file's order, behind `after` (NULL: the first), or NULL if
 * there is none. */
const struct count_chunk *tally_next_chunk(const struct tally *tally, const struct count_thread *thread, uint32_t kind,
					   const struct count_chunk *after);
/* Converts time stamps of a process to ns. Returns 0 if the processes ran too briefly to give the rate of time
 * stamps. */
uint64_t tally_ns(const struct count_process *process, uint64_t ticks);
/* Adds a module that is no file: "[thread]". Returns its id, or a negative error. */
int64_t tally_add_name(struct profile *profile, const char *name, enum module_kind kind);
/* Returns the module of all code without a file, added if it is new, or a negative error. */
int64_t tally_anonymous_module(struct profile *profile);
/* Returns the location of an address, added if it is new, or a negative error. It is in the address's module, or in
 * tally_anonymous_module. `process`: index in tally.processes. */
int64_t tally_location(const struct tally *tally, struct profile *profile, uint32_t process, uint64_t address);
/* Whether an address is in libcpprof, which has the hooks. */
bool tally_is_runtime(const struct tally *tally, uint32_t process, uint64_t address);
/* The same for a return address: the location of the call before it. */
int64_t tally_call_site_location(const struct tally *tally, struct profile *profile, uint32_t process,
				 uint64_t call_site);
/* The same for a function's entry, with the address that the hooks report. */
int64_t tally_entry_location(const struct tally *tally, struct profile *profile, uint32_t process, uint64_t function);
/* Returns the return address of the hook that first reported this call, or 0 if it is not known. It may be one byte too
 * low. */
uint64_t tally_hook_code(const struct tally *tally, uint32_t process, const struct count_call *call);
/* Returns the probe point with its descriptor at that address, or NULL. */
const struct count_probe *tally_probe_at(const struct tally *tally, uint32_t process, uint64_t address);
/* Returns whether a function comes from cpprof/profiler.h or the processor's header beside it:
 * they are inlined at probe points. */
bool tally_is_probe(const struct profile *profile, uint32_t function);
/* Returns the profile's module of an address, or PROFILE_NONE if it has none, or none with a file. `bias` may be
 * NULL. */
uint32_t tally_module(const struct tally *tally, uint32_t process, uint64_t address, uint64_t *bias);
/* Adds a resource that is counted exactly. Returns its index, or a negative error. */
int64_t tally_add_exact(struct profile *profile, const char *name, const char *title, const char *unit);

/* replay.c: computes the times of a thread's paths from its events (TALLY_TRACE). The tree must be complete
 * otherwise. Returns 0, ERROR_MEMORY, ERROR_LIMIT or ERROR_CORRUPT. */
int tally_replay(const struct tally *tally, struct count_thread *thread, struct error *error);
/* blocks.c (TALLY_BLOCKS): adds the resources `blocks` and `lines` and all their locations; then nodes and hits. */
int tally_block_locations(struct tally *tally, struct profile *profile, struct error *error);
int tally_block_hits(struct tally *tally, struct profile *profile, struct error *error);
void tally_block_release(struct tally *tally);

#endif
