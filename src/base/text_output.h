/*
 * The output of a text: standard output, or a file that is replaced only when all of the text is written.
 *
 * Life cycle: text_output_open, writing to `stream`, then text_output_commit or text_output_discard.
 */
#ifndef BASE_TEXT_OUTPUT_H
#define BASE_TEXT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/file_place.h"

struct text_output {
	FILE *stream; /* the stream to write to */
	char *path;   /* for messages; owned; NULL: standard output */
	struct file_place place;
	char *temporary; /* name in the place; owned; NULL: the output is written directly (a pipe, a device) */
};

/* The modes of new files. Pages and exports contain command lines, names and sources: they concern their owner alone. */
enum { TEXT_OUTPUT_PRIVATE = 0600, TEXT_OUTPUT_SHARED = 0666 };

/* `path` NULL or "-" is standard output, whose errors the dispatcher reports. For the rule of
 * other paths, and for `mode`, see base/file_place.h. Returns 0 or a negative error. */
int text_output_open(struct text_output *output, const char *path, mode_t mode, struct error *error);
int text_output_commit(struct text_output *output, struct error *error);
void text_output_discard(struct text_output *output);

#endif
