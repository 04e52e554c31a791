/*
 * -l: the image's functions are split into their source lines, so that all reports are about these.
 *
 *	before	main 0x1139-0x1180
 *	after	main draw.c:12 0x1139-0x1144, main draw.c:13 0x1144-0x1158, main draw.c:12 0x1158-0x1180
 *
 * A line that has code in several places is several symbols, as with gprof; only the first of a function is the
 * function. An inlined line has the name of the function that it was written in.
 */
#ifndef GPROF_LINES_H
#define GPROF_LINES_H

#include "gprof/image.h"

/* ERROR_MEMORY, ERROR_LIMIT; without debug information nothing changes. */
int lines_split(struct image *image, const struct image_options *options);

#endif
