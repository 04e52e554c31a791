/*
 * Buffered output with one sticky error: the first write that fails or is short
 * keeps its errno, all later ones do nothing, and the writer checks once, at
 * its end. Life cycle: sink_init, any number of writes, sink_finish.
 */
#ifndef BASE_SINK_H
#define BASE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

struct sink {
	FILE *stream; /* not owned; its buffer is the sink's */
	int failure;  /* errno of the first write that failed; 0: none did */
};

void sink_init(struct sink *sink, FILE *stream);

void sink_write(struct sink *sink, const void *bytes, size_t size);
void sink_text(struct sink *sink, const char *text); /* without its NUL */
void sink_printf(struct sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Lets long loops end early. */
static inline bool sink_failed(const struct sink *sink)
{
	return sink->failure != 0;
}

/* Hands over the bytes that are still buffered. Returns 0, or the code of the
 * first failure with "cannot write WHAT: REASON" in `error`. */
int sink_finish(struct sink *sink, const char *what, struct error *error);

#endif
