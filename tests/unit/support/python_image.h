/*
 * The memory of a Python 3.11 process, as far as a walk of its frames reads it: two interpreters, threads, and two runs of
 * frames of the second thread of the second interpreter.
 *
 *   run 1 (innermost): inner, outer (its entry)      run 2: main (its entry)
 */
#ifndef TESTS_PYTHON_IMAGE_H
#define TESTS_PYTHON_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/interpreter.h"

enum { PYTHON_IMAGE_BYTES = 16 * 1024, PYTHON_IMAGE_TID = 4321 };

struct python_image {
	uint8_t bytes[PYTHON_IMAGE_BYTES];
	uint64_t start; /* address of the first byte */
	size_t used;
	struct interpreter interpreter;
	uint64_t codes[3];   /* inner, outer, main */
	uint64_t cframes[2]; /* of the runs */
};

/* Fills in the image. `layout` is the layout of 3.11. */
void python_image_make(struct python_image *image, const struct python_layout *layout);

/* Copies from the image. Returns 0, or -1 if it does not have all bytes. */
int python_image_copy(const struct python_image *image, void *to, uint32_t bytes, uint64_t address);

#endif
