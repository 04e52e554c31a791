/* Memory for the results of one file's instrumentation, freed at once.
 * Addresses do not move. */
#ifndef COLLECT_SOURCE_INSTRUMENT_ARENA_H
#define COLLECT_SOURCE_INSTRUMENT_ARENA_H

#include <stddef.h>

struct instrument_arena;

/* NULL: no memory. */
struct instrument_arena *instrument_arena_new(void);
void instrument_arena_free(struct instrument_arena *arena);

/* Zeroed, aligned for anything. NULL: no memory; from then on every call gives NULL. */
void *instrument_arena_take(struct instrument_arena *arena, size_t size);
/* A copy that ends with a NUL. NULL: no memory. */
const char *instrument_arena_text(struct instrument_arena *arena, const char *text, size_t length);
const char *instrument_arena_format(struct instrument_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Returns whether a call has failed so far. */
int instrument_arena_error(const struct instrument_arena *arena);

#endif
