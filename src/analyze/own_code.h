/*
 * The cost of the program's own code (docs/definitions.md): each sample is charged to the innermost frame of own code on its path, so
 * that what the program spends in libraries shows as a cost of those who called them.
 * own_labels.h states what own code is.
 */
#ifndef ANALYZE_OWN_CODE_H
#define ANALYZE_OWN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

/* A function of own code with its charged hits, or a function of library code with its own hits; and the function of the other kind
 * that goes with it most. */
struct own_entry {
	uint32_t label;
	uint64_t hits;
	uint32_t other;      /* label; PROFILE_NONE: none */
	uint64_t other_hits; /* the hits of the samples that have both, at most `hits` */
};

struct own_code {
	bool *has; /* [label_count]: whether a label is of own code */
	/* Functions of own code. `other`: the library function in which most of its charged samples were taken, or of samples in the kernel the
	 * library function through which this code came there. */
	struct own_entry *charged; /* [charged_count], by decreasing hits, ties by label */
	size_t charged_count;
	/* Functions of library code that have hits of their own. `other`: the function of own code that most of them are charged to. */
	struct own_entry *library; /* [library_count], in the same order */
	size_t library_count;
	uint64_t uncharged; /* hits of samples without a frame of own code */
	uint64_t
		ready; /* hits of threads that could run, and from which the kernel took the processor for another thread */
	/* The library function through which own code comes into the kernel most: of each sample that ends in the kernel and is not of these, the
	 * function that its innermost frame of own code called. `other`: PROFILE_NONE. If there is none, its label is PROFILE_NONE. */
	struct own_entry kernel_call;
};

/* `view` is by function. Returns NULL on error: ERROR_MEMORY. */
struct own_code *analyze_own_code(const struct view *view, struct error *error);
void own_code_free(struct own_code *own); /* accepts NULL */

/* Returns the row of a library function, or NULL. */
const struct own_entry *own_code_library(const struct own_code *own, uint32_t label);

#endif
