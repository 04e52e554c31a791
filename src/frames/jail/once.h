/*
 * Runs a task on one file, in a jail of its own: whatever another file did to its child cannot change this answer. If
 * there can be no child, the task runs in this process, but only on a file that belongs to root or to our user.
 */
#ifndef FRAMES_JAIL_ONCE_H
#define FRAMES_JAIL_ONCE_H

#include "frames/jail/jail.h"

/*
 * Opens a regular file and runs a task on it. `request` may be NULL. `answer` must have been initialised, and gets the
 * task's answer.
 *
 * Returns 0 or a negative error, with `error` set, which may be NULL: the file cannot be opened; what the task
 * returned; ERROR_LIMIT; ERROR_CORRUPT: the child ended; ERROR_UNSUPPORTED: there can be no jail, and the file is
 * another user's; ERROR_MEMORY.
 */
int jail_run_once(const struct jail_task *task, const char *path, const struct buffer *request, struct buffer *answer,
		  struct error *error);
/* The same for a file that is open. Does not take ownership of the descriptor. `limits`: NULL for the usual limits. */
int jail_run_on(const struct jail_task *task, int fd, const char *path, const struct buffer *request,
		const struct frames_limits *limits, struct buffer *answer, struct error *error);

#endif
