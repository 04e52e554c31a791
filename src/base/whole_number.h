/* Reads a whole number that a user typed. */
#ifndef BASE_WHOLE_NUMBER_H
#define BASE_WHOLE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Sets *number, and returns true if `text` consists of 1 to 18 digits; the number thus fits in 63 bits. */
static inline bool whole_number_read(const char *text, uint64_t *number)
{
	size_t digits = strspn(text, "0123456789");
	if (!digits || text[digits] || digits > 18)
		return false;
	*number = strtoull(text, NULL, 10);
	return true;
}

#endif
