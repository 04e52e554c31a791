/*
 * The calls of one thread of a Chrome trace: intervals of time that lie in each other. Private to
 * chrome_import.c and chrome_calls.c.
 */
#ifndef FORMATS_CHROME_IMPORT_H
#define FORMATS_CHROME_IMPORT_H

#include "formats/json_import.h"

/* An event that begins, ends or is a call. */
struct chrome_event {
	uint64_t time_ns, end_ns; /* since the first event; end_ns: of CHROME_WHOLE */
	uint32_t thread;          /* of the profile */
	uint32_t name;            /* string of the profile */
	uint32_t order;           /* in the file */
	enum chrome_event_kind { CHROME_BEGIN, CHROME_END, CHROME_WHOLE } kind;
};

/* Adds the hits of `resource`: for each stretch of time of a thread in which the same calls are
 * open, its length. Changes the order of the events. A call that begins and does not end ends
 * with its thread's last event; an end without a beginning is ignored; what a call lasts beyond
 * its caller is cut. Returns 0 or a negative error, with the error set. */
int chrome_add_calls(struct json_import *import, struct chrome_event *events, size_t count, uint32_t resource);

#endif
