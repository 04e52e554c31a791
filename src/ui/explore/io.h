/*
 * The loop's input and output: lines, from a terminal with editing or from any other input; the stream that takes the report of a
 * command; and the signals that interrupt both.
 */
#ifndef UI_EXPLORE_IO_H
#define UI_EXPLORE_IO_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/line_wrap.h"
#include "ui/explore/session.h"

/* --- lines --- */

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

/* --- editing --- */

/* Line editing on a terminal with libedit: the prompt, history and completion. The history is saved in
 * $XDG_STATE_HOME/cpprof/history (~/.local/state if that is not set), readable only by its owner. If it cannot be
 * saved, the loop works without it. */

struct editor;

/* Returns an editor, or NULL if the terminal does not support editing or memory is exhausted. The completion uses
 * the session, which must outlive the editor. */
struct editor *editor_new(struct session *session, const char *prompt);
void editor_free(struct editor *editor); /* saves the history; accepts NULL */

/* Returns the next line, without its newline, valid until the next call; or NULL if the input ended or
 * explore_interrupted() became true. */
const char *editor_read(struct editor *editor);

/* --- completion --- */

/* Finds completion candidates for the cursor's position in a line, in the command table and the profile. */

enum { COMPLETION_MAX = 500 };

struct completion {
	size_t start;  /* offset in the line of the text that a candidate replaces */
	char **items;  /* [count], sorted, distinct; owned */
	size_t count;  /* at most COMPLETION_MAX */
	size_t common; /* length of the common beginning of all items */
	bool space;    /* a single candidate is followed by a space */
};

/* Finds the candidates for the line's first `length` bytes. If no function name begins with the typed text,
 * candidates are the names that contain it after a "::". If memory is exhausted, some candidates are missing. */
void completion_init(struct completion *completion, struct session *session, const char *line, size_t length);
void completion_release(struct completion *completion);

/* --- history --- */

/* The history file of the loop. */

/* Returns the path of the history file, which the caller frees, or NULL if there is no folder for it or memory is
 * exhausted. */
char *history_file_path(void);

/* Creates a new file beside `path` with mode 0600, opens it for writing, and makes the folders above it. Returns
 * NULL on failure. */
FILE *history_file_create(const char *path);
/* Closes the new file and replaces the old one with it, unless a write failed. */
void history_file_commit(FILE *file, const char *path);

/* --- output --- */

/* The output of one command's report: the output of the loop, or the input of a shell command. After ^C the stream
 * accepts no more bytes, so that a long report ends. */

struct output {
	FILE *stream;      /* the stream that a command writes to */
	FILE *target;      /* its destination: `out`, or the pipe */
	bool is_pipe;      /* target is the shell's and is closed at the end */
	bool stopped;      /* ^C was typed, or the reader has gone away */
	int write_failure; /* errno of the first write that failed for another reason */
	struct line_wrap wrap;
};

/* Opens the output. `shell` is the command to pipe into, or NULL. `columns` is the width of the terminal, 0: lines of any length. Returns 0 or a negative error. */
int explore_output_open(struct output *output, FILE *out, const char *shell, int columns, struct error *error);

/* Flushes the output and waits for the shell command. Returns 0 (also if the reader of a pipe did not read all), or
 * a negative error if writing failed or the shell could not run its command. Sets *gone if the reader of `out`
 * itself has gone away. */
int explore_output_close(struct output *output, bool *gone, struct error *error);

/* --- signals --- */

/* The signals of the loop. SIGPIPE gets a handler that does nothing, because the shells that the loop starts would
 * inherit an ignored signal; writing then fails with EPIPE. SIGINT, on a terminal only, sets a flag that readers and
 * writers test. */

struct explore_signals {
	struct sigaction old_pipe;
	struct sigaction old_interrupt;
	bool interactive;
};

void explore_signals_catch(struct explore_signals *signals, bool interactive);
void explore_signals_restore(const struct explore_signals *signals);

/* Returns whether ^C was typed since explore_clear_interrupt. */
bool explore_interrupted(void);
void explore_clear_interrupt(void);

/* Waits until the descriptor is readable. Returns 0, or -1 if ^C was typed first; a signal between the test and the
 * wait is not missed. */
int explore_wait_readable(int fd);

#endif
