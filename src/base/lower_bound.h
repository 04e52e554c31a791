/* Binary search in a sequence that a condition divides. */
#ifndef BASE_LOWER_BOUND_H
#define BASE_LOWER_BOUND_H

#include <stddef.h>

/* Returns the first `i` of first ... end - 1 for which `is_before`, an expression of i, is false,
 * or `end` if it is true for all of them. It must be true for no index behind one for which it is
 * false. For example, this is the first mapping that ends behind an address:
 *
 *     size_t at = LOWER_BOUND(i, 0, maps->count, maps->items[i].end <= address);
 */
#define LOWER_BOUND(i, first, end, is_before)                 \
	({                                                    \
		size_t low_ = (first), high_ = (end);         \
		while (low_ < high_) {                        \
			size_t i = low_ + (high_ - low_) / 2; \
			if (is_before)                        \
				low_ = i + 1;                 \
			else                                  \
				high_ = i;                    \
		}                                             \
		low_;                                         \
	})

#endif
