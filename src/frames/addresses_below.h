/* The search by which readers of maps of symbols find the addresses in a range. */
#ifndef FRAMES_ADDRESSES_BELOW_H
#define FRAMES_ADDRESSES_BELOW_H

#include <stddef.h>
#include <stdint.h>

/* Returns how many of `count` ascending addresses are below `limit`. */
static inline size_t addresses_below(const uint64_t *addresses, size_t count, uint64_t limit)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (addresses[middle] < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
