/* Places in the text of a source. */
#ifndef COLLECT_SOURCE_CONTEXTUALIZE_LINES_H
#define COLLECT_SOURCE_CONTEXTUALIZE_LINES_H

#include <stdint.h>

/* Returns the start of the line of an offset. */
uint32_t lines_start(const char *text, uint32_t offset);

/* Returns the start of the first line of a declaration and of its comment. libclang's range of it begins behind
 * attributes ([[nodiscard]]) and extern "C", which may be in lines of their own. */
uint32_t lines_first(const char *text, uint32_t start);

#endif
