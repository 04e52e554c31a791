/*
 * A limit on the CPU time of this process, for commands that read files from outside: the text of a
 * deep call path can be a million times larger than its file. Beyond the limit, the process prints
 * a message and ends with status 1. An output under a temporary name stays, as after a kill
 * (base/file_place.h). Children have no limit of it.
 */
#ifndef BASE_TIME_LIMIT_H
#define BASE_TIME_LIMIT_H

#include "base/error.h"

/* Limits the CPU time from now on, once in a process. `message` is printed beyond it, with a
 * line end; it is copied. Returns 0 or a negative error, with `error` set. */
int time_limit_set(double seconds, const char *message, struct error *error);

#endif
