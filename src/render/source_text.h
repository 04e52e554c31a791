/* The lines of source files. */
#ifndef RENDER_SOURCE_TEXT_H
#define RENDER_SOURCE_TEXT_H

#include <stddef.h>

struct source_text {
	char *bytes;        /* owned */
	const char **lines; /* owned; lines[i] is line i + 1, NUL-terminated */
	size_t count;
};
/* Reads a source file. `directory` is the one in which the recorded program ran, or NULL. Returns 0, ERROR_NOT_FOUND
 * or ERROR_MEMORY. */
int source_text_open(struct source_text *source, const char *path, const char *directory);
void source_text_release(struct source_text *source);

#endif
