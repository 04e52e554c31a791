/* Reads the times and ages by which a user selects recordings. */
#ifndef STORE_TIMES_H
#define STORE_TIMES_H

#include <stdint.h>

#include "base/error.h"

/* Reads an age: a whole number with s, m, h, d or w, as in "90d". Returns seconds, or ERROR_USAGE. */
int64_t store_age_read(const char *text, struct error *error);

/* Reads a point in time: "now", "-AGE" before `now_s`, "@SECONDS" since 1970, or a local date,
 * "2026-11-27", "2026-11-27T08:30" or "2026-11-27T08:30:15"; with a Z at its end, UTC. Sets ns
 * since 1970. Returns 0 or ERROR_USAGE. */
int store_time_read(const char *text, int64_t now_s, int64_t *unix_ns, struct error *error);

#endif
