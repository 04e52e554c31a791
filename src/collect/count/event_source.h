/*
 * A trace (TALLY_TRACE) as an event source. The hooks record which path is
 * current; this makes it enters and leaves: a jump leaves several functions at
 * once, and hooks that report entries alone leave none.
 */
#ifndef COLLECT_COUNT_EVENT_SOURCE_H
#define COLLECT_COUNT_EVENT_SOURCE_H

#include "profile/event_source.h"

/* Opens and reads a tally, and names its functions. NULL: `error` says why;
 * ERROR_FORMAT: the file is no trace. */
struct event_source *tally_event_source_open(const char *path, struct error *error);

#endif
