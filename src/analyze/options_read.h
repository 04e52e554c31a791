/*
 * The values of view options, read from the text that a user typed on a command
 * line or in the interactive loop.
 *
 * Each call returns 0, or ERROR_USAGE with a text that repeats what was typed.
 * It writes its result only on success.
 */
#ifndef ANALYZE_OPTIONS_READ_H
#define ANALYZE_OPTIONS_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

/* The defaults of `report` and `explore`. */
#define OPTIONS_THRESHOLD_DEFAULT 0.005
#define OPTIONS_LIMIT_DEFAULT 40

/* A usage fraction, "0.01" or "1%": 0 to 1. */
int options_read_threshold(const char *text, double *threshold, struct error *error);

/* A number of entries; 0 means all. */
int options_read_limit(const char *text, size_t *limit, struct error *error);

/* "function", "callsite", "line", "module", "group", or the beginning of one. */
int options_read_by(const char *text, enum view_by *by, struct error *error);
/* The name that options_read_by reads; "?" for a number that is no `by`. */
const char *view_by_name(enum view_by by);
/* word_at (base/words.h): these names, by enum view_by. */
const char *view_by_word(size_t by);

/* "on" or "off" (also yes, no, 1, 0). */
int options_read_switch(const char *text, bool *on, struct error *error);

/* Seconds since the recording began, "1.5", "1.5s", "200ms", as ns. */
int options_read_seconds(const char *text, uint64_t *ns, struct error *error);

/* Both ends of a time range, either of which may be NULL or "" (open). An empty
 * range is an error. Sets from_ns and to_ns (0: no end). */
int options_read_time(const char *from, const char *to, struct view_options *options, struct error *error);

#endif
