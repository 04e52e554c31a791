/* The columns that UTF-8 text takes on a terminal: two for wide characters (East Asian, emoji),
 * none for combining characters, one for all others and for each byte that is not UTF-8. */
#ifndef BASE_COLUMNS_H
#define BASE_COLUMNS_H

#include <stddef.h>

/* Returns the columns of `size` bytes. */
size_t text_columns(const char *text, size_t size);

/* Returns the length in bytes of the longest beginning that takes at most `most` columns. */
size_t text_begin(const char *text, size_t size, size_t most);
/* Returns where the longest end begins that takes at most `most` columns. */
size_t text_end(const char *text, size_t size, size_t most);

/* Returns the length in bytes of the character at `text`, and sets *columns to its columns. `size` is at least 1. */
size_t text_character(const char *text, size_t size, size_t *columns);

#endif
