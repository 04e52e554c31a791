/* Reads the lines of the loop, from a terminal with editing or from any other input. */
#ifndef UI_EXPLORE_INPUT_H
#define UI_EXPLORE_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "ui/explore/editor.h"
#include "ui/explore/session.h"

enum { INPUT_LINE_MAX = 64 * 1024 };

enum input_status {
	INPUT_END = 0,
	INPUT_LINE = 1,
	INPUT_INTERRUPTED = 2, /* ^C: the line so far is dropped */
};

struct input {
	FILE *in;
	FILE *prompt_out;      /* for the prompt if interactive without an editor; or NULL */
	struct editor *editor; /* NULL: lines are read without editing */
	struct buffer line;
	uint64_t number; /* number of the current line, from 1 */
	bool failed;     /* reading failed, and the error was returned */
};

void input_init(struct input *input, struct session *session);
void input_release(struct input *input);

/* Reads the next line and sets *line to it, without its newline. The caller may change the text, which is valid
 * until the next call. Returns an enum input_status, or a negative error for a line that was refused (ERROR_LIMIT:
 * over INPUT_LINE_MAX bytes; ERROR_FORMAT: a NUL byte in it; ERROR_MEMORY) or if reading failed; the next call
 * continues with the next line. */
int input_next(struct input *input, char **line, struct error *error);

#endif
