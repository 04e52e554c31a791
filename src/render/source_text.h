/* Reads a source file that a profile names, and splits it into lines. */
#ifndef RENDER_SOURCE_TEXT_H
#define RENDER_SOURCE_TEXT_H

#include <stddef.h>

#include "profile/file_users.h"

struct source_text {
	char *bytes;        /* owned */
	const char **lines; /* owned; lines[i] is line i + 1, NUL-terminated */
	size_t count;
};
/* Reads the source file that a profile names: at its path, in the directory in which the recorded program ran, or below the current one.
 * `access` starts as {0}, is used for all files of a profile, and is released by the caller. Returns 0, ERROR_NOT_FOUND, ERROR_PERMISSION
 * (the users whose processes executed its code may not read it) or ERROR_MEMORY. */
int source_text_open(struct source_text *source, struct file_users *access, const struct profile *profile,
		     const char *path);
void source_text_release(struct source_text *source);

#endif
