/* The processes of a profile as a tree: each below the process that started it. */
#ifndef ANALYZE_PROCESS_TREE_H
#define ANALYZE_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/shares.h"
#include "profile/profile.h"

struct process_tree {
	/* [process_count]: the index of the process that started it; PROFILE_NONE: the profile does not have it */
	uint32_t *parents;
	uint32_t *order; /* [process_count]: all processes, each behind its parent */
};

/* Finds the parents. A process number may have been used several times: a parent is the last process of that number that began
 * before its child. Parents that form a cycle, which only a forged file has, count as unknown. Returns 0, or ERROR_MEMORY with
 * an empty tree. The caller releases the tree. */
int process_tree_make(struct process_tree *tree, const struct profile *profile);
void process_tree_release(struct process_tree *tree);

/* Divides hits along the tree: processes of one name with one parent are one row, and a process below another one of its name is in
 * that row, too. `hits[i]` are the own hits of process i, hits[process_count] the hits without a process. Returns the rows that have
 * hits, in the order of struct share_list, an array of *count elements that the caller frees; or NULL: out of memory. */
struct share *process_tree_shares(const struct profile *profile, const uint64_t *hits, size_t *count);

/* Chooses also all processes in the rows of the chosen processes, and all processes below these rows. Returns 0 or ERROR_MEMORY. */
int process_tree_choose(const struct profile *profile, bool *chosen);

#endif
