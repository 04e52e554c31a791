/*
 * An edit list: texts to be inserted into a file, and the copy that they make.
 *
 *     for (...) f();          the loop's object and the statement's, as they are added:
 *     {A for (...) {B f();}}  open A, open B; close B, close A
 *
 * At one offset what closes comes before what opens, and of several that open the outer, which was added first, comes first.
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_EDITS_H
#define COLLECT_SOURCE_INSTRUMENT_EDITS_H

#include <stdint.h>

#include "base/buffer.h"

struct edit {
	const char *text; /* the adder's, or static; no newline in it */
	uint32_t offset;  /* bytes of the original */
	int32_t rank;     /* > 0: opens, by the order of addition; < 0: closes */
};

struct edits {
	struct edit *items; /* owned */
	size_t count, capacity;
	int error; /* ERROR_MEMORY, and all later additions do nothing */
};

void edits_init(struct edits *edits);
void edits_release(struct edits *edits);

void edits_insert(struct edits *edits, uint32_t offset, const char *text);
/* `close` is the text for `end` that belongs to `open` at `offset`. */
void edits_wrap(struct edits *edits, uint32_t offset, const char *open, uint32_t end, const char *close);

/* Appends the original with everything inserted. Sorts the list. 0; ERROR_MEMORY; ERROR_CORRUPT: an offset is not in the text. */
int edits_apply(struct edits *edits, const char *text, size_t size, struct buffer *copy);

#endif
