#ifndef COLLECT_SAMPLE_CLOCK_H
#define COLLECT_SAMPLE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns the present time of a clock, in ns. CLOCK_MONOTONIC is the kernel's own, by which it
 * stamps events, also where a time namespace has another one (collect/shared/time_offset.h). */
uint64_t clock_now_ns(clockid_t clock);

#endif
