/*
 * The digest of a profile for readers with little room: the facts of the first report in rows, the most important first, as many as fit
 * into a number of bytes.
 */
#ifndef REPORTS_DIGEST_H
#define REPORTS_DIGEST_H

#include "render/render.h"

enum { DIGEST_BYTES_LEAST = 512, DIGEST_BYTES_DEFAULT = 2048, DIGEST_BYTES_MOST = 1 << 20 };

/* Prints a digest of at most `budget` bytes, at least DIGEST_BYTES_LEAST, as text or JSON. results->items[0] is the summary of one
 * resource; the others are body profiles of other resources of the same profile. Each kind of row gets its first row before any gets
 * its second. Returns 0 or ERROR_MEMORY with `error` set. */
int render_digest(FILE *out, const struct results *results, const struct render_options *options, size_t budget,
		  struct error *error);

#endif
