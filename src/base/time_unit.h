/* The units of time, as resources and options have them. */
#ifndef BASE_TIME_UNIT_H
#define BASE_TIME_UNIT_H

#include <stdint.h>

/* Returns the ns in one "ns", "us", "ms" or "s", or 0 for another unit. */
uint64_t time_unit_ns(const char *unit);

#endif
