/*
 * Buffered output with one sticky error: the sink keeps the errno of the first failed or short write and ignores
 * later writes, so that a writer checks once, at its end. Life cycle: sink_init, any number of writes, sink_finish.
 */
#ifndef BASE_SINK_H
#define BASE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

struct sink {
	FILE *stream; /* not owned; buffers the sink's bytes */
	bool is_safe; /* the stream is a terminal: text is written by safe_text_write */
	int failure;  /* errno of the first failed write; 0: none */
};

/* Text that goes to a terminal is made safe for it (base/safe_text.h). */
void sink_init(struct sink *sink, FILE *stream);

void sink_write(struct sink *sink, const void *bytes, size_t size);
void sink_text(struct sink *sink, const char *text); /* without its NUL */
void sink_printf(struct sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether a write failed: long loops end early then. */
static inline bool sink_failed(const struct sink *sink)
{
	return sink->failure != 0;
}

/* Flushes the buffered bytes. Returns 0, or the code of the first failure with "cannot write WHAT: REASON" in
 * `error`. */
int sink_finish(struct sink *sink, const char *what, struct error *error);

#endif
