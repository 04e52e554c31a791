/* The client side of `cpprof control`. A process with probe points (cpprof/profiler.h) listens on the socket that
 * src/collect/agent/control/thread.h describes. A request is a line, the answer a text. */
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

/* Finds the socket of a process. Returns 0, or ERROR_NOT_FOUND, ERROR_PERMISSION or another negative error, with
 * `error` set. */
int control_find(struct control_target *target, pid_t pid, struct error *error);

/* Sends `line`, to which it adds the line end, and appends the answer behind "ok " to `answer`, with a NUL at its
 * end. Returns 0, or a negative error if the process does not listen, does not answer within 10 s, or refuses the
 * request. */
int control_request(const struct control_target *target, const char *line, struct buffer *answer, struct error *error);

#endif
