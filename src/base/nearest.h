/* The similarity of two words, for "did you mean". */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

enum { TEXT_DISTANCE_MAX = 63 };

/* Returns the edit distance of two words, in which an exchange of neighbours counts as one edit (optimal string
 * alignment: Damerau 1964, Levenshtein 1966). Compares the first TEXT_DISTANCE_MAX bytes of longer words. */
size_t text_distance(const char *a, const char *b);

/* Whether a user who typed `typed` may have meant `word`: their distance is at most a third of the longer one's
 * length, or one is the start of the other (at least 2 bytes). */
int text_resembles(const char *typed, const char *word);

#endif
