/* A number that a user typed. */
#ifndef BASE_WHOLE_NUMBER_H
#define BASE_WHOLE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A whole number that fits in 63 bits, and nothing else. */
static inline bool whole_number_read(const char *text, uint64_t *number)
{
	size_t digits = strspn(text, "0123456789");
	if (!digits || text[digits] || digits > 18)
		return false;
	*number = strtoull(text, NULL, 10);
	return true;
}

#endif
