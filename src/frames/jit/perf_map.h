/*
 * perf maps: the text files in which run-time compilers list the code that they generate, a line "START SIZE NAME" with
 * hexadecimal numbers for each function (Linux, tools/perf/Documentation/jit-interface.txt). A runtime appends a line when it
 * generates code; where memory is used again, the later line is valid from then on. The file has no times, so the last
 * line that contains an address names it.
 */
#ifndef FRAMES_JIT_PERF_MAP_H
#define FRAMES_JIT_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* The name of one address: `length` bytes of the map's `names` from `at` on. */
struct perf_map_name {
	size_t at, length; /* length 0: no line contains the address */
};

/* Reads a map from a descriptor of a regular file, from its beginning, whatever the descriptor's position is. Sets the
 * names of `count` addresses, which ascend; `names` gets the texts. Lines of another form are skipped, as is a last line
 * that is not complete. Returns 0, ERROR_MEMORY, or ERROR_SYSTEM with errno set. */
int perf_map_read(int fd, const uint64_t *addresses, size_t count, struct perf_map_name *found, struct buffer *names);

#endif
