/* The lines of the loop, from a terminal or plainly. */
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
	INPUT_INTERRUPTED = 2, /* ^C: the line so far is forgotten */
};

struct input {
	FILE *in;
	FILE *prompt_out;      /* interactive without an editor; or NULL */
	struct editor *editor; /* NULL: plain */
	struct buffer line;
	uint64_t number; /* number of the line, from 1 */
	bool failed;     /* reading failed, and the caller has the error */
};

void input_init(struct input *input, struct session *session);
void input_release(struct input *input);

/* The next line, without its newline; the text may be changed and is valid
 * until the next call. Returns an enum input_status, or a negative error for a
 * line that cannot be taken (ERROR_LIMIT: over INPUT_LINE_MAX bytes;
 * ERROR_FORMAT: a NUL byte in it; ERROR_MEMORY); the next call goes on behind it. */
int input_next(struct input *input, char **line, struct error *error);

#endif
