/* Reads parts of a file that a process may still write, through a window. */
#ifndef FRAMES_JIT_DUMP_READER_H
#define FRAMES_JIT_DUMP_READER_H

#include <stddef.h>
#include <stdint.h>

enum { DUMP_WINDOW_BYTES = 64 * 1024 };

struct dump_reader {
	int fd;
	int number; /* errno of a read that failed; 0: none did */
	uint64_t start;
	size_t size; /* of the window */
	uint8_t window[DUMP_WINDOW_BYTES];
};

/* Returns up to `size` bytes, at most DUMP_WINDOW_BYTES, at an offset, and sets *got to their number. Valid until the next call. */
const uint8_t *dump_reader_at(struct dump_reader *reader, uint64_t offset, size_t size, size_t *got);

#endif
