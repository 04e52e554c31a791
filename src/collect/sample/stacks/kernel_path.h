/* Adds the kernel's own stack of a sample to the tree, below the path of user mode that entered the kernel. */
#ifndef COLLECT_SAMPLE_STACKS_KERNEL_PATH_H
#define COLLECT_SAMPLE_STACKS_KERNEL_PATH_H

#include <stdint.h>

#include "collect/sample/backend.h"
#include "collect/sample/stacks/path_tree.h"

/* `module` is the id of the kernel's module in the profile. Returns the innermost node, `node` if the sample has no
 * kernel stack, or a negative error. */
int64_t kernel_path_add(struct path_tree *tree, uint32_t node, uint32_t module, const struct backend_sample *sample);

/* Adds one node for all of the kernel. */
int64_t kernel_path_add_whole(struct path_tree *tree, uint32_t node, uint32_t module);

#endif
