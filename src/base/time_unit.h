/* The units of time, as resources and options have them, and ns of the clock. */
#ifndef BASE_TIME_UNIT_H
#define BASE_TIME_UNIT_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the ns in one "ns", "us", "ms" or "s", or 0 for another unit. */
uint64_t time_unit_ns(const char *unit);

struct timespec;

/* Sets ns since 1970. Returns false if they are out of range: a file can be of the year 2300. */
bool time_unix_ns(const struct timespec *time, int64_t *ns);

#endif
