/* The text of a copy, and of the declaration of one. */
#ifndef COLLECT_SOURCE_CONTEXTUALIZE_COPY_TEXT_H
#define COLLECT_SOURCE_CONTEXTUALIZE_COPY_TEXT_H

#include "collect/source/contextualize/copy_plan.h"
#include "collect/source/instrument/edits.h"

/* Adds the edits for the calls in a clone's function to a list whose offsets begin at `base`: other names, without
 * the arguments that are constant. */
void copy_text_calls(const struct copy_plan *plan, const struct plan_clone *clone, struct edits *edits, uint32_t base);

/* Returns the text of the whole copy, in the arena, or NULL (out of memory). */
const char *copy_text(const struct copy_plan *plan, const struct plan_clone *clone);

/* Returns the text of a declaration of the clone, without a `;`, made of a declaration of the original in a unit. NULL: out of
 * memory, or the text is not that of one declaration. */
const char *copy_text_declaration(const struct copy_plan *plan, const struct plan_clone *clone, size_t unit,
				  CXCursor declaration);

#endif
