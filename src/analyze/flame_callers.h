/* The boxes of a flame graph of callers, which are made on demand. Internal to analyze/. */
#ifndef ANALYZE_FLAME_CALLERS_H
#define ANALYZE_FLAME_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"

struct flame_callers;

struct callers_box {
	uint64_t weight;
	uint32_t label, parent;
	uint32_t first, count; /* its children, once they are made */
	bool is_expanded;
	size_t stack, stack_count; /* the stacks that lead to it; they have no meaning once it is expanded */
};

/* Returns the root with its children, or NULL if there is no memory. `roots` NULL: stacks from their innermost frames on. */
struct flame_callers *flame_callers_new(const struct view *view, const struct label_set *roots);
void flame_callers_free(struct flame_callers *callers); /* accepts NULL */

/* Number of boxes so far. */
size_t flame_callers_count(const struct flame_callers *callers);
/* Returns a box, valid until the next flame_callers_expand. */
const struct callers_box *flame_callers_box(const struct flame_callers *callers, uint32_t node);
/* Makes the children of a box, if they are not made yet: *first, *first + 1, ... Returns 0 or ERROR_MEMORY. */
int flame_callers_expand(struct flame_callers *callers, uint32_t node, uint32_t *first, size_t *count);

#endif
