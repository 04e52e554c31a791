/*
 * Lists the events of a trace, thread after thread, each thread's in the order in which it wrote them:
 *
 *     0.000031250 4711 4711 enter main
 *     0.000031502 4711 4711 event 7 42
 *     0.000032118 4711 4711 sample parse
 *     0.000033871 4711 4711 leave main
 *
 * Seconds since the recording began, process, thread, what happened, and the function; of an event of the
 * program's (cpprof_event) its id and value.
 */
#ifndef CMD_EXPORT_EVENTS_H
#define CMD_EXPORT_EVENTS_H

#include <stdio.h>

#include "base/error.h"

#define FORMAT_EVENTS "events"

/* 0; ERROR_FORMAT: the file is no trace; or what its reading says, or the stream's error with errno. */
int export_events(const char *path, FILE *out, struct error *error);

#endif
