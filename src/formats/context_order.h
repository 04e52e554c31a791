/* The order in which compilers' profiles list contexts (analyze/source_counts.h), and where the parts of each begin. */
#ifndef FORMATS_CONTEXT_ORDER_H
#define FORMATS_CONTEXT_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/source_counts.h"
#include "formats/format.h"

struct context_order {
	struct source_counts *counts; /* owned */
	/* those without a parent, by decreasing total; then the children of each context, by the
	 * position of their calls */
	uint32_t *contexts;
	size_t *first_child; /* [context_count + 1] indexes in `contexts` */
	size_t *first_line;  /* [context_count + 1] indexes in counts->lines */
	size_t *first_call;  /* [context_count + 1] indexes in counts->calls */
};

/* Counts the hits by source lines. Returns 0 or a negative error, with `error` set:
 * ERROR_NOT_FOUND if no code has lines and linkage names (then `options` are the options of a build
 * that has them). The caller releases the order in any case. */
int context_order_make(struct context_order *order, const struct format_input *input, enum source_nesting nesting,
		       const char *options, struct error *error);
void context_order_release(struct context_order *order); /* accepts {0} */

#endif
