/*
 * The memory of a Python process, as far as a walk of its frames reads it: two interpreters, threads, and two runs of frames
 * of the second thread of the second interpreter.
 *
 *   run 1 (innermost): inner, outer      run 2: main
 *
 * Before 3.12 the last frame of a run is its entry. Since then, a frame that C owns follows it, and between inner and outer is
 * one of the interpreter's own code, which is from no file.
 */
#ifndef TESTS_PYTHON_IMAGE_H
#define TESTS_PYTHON_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/interpreter.h"

enum { PYTHON_IMAGE_BYTES = 32 * 1024, PYTHON_IMAGE_TID = 4321 };

struct python_image {
	uint8_t bytes[PYTHON_IMAGE_BYTES];
	uint64_t start; /* address of the first byte */
	size_t used;
	struct interpreter interpreter;
	uint64_t codes[3]; /* inner, outer, main */
	uint64_t frame;    /* the innermost one */
	uint64_t runs[2];  /* addresses in the native frames that interpret them */
};

/* Fills in the image, as the layout wants it. */
void python_image_make(struct python_image *image, const struct python_layout *layout);

/* Copies from the image. Returns 0, or -1 if it does not have all bytes. */
int python_image_copy(const struct python_image *image, void *to, uint32_t bytes, uint64_t address);

#endif
