/*
 * From one sample to one node of the call path tree. A stack that the backend
 * walked to its end is looked up address by address; another is walked here from
 * the copied stack and, where the copy is too short, completed.
 *
 * A stack is cut where the copy ends (at `window_end` below). What is above can
 * be had from two places:
 *
 *      high  +---------------------+ top
 *            |  outer frames       |   (live) the target's memory, read now; or
 *            |                     |   (remembered) the bytes that an earlier
 *            |                     |   sample of this thread saw there
 *            +---------------------+ window_end   <- the CHECK_BYTES below must be
 *            |  copied with the    |                 the same in both, else the
 *            |  sample             |                 thread has moved on since
 *      low   +---------------------+ sp
 *
 * If neither agrees with the copy, the path stays broken and is counted as cut
 * (UNWIND_STACK_SHORT): it is never passed off as a whole one.
 *
 * A very deep stack changes only at its inner end. So a thread whose stack was
 * cut keeps its bytes and the frames found in them (struct deep_stack), and a
 * walk stops at the first frame above which nothing has changed: the node of
 * that frame is known. A 10,000-deep recursion then costs one read and one
 * comparison of its stack per sample instead of 10,000 steps.
 */
#ifndef COLLECT_SAMPLE_STACKS_STACK_H
#define COLLECT_SAMPLE_STACKS_STACK_H

#include "collect/sample/backend.h"
#include "collect/sample/state/processes.h"
#include "profile/profile.h"

struct stacks;

/* NULL: out of memory. Nothing given is owned. */
struct stacks *stacks_new(struct profile *profile, struct processes *processes, struct modules *modules);
void stacks_free(struct stacks *stacks); /* NULL is fine */

/* The node of a sample's path: below the thread's base_node if it reaches its root.
 * Unless the backend has walked the stack to its end, it is walked here. Adds the
 * path to the tree, and counts how the walk ended. Returns the node, or ERROR_MEMORY. */
int64_t stacks_add(struct stacks *stacks, struct thread *thread, const struct backend_sample *sample);

/* The same of a stack that is no sample, and so not counted: the node, PROFILE_ROOT if
 * there is no whole path, or ERROR_MEMORY. */
int64_t stacks_add_uncounted(struct stacks *stacks, struct thread *thread, const struct backend_sample *sample);

/* How many samples since the last call had a stack that was not copied whole,
 * and of how many the target's memory had changed before we read it: while there
 * are any, the monitor had better hurry. */
struct stacks_cut {
	uint64_t stacks;
	uint64_t too_late;
};
struct stacks_cut stacks_cut_recently(struct stacks *stacks);

/* Adds the counts of how walks ended, since the last call, to the profile's
 * causes. Returns 0 or ERROR_MEMORY. */
int stacks_publish(struct stacks *stacks);

#endif
