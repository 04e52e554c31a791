/* Shared by hits.c and placing.c: where code belongs in the profile's tree that executed while a path of the tally
 * was current. */
#ifndef COLLECT_COUNT_PLACING_H
#define COLLECT_COUNT_PLACING_H

#include "collect/count/parts.h"

/* The nodes of a thread's paths. */
struct placed {
	uint32_t *outer; /* by path: the node of its caller */
	uint32_t *body;  /* by path: the path whose machine code it is in; another one if it was inlined */
	uint32_t *
		host; /* by path that is its own body: the function without hooks that contains its code. It has a frame
			  * in `outer`. PROFILE_NONE: the code is its own; PLACING_HOSTS: it has several hosts */
	bool *is_mixed; /* by path: whether it, or a path up to its body, was both inlined and called */
	bool is_placed;
};

struct placing {
	struct tally *tally;
	struct profile *profile;
	struct placed *threads; /* by thread */
	uint32_t mark;          /* location at which threads begin; PROFILE_NONE: not needed so far */
	uint32_t hooks;         /* location of all code of the hooks; PROFILE_NONE: not needed so far */
	struct hash_map within; /* locations of code in a probe point without a frame of its own: see location_within */
	struct hash_map around; /* locations of code around an inlined function: see hosts.c */
	/* Limits that no run reaches. A row of hits holds 32 bits, so that a corrupt file would fill the memory
	 * otherwise. */
	uint64_t count_left;
	uint64_t rows_left; /* rows left for samples, one each; if they are used up, samples share a row */
};

#define PLACING_HOSTS (PROFILE_NONE - 1)

/* Returns a thread's tree. */
const struct count_tree *placing_tree(const struct placing *placing, uint32_t thread);
/* Returns the probe point that a path is, or NULL if it is a function that a compiler's hook reported. */
const struct count_probe *placing_probe(const struct placing *placing, uint32_t thread, uint32_t path);

/* Returns the location of the entry of a path that is not the root, or a negative error. */
int64_t placing_entry(const struct placing *placing, uint32_t thread, uint32_t path);
/* Returns the function of a path, or PROFILE_NONE if it has no name. */
uint32_t placing_function(const struct placing *placing, uint32_t thread, uint32_t path);
/* Returns the outermost function at a location, or PROFILE_NONE if the location has no names. */
uint32_t placing_outermost(const struct profile *profile, int64_t location);

/* hosts.c: the location of the code around a function that is inlined, where it has called it;
 * PROFILE_NONE if it is not inlined; or a negative error. */
int64_t placing_around(struct placing *placing, uint32_t thread, const struct count_call *call);
/* Returns the host of a path that is its own body; PROFILE_NONE if the code is its own,
 * PLACING_HOSTS if its calls do not agree, or a negative error. */
int64_t placing_host(struct placing *placing, uint32_t thread, uint32_t path);
/* Returns a location with the same functions and without lines, or a negative error. */
int64_t placing_without_lines(struct placing *placing, uint32_t location);
/* Whether two locations have names, and the same functions. If so, clears *have_same_lines if the lines differ. */
bool placing_have_same_functions(const struct profile *profile, uint32_t a, uint32_t b, bool *have_same_lines);

/* The following functions return a node, or a negative error. `outer` and `body` of the path and of all paths above
 * it must be set. */

/* The child of `node` at `location`. If one of them is an error, returns that. */
int64_t placing_below(const struct placing *placing, int64_t node, int64_t location);
/* The node of the path itself, at its entry. */
int64_t placing_self(const struct placing *placing, uint32_t thread, uint32_t path);
/* The node of code at a location while the path was current. `is_foreign`: the code does not, or may not, belong to
 * the path. */
int64_t placing_put(struct placing *placing, uint32_t thread, uint32_t path, int64_t location, bool is_foreign);
/* The node of the caller, at the call. */
int64_t placing_caller(struct placing *placing, uint32_t thread, const struct count_call *call);

#endif
