/*
 * Builds a profile from call paths whose frames have names, as other tools' files have them. Equal
 * functions become one function and equal stacks of inlined frames one location.
 *
 * Life cycle: import_tree_open, any number of the other calls, import_tree_close. Every call that
 * can fail returns a negative error and sets the tree's `error`: "cannot read 'NAME': ...".
 */
#ifndef FORMATS_IMPORT_TREE_H
#define FORMATS_IMPORT_TREE_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/hash_map.h"
#include "base/strings.h"
#include "profile/profile.h"

/* Time 0 of files whose times have no origin: 0 itself would be "not known", and profile files have microseconds. */
enum { IMPORT_START_NS = 1000 };

struct import_tree {
	struct profile *profile; /* owned until import_tree_close */
	const char *name;        /* the input's, for messages; not owned */
	struct error *error;     /* not owned */
	struct strings keys;     /* what identifies functions and locations, as bytes */
	uint32_t *id_of;         /* per key: the function or the location */
	size_t id_capacity;
	struct buffer key; /* of the function or location that is looked up */
	struct hash_map processes, threads, modules;
};

/* Texts are not owned; NULL is "". */
struct import_frame {
	const char *function; /* as in reports */
	size_t function_bytes;
	const char *linkage; /* the symbol's name, if it differs */
	const char *file;    /* source file of the code */
	const char *home;    /* source file of the function's definition; NULL: `file` */
	uint32_t line;       /* 0: not known */
	uint32_t start_line; /* of the function's definition; 0: not known */
	enum frame_kind kind;
};

int import_tree_open(struct import_tree *tree, const char *name, struct error *error);

/* Frees everything but the profile. Returns the profile, which the caller then owns, if `code`
 * is 0. If not, frees it, too, and returns NULL. */
struct profile *import_tree_close(struct import_tree *tree, int code);

/* Sets the error to "cannot read 'NAME': ..." with the code's text. Returns `code`. */
int import_tree_fail(const struct import_tree *tree, int code);

/* Returns whether the path is the name that perf and cpprof have for the kernel or one of its
 * modules: "[kernel.kallsyms]", "[ext4]". */
bool import_tree_is_kernel(const char *path);

/* Returns the module's id. Code whose module is not known has an empty path. The kernel
 * and its modules are one module. */
int64_t import_tree_module(struct import_tree *tree, const char *path);

/* Sets the module's build-id from its hexadecimal text, unless the text is none. */
void import_tree_build_id(struct import_tree *tree, uint32_t module, const char *text);

/* Returns the location of `count` frames in a module, innermost first: all but the last are inlined into the next one. */
int64_t import_tree_location(struct import_tree *tree, uint32_t module, const struct import_frame *frames,
			     size_t count);

/* Returns the id of the thread. It belongs to the process, which is added with this name if it is new. */
int64_t import_tree_thread(struct import_tree *tree, uint32_t pid, uint32_t tid, const char *process_name,
			   const char *thread_name);

enum { IMPORT_RESOURCES_MOST = 256 };

/* Adds a resource of this name, whose interval is 1 and whose kind is RESOURCE_SAMPLED, without
 * looking for an equal one. Fails behind IMPORT_RESOURCES_MOST resources. */
int64_t import_tree_resource(struct import_tree *tree, const char *name, const char *unit);

/* How the amounts of a resource were measured. */
enum import_amounts {
	IMPORT_SAMPLES, /* each hit is a sample */
	IMPORT_EXACT,   /* counted */
	IMPORT_SUMS,    /* the file does not state how many samples an amount is, which a note then states */
};

/* Sets the resource's kind and note. Returns 0 or a negative error. */
int import_tree_amounts(struct import_tree *tree, uint32_t resource, enum import_amounts amounts);

/* Adds a resource that was counted (IMPORT_EXACT). Returns 0 or a negative error. */
int import_tree_counted(struct import_tree *tree, const char *name, const char *unit, uint32_t *id);

/* Makes the amount that all hits of a sampled resource have its interval, and each of these rows one hit: a sample. A resource whose hits
 * have several amounts stays as it is. */
void import_tree_find_intervals(struct import_tree *tree);

/* Adds the note of the recorded command, unless that is NULL or empty. Returns 0 or a negative error. */
int import_tree_command(struct import_tree *tree, const char *command);

/* Adds hits of a path, whose thread may be PROFILE_NONE. Fails where the hits add up to more than PROFILE_HITS_MOST. */
int import_tree_hit(struct import_tree *tree, uint64_t time_ns, uint32_t thread, uint32_t node, uint32_t resource,
		    uint64_t count);

#endif
