#include "collect/source/instrument/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { CHUNK = 64 * 1024 };

struct chunk {
	struct chunk *next;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

struct instrument_arena {
	struct chunk *chunk; /* newest first */
	int error;
};

struct instrument_arena *instrument_arena_new(void)
{
	return calloc(1, sizeof(struct instrument_arena));
}

void instrument_arena_free(struct instrument_arena *arena)
{
	if (!arena)
		return;
	for (struct chunk *chunk = arena->chunk; chunk;) {
		struct chunk *next = chunk->next;
		free(chunk);
		chunk = next;
	}
	free(arena);
}

void *instrument_arena_take(struct instrument_arena *arena, size_t size)
{
	if (arena->error || size > SIZE_MAX / 4)
		return NULL;
	size = (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
	struct chunk *chunk = arena->chunk;
	if (!chunk || chunk->size - chunk->used < size) {
		size_t wanted = size > CHUNK ? size : CHUNK;
		chunk = calloc(1, sizeof(*chunk) + wanted);
		if (!chunk) {
			arena->error = ERROR_MEMORY;
			return NULL;
		}
		chunk->size = wanted;
		chunk->next = arena->chunk;
		arena->chunk = chunk;
	}
	void *taken = chunk->bytes + chunk->used;
	chunk->used += size;
	return taken;
}

const char *instrument_arena_text(struct instrument_arena *arena, const char *text, size_t length)
{
	char *copy = instrument_arena_take(arena, length + 1);
	if (copy)
		memcpy(copy, text, length);
	return copy;
}

const char *instrument_arena_format(struct instrument_arena *arena, const char *format, ...)
{
	va_list words, again;
	va_start(words, format);
	va_copy(again, words);
	int length = vsnprintf(NULL, 0, format, words);
	char *text = length < 0 ? NULL : instrument_arena_take(arena, (size_t)length + 1);
	if (text)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	va_end(words);
	return text;
}

int instrument_arena_error(const struct instrument_arena *arena)
{
	return arena->error;
}
