/*
 * Reads the values of view options from the text that a user typed on a command line or in the interactive loop.
 *
 * Each function returns 0, or ERROR_USAGE with a text that repeats the input. Results are written only on success.
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

/* Reads a usage fraction from 0 to 1: "0.01" or "1%". */
int options_read_threshold(const char *text, double *threshold, struct error *error);

/* Reads a number of entries; 0 means all. */
int options_read_limit(const char *text, size_t *limit, struct error *error);

/* Reads "function", "callsite", "line", "module", "group" or a prefix of one. */
int options_read_by(const char *text, enum view_by *by, struct error *error);
/* Returns the name that options_read_by reads, or "?" if `by` has none. */
const char *view_by_name(enum view_by by);
/* word_at (base/words.h): these names, by enum view_by. */
const char *view_by_word(size_t by);

/* Reads "show", "hide", "only" or a prefix of one. */
int options_read_kernel(const char *text, enum view_kernel *kernel, struct error *error);
const char *view_kernel_word(size_t kernel); /* word_at: these names, by enum view_kernel */

/* Reads "on" or "off" (also yes, no, 1, 0). */
int options_read_switch(const char *text, bool *on, struct error *error);

/* Reads seconds since the start of the recording, "1.5", "1.5s" or "200ms", as ns. */
int options_read_seconds(const char *text, uint64_t *ns, struct error *error);

/* Reads the ends of a time range; either may be NULL or "" (open). Refuses an empty range. Sets from_ns and to_ns
 * (0: no end). */
int options_read_time(const char *from, const char *to, struct view_options *options, struct error *error);

#endif
