/* A process that has probe points (cpprof/profiler.h), as `cpprof control` talks to it: over the socket that
 * src/collect/agent/control/thread.h tells of, a line to it and a text from it. */
#ifndef CMD_CONTROL_CLIENT_H
#define CMD_CONTROL_CLIENT_H

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

/* Asks a line, without its end. What it says behind "ok " is appended to `answer`, with a NUL behind it. 0, or an error: it does not
 * listen, does not answer, or says itself what is wrong. */
int control_ask(const struct control_target *target, const char *line, struct buffer *answer, struct error *error);

#endif
