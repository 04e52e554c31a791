/* How alike two words are: for "did you mean". */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

enum { TEXT_DISTANCE_MAX = 63 };

/* The edit distance of two words, an exchange of neighbours counting as one
 * (optimal string alignment: Damerau 1964, Levenshtein 1966). Of longer words,
 * the first TEXT_DISTANCE_MAX bytes are compared. */
size_t text_distance(const char *a, const char *b);

/* Whether a user who typed `typed` may have meant `word`: a distance of at
 * most a third of the longer word, or one being the start of the other. */
int text_resembles(const char *typed, const char *word);

#endif
