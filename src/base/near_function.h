/* The similarity of a typed word and the name of a function, C or C++, for "did you mean". */
#ifndef BASE_NEAR_FUNCTION_H
#define BASE_NEAR_FUNCTION_H

#include <stddef.h>

enum { NEAR_FUNCTION_TOO_FAR = 1 << 20 };

/* Returns a score that is smaller for a more similar name, or NEAR_FUNCTION_TOO_FAR for a name that is not similar. It
 * compares, without regard to case, by edit distance and common substring, the typed word with the whole name and with
 * its last components. `name` has `length` bytes, and may have a suffix behind them. `scratch` has room for the name. */
size_t near_function_score(const char *typed, const char *name, size_t length, char *scratch);

#endif
