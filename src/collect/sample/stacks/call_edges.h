/*
 * Does a caller's code call the function that its callee is in? Where part of a
 * stack comes from memory read later than the sample, a frame there may have
 * been replaced by another: its return address is then behind a call of
 * something else, and the path must not be believed.
 *
 * A direct call says what it calls. A call of one function from which another
 * was reached by a jump (a tail call) looks wrong but is not: such pairs are
 * learnt from stacks that were copied whole.
 */
#ifndef COLLECT_SAMPLE_STACKS_CALL_EDGES_H
#define COLLECT_SAMPLE_STACKS_CALL_EDGES_H

#include <stdbool.h>

#include "collect/sample/state/modules.h"
#include "unwind/unwind.h"

struct call_edges;

/* NULL: out of memory. The modules are not owned. */
struct call_edges *call_edges_new(struct modules *modules);
void call_edges_free(struct call_edges *edges); /* NULL is fine */

/* Whether `caller` may have called `callee`, the next frame inside of it. */
bool call_edges_fit(struct call_edges *edges, const struct unwind_frame *caller, const struct unwind_frame *callee);

/* This pair was seen for certain. Forgotten if memory is short. */
void call_edges_learn(struct call_edges *edges, const struct unwind_frame *caller, const struct unwind_frame *callee);

/* --- what completed a stack before --- */

/* The frame `inner`, whose return address (below `cfa`) was not copied, turned
 * out to be called from the path `node`. Forgotten if memory is short. */
void call_edges_remember(struct call_edges *edges, uint32_t thread, const struct unwind_frame *inner, uint64_t cfa,
			 uint32_t node);

/* The path from which the function of `inner` was called whenever that was seen
 * with its frame at that place; PROFILE_NONE: never seen, or from several. */
uint32_t call_edges_recall(const struct call_edges *edges, uint32_t thread, const struct unwind_frame *inner,
			   uint64_t cfa);

#endif
