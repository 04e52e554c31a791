/*
 * Text for people on standard output. On a terminal, lines are broken that are wider than it (base/line_wrap.h), and a pager shows the
 * text, as git does: CPPROF_PAGER, or PAGER, or `less -FRX`. There is none where standard output is no terminal, TERM is "dumb" or
 * not set, the pager's name is "" or "cat", or neither variable is set and there is no less. The text of a pager that fails before it
 * has read anything is shown without it, with a warning.
 *
 * Life cycle: pager_output_open as soon as the text is about to be written, writing to `stream`, pager_output_close.
 */
#ifndef CMD_PAGER_OUTPUT_H
#define CMD_PAGER_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/line_wrap.h"
#include "render/render.h"

enum { PAGER_SIGNALS = 3 };

struct pager_output {
	FILE *stream; /* to write to */
	FILE *to;     /* standard output, or the pager's input */
	struct line_wrap wrap;
	pid_t pager;                          /* 0: none */
	const char *command;                  /* of the pager, for messages */
	bool is_wrapped;                      /* stream is not `to` */
	int pipe;                             /* to the pager; -1: it has ended, or there is none */
	uint64_t sent;                        /* bytes in the pipe, or read from it */
	int exit_status;                      /* of the pager; 0 also if a signal ended it */
	bool is_direct;                       /* it failed, and the text goes to standard output */
	void (*handlers[PAGER_SIGNALS])(int); /* of signals that are the pager's while it runs */
};

/* Returns 0 or a negative error. `wants_pager`: the user has not refused one. */
int pager_output_open(struct pager_output *page, const struct render_options *options, bool wants_pager,
		      struct error *error);
/* Waits for the pager. Returns 0, also if the user has left the pager before the end, or a negative error: memory, or a
 * pager that could not be run and whose text cannot be read back. `error` may be NULL. The
 * dispatcher reports failed writes to standard output itself. */
int pager_output_close(struct pager_output *page, struct error *error);

#endif
