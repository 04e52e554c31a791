/*
 * The work of the kernel, by the functions that entered it (docs/definitions.md): `write` and what the kernel mostly did for it.
 */
#ifndef ANALYZE_KERNEL_WORK_H
#define ANALYZE_KERNEL_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

struct kernel_entry {
	uint32_t
		label; /* of the function that entered the kernel; PROFILE_NONE: no function did, as in a view of the kernel alone */
	uint64_t hits; /* of the samples that were in the kernel for it */
	/* label: the innermost function of the kernel that has at least half of these hits below it and does not only pass the
	 * processor on; PROFILE_NONE: none */
	uint32_t work;
	uint64_t work_hits;
};

struct kernel_work {
	struct kernel_entry *entries; /* [count], by decreasing hits, ties by label */
	size_t count;
	uint64_t hits;  /* of all entries */
	uint64_t waits; /* of them, those that kernel_wait_labels moves */
};

/* Whether hits of the view's resource are at waits: it counts the time in which threads wait, or the times that they begin to. */
bool kernel_work_has_waits(const struct view *view);

/* Returns, for each node, the label that its own hits count for in the summary [node_count]. It is the node's own label, or at a wait, which
 * ends in a function that only passes the processor on, the label of the function that entered the kernel, if one did. `view` is by
 * function. The caller frees the array. Returns NULL on error: ERROR_MEMORY. */
uint32_t *kernel_wait_labels(const struct view *view, struct error *error);

/* `view` is by function. Returns NULL on error: ERROR_MEMORY. */
struct kernel_work *analyze_kernel_work(const struct view *view, struct error *error);
void kernel_work_free(struct kernel_work *work); /* accepts NULL */

#endif
