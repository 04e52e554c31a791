/* Amounts of memory as text. */
#ifndef BASE_MEMORY_SIZE_H
#define BASE_MEMORY_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads "512M", "4G", "1.5GiB" or a number of bytes; the units are powers of 1,024. Returns
 * false if the text is none of these. */
bool memory_size_read(const char *text, uint64_t *bytes);

enum { MEMORY_SIZE_TEXT_BYTES = 32 };
/* Writes "1.5 GiB" into `text` [MEMORY_SIZE_TEXT_BYTES] and returns it. */
const char *memory_size_text(uint64_t bytes, char *text);

#endif
