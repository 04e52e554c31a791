/* Reads the symbols of an image, through elfutils and libiberty: in a jail, as gprof/image.c calls it. */
#ifndef GPROF_IMAGE_READ_H
#define GPROF_IMAGE_READ_H

#include "gprof/image.h"

/* Fills in the symbols and labels from `image->file`. `texts`, `text_start` and `text_end` must
 * have been set. Returns 0, ERROR_MEMORY or ERROR_LIMIT. */
int image_read(struct image *image, const struct image_options *options);

/*
 * lines.c, for -l: splits the image's functions into their source lines, so that all reports show lines.
 *
 *	before	main 0x1139-0x1180
 *	after	main draw.c:12 0x1139-0x1144, main draw.c:13 0x1144-0x1158, main draw.c:12 0x1158-0x1180
 *
 * A line with several separate pieces of code is several symbols, as in gprof; only a function's first symbol is the
 * function. An inlined line has the name of the function that it was written in.
 */

/* Runs in a jail, while the image is read. Returns 0, ERROR_MEMORY or ERROR_LIMIT. Does not
 * change an image without debug information. */
int lines_split(struct image *image, const struct image_options *options);

#endif
