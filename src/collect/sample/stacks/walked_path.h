/* The paths of stacks that the backend unwound: their run-time addresses become nodes of the tree. */
#ifndef COLLECT_SAMPLE_STACKS_WALKED_PATH_H
#define COLLECT_SAMPLE_STACKS_WALKED_PATH_H

#include <stdint.h>

#include "collect/sample/backend.h"
#include "collect/sample/stacks/interpreted.h"
#include "collect/sample/stacks/path_tree.h"
#include "collect/sample/state/processes.h"
#include "unwind/cause.h"

/* The place of a stack. Nothing is owned. */
struct walked_path {
	struct path_tree *tree;
	struct processes *processes;
	struct process *process;
	uint32_t base; /* the node below which the thread's whole paths begin */
	struct interpreted_path *interpreted;
};

/* Adds the path of a sample whose cause is *cause. Returns its node or a negative error. If the
 * walk did not reach the root, or an address is in no module because the process has changed its
 * maps since, *cause is not whole afterwards, and the result has no meaning. */
int64_t walked_path_add_whole(const struct walked_path *path, const struct backend_sample *sample,
			      enum unwind_cause *cause);

/* Adds a broken path below `node`, up to and including the first address in no module. Returns its node or a negative
 * error. */
int64_t walked_path_add_broken(const struct walked_path *path, uint32_t node, const struct backend_sample *sample);

#endif
