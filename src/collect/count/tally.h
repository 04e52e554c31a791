/*
 * Reads what the compiler's hooks have counted (abi/tally.h) into a profile.
 *
 *   tally_open           maps the file and checks it: chunks, modules, and each thread's tree
 *   tally_locations      processes, threads, modules, resources and all addresses: into the profile
 *   frames_name_profile  names decide what is a frame of its own
 *   tally_hits           probe points get their names, too; then nodes and hits
 *   tally_free
 *
 * A file that is still written to, or whose program was killed, is read as it is at that moment.
 * Nothing in it is believed: what refers to nowhere is ERROR_CORRUPT, what ends too early
 * ERROR_TRUNCATED.
 *
 * Each thread has a tree of call paths, from the objects in the file (objects.c); events tell how long
 * its paths took (replay.c). Paths are made of functions, not of call sites: a path
 * that was called from two call sites is one, with two calls above it.
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
#include "profile/profile.h"

#define TALLY_NONE UINT32_MAX

/* --- call paths of one thread --- */

enum { COUNT_ROOT = 0 }; /* the path that all others are below: function 0 */

struct count_path {
	uint64_t function;     /* an address in it, as in struct tally_node */
	uint64_t exclusive_ns; /* time in it, and not in an instrumented callee; 0 too if it was not timed */
	uint32_t parent;       /* index of a smaller path; the root's: TALLY_NONE */
	uint32_t call;         /* index of a call that leads to it, or TALLY_NONE */
	uint64_t number;       /* by which events refer to it (tally_node.number); 0: by none */
};

struct count_call {
	uint64_t call_site; /* return address; 0: not known */
	uint64_t function;
	uint64_t count;
	uint32_t path;  /* from which it was called */
	uint32_t child; /* that it leads to; TALLY_NONE: there are no paths (arcs) */
	uint32_t flags; /* enum tally_edge_flags */
	uint32_t next;  /* another call that leads to the same child, or TALLY_NONE; as `folded` ones are not */
};

struct count_tick {
	uint64_t pc;
	uint64_t hits;
	uint64_t samples;
	uint32_t path; /* that was current */
	uint32_t request;
};

struct count_tree {
	struct count_path *paths; /* parents before their children */
	struct count_call *calls;
	struct count_tick *ticks;
	size_t path_count, call_count, tick_count;
	size_t path_capacity, call_capacity, tick_capacity;
};

/* With its root. 0 or ERROR_MEMORY; then nothing is to be released. */
int count_tree_init(struct count_tree *tree);
void count_tree_release(struct count_tree *tree);
/* Each appends one, without looking for an equal one: its index, or ERROR_MEMORY or ERROR_LIMIT.
 * A call with a child is linked to that, unless it is folded (TALLY_EDGE_FOLDED). */
int64_t count_tree_add_path(struct count_tree *tree, uint32_t parent, uint64_t function);
int64_t count_tree_add_call(struct count_tree *tree, const struct count_call *call);
int64_t count_tree_add_tick(struct count_tree *tree, const struct count_tick *tick);

/* --- the file --- */

/* A chunk, copied and checked: it lies in the file, `used` in it. */
struct count_chunk {
	const uint8_t *bytes; /* its header first */
	uint64_t size;
	uint64_t used; /* at least that of its header */
	uint64_t address;
	uint32_t kind;
	uint32_t process; /* index in tally.processes */
	uint32_t thread;  /* its number in that process */
};

struct count_module {
	uint64_t start, end; /* addresses in its process */
	uint64_t bias;
	const char *path; /* in the file; ends with a NUL there */
	const uint8_t *build_id;
	uint8_t build_id_bytes;
	bool is_vdso;
	bool others_mixed; /* see abi/tally.h */
	bool is_runtime;   /* libcpprof, whichever of them; once tally_locations has run */
	uint32_t id;       /* in the profile, once tally_locations has run */
};

/* A probe point that was reached; texts are in the file, and end there with a NUL. */
struct count_probe {
	uint64_t address; /* of its descriptor: what paths and calls have as `function` */
	uint64_t code;    /* a return address in the code that reached it first; 0: not known */
	const char *name, *signature, *file, *group; /* "": none */
	uint16_t kind;                               /* enum probe_kind */
	uint16_t level;
	uint32_t line;
	uint32_t flags; /* enum tally_probe_flags, as of now */
	uint32_t switched;
	uint64_t throttled_calls, throttled_ns;
	uint32_t location; /* in the profile, once tally_name_probes has run; PROFILE_NONE before */
};

static inline bool count_is_function(const struct count_probe *probe)
{
	return probe_is_function(probe->kind);
}

struct count_process {
	const struct tally_process *shared; /* in the file: whole, but without its modules */
	struct count_module *modules;       /* sorted by their start */
	size_t module_count, module_capacity;
	const struct count_chunk **mapped; /* those with an address, sorted by it, none overlap */
	size_t mapped_count, mapped_capacity;
	struct count_probe *probes; /* sorted by address */
	size_t probe_count, probe_capacity;
	struct hash_map locations; /* of addresses, in the profile */
	double ns_per_tick;        /* 0: not known */
	uint32_t number;           /* as the file has it; tally.processes are sorted by it */
	uint32_t id;               /* in the profile */
};

struct count_thread {
	const struct tally_thread *shared; /* in the file */
	struct count_tree tree;
	uint32_t first_chunk, chunk_count; /* in tally.chunks */
	uint32_t process;                  /* index in tally.processes */
	uint32_t number;                   /* in its process */
	uint32_t creator;      /* index in tally.threads, of the thread with the path that created it, or TALLY_NONE */
	uint32_t creator_path; /* ... and that path */
	uint32_t id;           /* in the profile */
	uint32_t base;         /* its root, as a node of the profile: tally_hits has got to it */
	uint32_t markers;      /* on the way to that */
};

struct tally {
	const uint8_t *bytes; /* of the file, to `size` */
	size_t size;
	bool is_mapped;             /* to be unmapped by tally_free */
	struct tally_header header; /* a copy, checked: counts within bounds, texts end with a NUL */
	struct count_chunk *chunks; /* sorted by process, thread and offset in the file */
	struct count_process *processes;
	struct count_thread *threads; /* sorted by process and number */
	size_t chunk_count, process_count, thread_count;
	size_t chunk_capacity, process_capacity, thread_capacity;
	/* Time that the probes took, which was taken from their paths' and their callers' (compensate.c). */
	uint64_t compensated_ns, compensated_calls;
	bool ends_early; /* the file is shorter than its header says: full disk, or cut since */
	/* Resources in the profile, once tally_locations has run; PROFILE_NONE: there is none. */
	uint32_t requests[TALLY_REQUESTS], calls, real, wait, blocks, lines;
	struct count_lines *lines_found; /* blocks.c: between tally_block_locations and tally_block_hits */
};

/* Notes of its profile: how it was measured ("paths"), and by which hooks ("mcount"), one note each. */
#define TALLY_NOTE_MEASUREMENT "measurement"
#define TALLY_NOTE_HOOK "hook"
/* ... and whose address a function takes: "compare\tsort_rows\tfile.c:31", one note each. */
#define TALLY_NOTE_TAKEN "taken"

/* "paths"; "": there is no such measurement. */
const char *tally_measurement_name(uint32_t measurement);

/* Whether these first bytes of a file (8 are enough) are a tally's. */
bool tally_is(const void *start, size_t bytes);

/* NULL: `error` says why: ERROR_FORMAT, ERROR_VERSION, ERROR_CORRUPT, ERROR_TRUNCATED or of a
 * system call. The caller frees it; nobody needs the file's name afterwards. */
struct tally *tally_open(const char *path, struct error *error);
/* The same from memory, aligned to 8 bytes, that outlives it; `name` is for messages. */
struct tally *tally_open_bytes(const void *bytes, size_t size, const char *name, struct error *error);
void tally_free(struct tally *tally); /* NULL is fine */

/* Fills in an empty profile: description, resources, processes, threads, modules, and the location of each
 * address, to be named then. 0 or ERROR_MEMORY, ERROR_LIMIT. */
int tally_locations(struct tally *tally, struct profile *profile, struct error *error);
/* Probe points get locations and functions, by the names that their code has got; once, by tally_hits or whoever
 * needs them before. 0 or ERROR_MEMORY, ERROR_LIMIT. */
int tally_name_probes(struct tally *tally, struct profile *profile);
/* Adds nodes and hits to that profile, its locations being named or not. */
int tally_hits(struct tally *tally, struct profile *profile, struct error *error);

/* All of the above: a profile, symbolized, that the caller frees. `names` may be NULL. NULL: `error` says why. */
struct frames_options;
struct profile *tally_load(const char *path, const struct frames_options *names, struct error *error);

/* --- for the parts of it --- */

/* The chunks of a kind of one thread, in the file's order: the next one behind `after`
 * (NULL: the first), or NULL. */
const struct count_chunk *tally_next_chunk(const struct tally *tally, const struct count_thread *thread, uint32_t kind,
					   const struct count_chunk *after);
/* time stamps of a process as ns; 0 where the process did not live long enough to tell. */
uint64_t tally_ns(const struct count_process *process, uint64_t ticks);
/* The location of an address, added if new: its module's, or that of code without a file. `process`: index in
 * tally.processes. */
int64_t tally_location(const struct tally *tally, struct profile *profile, uint32_t process, uint64_t address);
/* Whether an address is in the hooks and what they call. */
bool tally_is_runtime(const struct tally *tally, uint32_t process, uint64_t address);
/* ... of a return address: that of the call before it. */
int64_t tally_call_site_location(const struct tally *tally, struct profile *profile, uint32_t process,
				 uint64_t call_site);
/* ... of a function's entry, as hooks tell it. */
int64_t tally_entry_location(const struct tally *tally, struct profile *profile, uint32_t process, uint64_t function);
/* The probe point that has its descriptor there, or NULL. */
const struct count_probe *tally_probe_at(const struct tally *tally, uint32_t process, uint64_t address);
/* Returns whether a function comes from cpprof/profiler.h or the processor's header beside it: they are inlined at probe points. */
bool tally_is_probe(const struct profile *profile, uint32_t function);
/* The module of an address, in the profile; PROFILE_NONE: it has none, or no file. `bias` may be NULL. */
uint32_t tally_module(const struct tally *tally, uint32_t process, uint64_t address, uint64_t *bias);
/* A resource with that name, counted exactly; its id. */
int64_t tally_add_exact(struct profile *profile, const char *name, const char *title, const char *unit);

/* replay.c: goes through a thread's events (TALLY_TRACE), for the times of the tree's paths, which is there
 * already but for them. 0, ERROR_MEMORY, ERROR_LIMIT or ERROR_CORRUPT. */
int tally_replay(const struct tally *tally, struct count_thread *thread, struct error *error);
/* blocks.c: the locations of all blocks; the resources `blocks` and `lines` (TALLY_BLOCKS). */
int tally_block_locations(struct tally *tally, struct profile *profile, struct error *error);
int tally_block_hits(struct tally *tally, struct profile *profile, struct error *error);
void tally_block_release(struct tally *tally);

#endif
