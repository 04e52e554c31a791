/*
 * An edit list: texts to insert into a file or to remove from it, and the copy that results.
 *
 *     for (...) f();          the loop's object and the statement's, in the order of addition:
 *     {A for (...) {B f();}}  open A, open B; close B, close A
 *
 * At one offset, closing texts precede opening texts; of several opening texts the outer text, which was added first,
 * precedes.
 */
#ifndef COLLECT_SOURCE_INSTRUMENT_EDITS_H
#define COLLECT_SOURCE_INSTRUMENT_EDITS_H

#include <stdint.h>

#include "base/buffer.h"

struct edit {
	const char *text; /* not owned; without a newline */
	uint32_t offset;  /* in bytes of the original */
	uint32_t removed; /* bytes of the original behind the offset that the text replaces */
	int32_t rank;     /* > 0: opens, by the order of addition; < 0: closes */
};

struct edits {
	struct edit *items; /* owned */
	size_t count, capacity;
	int error; /* ERROR_MEMORY: all later additions are ignored */
};

void edits_init(struct edits *edits);
void edits_release(struct edits *edits);

void edits_insert(struct edits *edits, uint32_t offset, const char *text);
/* Replaces `size` bytes by a text. Replaced parts do not overlap, and nothing is inserted into them. */
void edits_replace(struct edits *edits, uint32_t offset, uint32_t size, const char *text);
/* Inserts `open` at `offset`, and the corresponding `close` at `end`. */
void edits_wrap(struct edits *edits, uint32_t offset, const char *open, uint32_t end, const char *close);

/* Appends the edited original to `copy`. Sorts the list. Returns 0, ERROR_MEMORY, or
 * ERROR_CORRUPT if an offset is not in the text or in a replaced part. */
int edits_apply(struct edits *edits, const char *text, size_t size, struct buffer *copy);

#endif
