/*
 * The output of exported text: standard output, or a file that is replaced only when all of the text is written.
 *
 * Life cycle: text_output_open, writing to `stream`, then text_output_commit or text_output_discard.
 */
#ifndef CMD_TEXT_OUTPUT_H
#define CMD_TEXT_OUTPUT_H

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

/* `path` NULL or "-" is standard output, whose errors the dispatcher reports. Returns 0 or a negative error. */
int text_output_open(struct text_output *output, const char *path, struct error *error);
int text_output_commit(struct text_output *output, struct error *error);
void text_output_discard(struct text_output *output);

#endif
