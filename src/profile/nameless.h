/*
 * Functions without names: functions of files without symbols, which are named after their module and address ("libfoo.so+0x1a40"). A module
 * in which much of a resource is used by such functions is hot.
 */
#ifndef PROFILE_NAMELESS_H
#define PROFILE_NAMELESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "profile/leaf_hits.h"
#include "profile/profile.h"

/* Whether a function of a file has no name. */
bool nameless_is(const struct profile *profile, uint32_t function);

struct nameless_module {
	uint32_t module;
	uint32_t resource; /* the resource of which these functions use the largest share */
	uint64_t hits;     /* of it, at these functions themselves */
	double share;      /* of its hits */
};

/* Finds the hot modules, by decreasing share: at most `most`. Returns their number or ERROR_MEMORY. */
int64_t nameless_find_hot(const struct profile *profile, const struct leaf_hits *leaf_hits,
			  struct nameless_module *found, size_t most);

/* How the functions of a file get names on the machine where it was recorded. */
struct nameless_source {
	const char *package; /* of its debug symbols: "zlib1g-dbgsym"; NULL: none is known */
	const char *server;  /* a debuginfod server that may have them; NULL: none */
	bool is_own;         /* the file belongs to no package of the system */
	bool is_haskell;     /* GHC compiled it, and it has its symbols */
	const char *failure; /* why the file could not be read, and what helps; NULL: it could */
};

/* Stores the remedy for a module as a note, unless there is one. Returns 0 or a negative error. */
int nameless_note_remedy(struct profile *profile, const char *path, const struct nameless_source *source);
/* Removes all such notes. */
void nameless_remove_remedies(struct profile *profile);

/* Appends the remedy for the module with this path: the noted remedy, or else the general remedy, "compile it with -g, and do not strip
 * it". */
void nameless_append_remedy(const struct profile *profile, const char *path, struct buffer *text);

/* Appends a remedy. `source` is NULL where nothing is known. */
void nameless_append_source(const char *path, const struct nameless_source *source, struct buffer *text);

#endif
