/* Reads the symbols of an image, through elfutils and libiberty: in a jail, as gprof/image.c calls it. */
#ifndef GPROF_IMAGE_READ_H
#define GPROF_IMAGE_READ_H

#include "gprof/image.h"

/* Fills in the symbols and labels from `image->file`. `texts`, `text_start` and `text_end` must have been set. Returns 0,
 * ERROR_MEMORY or ERROR_LIMIT. */
int image_read(struct image *image, const struct image_options *options);

#endif
