/*
 * A trace (TALLY_TRACE) as an event source. The hooks record which path becomes current; this file turns that into
 * ENTER and LEAVE events. A jump leaves several functions at once; hooks that report entries only cause no LEAVE.
 */
#ifndef COLLECT_COUNT_EVENT_SOURCE_H
#define COLLECT_COUNT_EVENT_SOURCE_H

#include "profile/event_source.h"

/* Opens and reads a tally, and names its functions. Returns the source, or NULL with `error` set; ERROR_FORMAT: the
 * file is not a trace. */
struct event_source *tally_event_source_open(const char *path, struct error *error);

#endif
