/* Word lists for messages: the names of a table's rows, in the order of the rows, and "text, json or csv" made of them. */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <stddef.h>

/* Returns word number `index`, from 0, or NULL past the last. */
typedef const char *word_at(size_t index);

/* Writes "text, json or csv" into `list`, cut to `bytes` (at least 1).
 * Returns `list`. */
char *words_list(word_at *words, char *list, size_t bytes);

#endif
