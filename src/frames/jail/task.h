/* A kind of work that the process in the jail does with a file (jail/jail.h). */
#ifndef FRAMES_JAIL_TASK_H
#define FRAMES_JAIL_TASK_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"

struct jail_input {
	int fd;           /* of the file; -1: there is none. The task owns it */
	const char *path; /* of the file, for messages, and to find its debug files */
	struct cursor request;
};

/* A kind of work with a file. Each is a constant, whose address is the same in both processes. */
struct jail_task {
	const char *doing; /* "naming the addresses of" */
	/* Runs in the jail. `context` is the jail's, in the child's copy. Appends to `answer`, which is kept only if this
	 * returns 0. Returns 0 or a negative error, with `error` set; both reach the caller of jail_run. */
	int (*run)(void *context, struct jail_input *input, struct buffer *answer, struct error *error);
};

#endif
