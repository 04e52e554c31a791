/* The present time of a clock, in ns. */
#ifndef COLLECT_SAMPLE_CLOCK_H
#define COLLECT_SAMPLE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(clockid_t clock)
{
	enum { NS_PER_SECOND = 1000000000 };
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

#endif
