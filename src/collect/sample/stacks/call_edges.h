/*
 * Tests whether a caller's code calls the function that its callee is in. If part of a stack was read
 * later than the sample, another frame may have replaced a frame there: its return address then follows a
 * call of another function, and the path is wrong.
 *
 * A direct call contains its target. A call of one function from which another was reached by a jump (a
 * tail call) does not fit, but is correct: such pairs are learnt from stacks that were copied completely.
 */
#ifndef COLLECT_SAMPLE_STACKS_CALL_EDGES_H
#define COLLECT_SAMPLE_STACKS_CALL_EDGES_H

#include <stdbool.h>

#include "collect/sample/state/modules.h"
#include "unwind/unwind.h"

struct call_edges;

/* Returns NULL if memory ran out. Does not own the modules. */
struct call_edges *call_edges_new(struct modules *modules);
void call_edges_free(struct call_edges *edges); /* NULL is fine */

/* Returns whether a runtime made the return address of a caller, so that the outermost function of a stack returns
 * there: it is behind the no-op at the start of its function, where no call can have left it. Go begins goroutines so. */
bool call_edges_is_made(const struct call_edges *edges, const struct unwind_frame *caller);

/* Returns whether `caller` may have called `callee`, the next inner frame. */
bool call_edges_fit(struct call_edges *edges, const struct unwind_frame *caller, const struct unwind_frame *callee);

/* Learns a pair that is certain. Forgets it if memory runs out. */
void call_edges_add(struct call_edges *edges, const struct unwind_frame *caller, const struct unwind_frame *callee);

/* --- callers that completed a stack --- */

/* Remembers that the frame `inner`, whose return address (below `cfa`) was not copied, was called from the
 * path `node`. Forgets it if memory runs out. */
void call_edges_store_callers(struct call_edges *edges, uint32_t thread, const struct unwind_frame *inner, uint64_t cfa,
			      uint32_t node);

/* Returns the path from which the function of `inner` was called each time that it was observed with its
 * frame at that position, or PROFILE_NONE if there was none, or more than one. */
uint32_t call_edges_find_callers(const struct call_edges *edges, uint32_t thread, const struct unwind_frame *inner,
				 uint64_t cfa);

#endif
