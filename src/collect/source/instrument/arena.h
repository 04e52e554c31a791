/* Memory for the results of one file's instrumentation, freed at once.
 * Addresses do not move. */
#ifndef COLLECT_SOURCE_INSTRUMENT_ARENA_H
#define COLLECT_SOURCE_INSTRUMENT_ARENA_H

#include <stddef.h>

struct instrument_arena;

/* Returns NULL if memory runs out. */
struct instrument_arena *instrument_arena_new(void);
void instrument_arena_free(struct instrument_arena *arena);

/* Returns zeroed memory with the alignment of malloc, or NULL if there is no memory; then all later calls return
 * NULL, too. */
void *instrument_arena_take(struct instrument_arena *arena, size_t size);
/* Returns a copy with a NUL at its end, or NULL if there is no memory. */
const char *instrument_arena_text(struct instrument_arena *arena, const char *text, size_t length);
const char *instrument_arena_format(struct instrument_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Returns ERROR_MEMORY if a call has failed so far, else 0. */
int instrument_arena_error(const struct instrument_arena *arena);

#endif
