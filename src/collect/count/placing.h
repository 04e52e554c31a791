/* Between hits.c and placing.c: where code is in the profile's tree while a path of the tally was current. */
#ifndef COLLECT_COUNT_PLACING_H
#define COLLECT_COUNT_PLACING_H

#include "collect/count/parts.h"

/* A thread whose paths have got their nodes. */
struct placed {
	uint32_t *outer; /* by path: a node */
	uint32_t *body;  /* by path: the path whose code it is in, which is another one if it was inlined */
	bool is_placed;
};

struct placing {
	struct tally *tally;
	struct profile *profile;
	struct placed *threads; /* by thread */
	uint32_t mark;          /* location at which threads begin; PROFILE_NONE: not needed so far */
	uint32_t hooks;         /* ... that stands for all code of the hooks */
	struct hash_map
		within; /* locations of code in a probe point that has no frame of its own: see location_within */
	/* What no run reaches is not believed: rows of hits hold 32 bits, and would fill the memory. */
	uint64_t count_left;
	uint64_t rows_left; /* of samples, each of which is to be one; of the rest, some share one */
};

/* A thread's tree. */
const struct count_tree *placing_tree(const struct placing *placing, uint32_t thread);
/* The probe point that a path is; NULL: it is a function that a compiler's hook tells of. */
const struct count_probe *placing_probe(const struct placing *placing, uint32_t thread, uint32_t path);

/* Nodes, or a negative error. A path's `outer` and `body`, and those of all above it, are to be known. */

/* `node` or `location` may be an error. */
int64_t placing_below(const struct placing *placing, int64_t node, int64_t location);
/* A path's own. */
int64_t placing_self(const struct placing *placing, uint32_t thread, uint32_t path);
/* That of code at a location while the path was current. `is_foreign`: it is known, or may be, that it is not the
 * path's own code. */
int64_t placing_put(struct placing *placing, uint32_t thread, uint32_t path, int64_t location, bool is_foreign);
/* That of the caller, at the call. */
int64_t placing_caller(struct placing *placing, uint32_t thread, const struct count_call *call);

#endif
