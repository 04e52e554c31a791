/* The client side of `cpprof control`: a process with probe points
 * (cpprof/profiler.h) listens on the socket that
 * src/collect/agent/control/thread.h describes. A request is a line, the answer
 * a text. */
#ifndef COLLECT_CONTROL_CLIENT_H
#define COLLECT_CONTROL_CLIENT_H

#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

enum { CONTROL_PATH_MAX = 108 };

struct control_target {
	pid_t pid;
	uid_t user;
	char socket[CONTROL_PATH_MAX];
};

/* Finds out where it listens. 0; ERROR_NOT_FOUND or ERROR_PERMISSION with a message. */
int control_find(struct control_target *target, pid_t pid, struct error *error);

/* Sends a line, without its end, and appends the text behind "ok " to `answer`,
 * with a NUL behind it. Returns 0, or an error: the process does not listen,
 * does not answer, or refuses the request. */
int control_ask(const struct control_target *target, const char *line, struct buffer *answer, struct error *error);

#endif
