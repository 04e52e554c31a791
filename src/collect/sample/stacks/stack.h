/*
 * Converts a sample to a node of the call path tree. If the backend has unwound the stack to its end, the
 * addresses are looked up one by one. Any other stack is unwound here, from the copied stack; where the
 * copy is too short, it is completed.
 *
 * A stack is cut where the copy ends (at `window_end` below). There are two sources for the memory above:
 *
 *      high  +---------------------+ top
 *            |  outer frames       |   (live) the target's memory, read now; or
 *            |                     |   (remembered) the bytes that an earlier
 *            |                     |   sample of this thread found there
 *            +---------------------+ window_end   <- the CHECK_BYTES below must be
 *            |  copied with the    |                 the same in both, else the
 *            |  sample             |                 thread has moved on since
 *      low   +---------------------+ sp
 *
 * If neither agrees with the copy, the path stays broken and is counted as cut (UNWIND_STACK_SHORT); it is
 * never reported as complete.
 *
 * A very deep stack changes only at its inner end. So the bytes of a cut stack are kept for its thread,
 * with the frames that were found in them (struct deep_stack). A later walk stops at the first frame above
 * which nothing has changed, because the node of that frame is known. A 10,000-deep recursion then costs
 * one read and one comparison of its stack per sample instead of 10,000 steps.
 */
#ifndef COLLECT_SAMPLE_STACKS_STACK_H
#define COLLECT_SAMPLE_STACKS_STACK_H

#include "collect/sample/backend.h"
#include "collect/sample/stacks/walk_ends.h"
#include "collect/sample/state/processes.h"
#include "profile/profile.h"

struct stacks;

/* Returns NULL if memory ran out. Owns none of its arguments. */
struct stacks *stacks_new(struct profile *profile, struct processes *processes, struct modules *modules);
void stacks_free(struct stacks *stacks); /* NULL is fine */

/* As backend_sink.describes. Returns 0 or a negative error. */
int stacks_describe(struct stacks *stacks, uint32_t pid, const struct interpreted_code *code, size_t bytes);

/* From now on, a sample that was taken in the kernel and has no stack of the kernel ends in the function "[kernel]". */
void stacks_show_kernel(struct stacks *stacks, bool shows);

/* Adds the path of a sample to the tree, and counts how its walk ended. A complete path is below the
 * thread's base_node. Unless the backend has unwound the stack to its end, it is unwound here. Returns the
 * node, or ERROR_MEMORY. */
int64_t stacks_add(struct stacks *stacks, struct thread *thread, const struct backend_sample *sample);

/* The same for a stack that is no sample, and is not counted. Returns the node, PROFILE_ROOT if the path
 * is not complete, or ERROR_MEMORY. */
int64_t stacks_add_uncounted(struct stacks *stacks, struct thread *thread, const struct backend_sample *sample);

/* Returns whether the last stack is broken because not enough of it was copied. */
bool stacks_is_cut(const struct stacks *stacks);

/* Returns the stack pointer in the outermost frame of the last stack that was added, or 0 if it is unknown: the stack
 * was unwound by the backend, or is not whole. */
uint64_t stacks_outermost_sp(const struct stacks *stacks);

/* Returns how many samples since the last call had a stack that was not copied completely, and for how
 * many of them the target's memory had changed before it was read. While there are any, the monitor must
 * read more often. */
struct stacks_cut {
	uint64_t stacks;
	uint64_t too_late;
};
struct stacks_cut stacks_cut_recently(struct stacks *stacks);

/* Returns the counts of how the walks ended; they belong to the stacks. */
struct walk_ends *stacks_ends(struct stacks *stacks);

#endif
