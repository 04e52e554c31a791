/* The size of a requested allocation, for the eBPF programs and the agent. */
#ifndef COLLECT_SHARED_ALLOCATION_H
#define COLLECT_SHARED_ALLOCATION_H

#include "abi/integers.h"

/* An allocation of as many bytes as there are addresses always fails: its bytes are not counted. */
#define ALLOCATION_ADDRESSES (1ull << 47)

/* Returns the product, or ALLOCATION_ADDRESSES if a factor reaches that, or if both factors reach 2^24. */
static inline uint64_t allocation_product(uint64_t amount, uint64_t factor)
{
	if (amount >= ALLOCATION_ADDRESSES || factor >= ALLOCATION_ADDRESSES)
		return amount && factor ? ALLOCATION_ADDRESSES : 0;
	/* Both are below 2^47. Two factors of at least 2^24 make at least 2^48. */
	uint64_t high = (amount >> 24) * (factor >> 24);
	return high ? ALLOCATION_ADDRESSES : amount * factor;
}

#endif
