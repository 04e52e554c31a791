/*
 * Writes the JSON of other tools: numbers and strings into a buffer, which goes in parts to a sink
 * or, compressed, to a gzip: for files with millions of numbers, for which printf is too slow. The
 * first error sticks.
 *
 * Life cycle: json_out_init, writes, json_out_end, which also releases it.
 */
#ifndef FORMATS_JSON_OUT_H
#define FORMATS_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/sink.h"
#include "formats/gzip.h"

struct json_out {
	struct buffer buffer;
	struct sink *sink; /* not owned */
	struct gzip *gzip; /* not owned; NULL: the sink gets the text */
	int status;        /* 0 or ERROR_MEMORY */
};

void json_out_init(struct json_out *out, struct sink *sink, struct gzip *gzip);
/* Writes the rest. Returns 0 or ERROR_MEMORY; a failed write is in the sink. */
int json_out_end(struct json_out *out);

/* Whether nothing more can be written: long loops end early then. */
static inline bool json_out_failed(const struct json_out *out)
{
	return out->status < 0 || sink_failed(out->sink);
}

void json_out_text(struct json_out *out, const char *text); /* as it is: punctuation and keys */
void json_out_bytes(struct json_out *out, const char *bytes, size_t size);
void json_out_number(struct json_out *out, uint64_t number);
void json_out_string(struct json_out *out, const char *text);
/* A number of `scale` parts of a unit, such as 1000000 (ns of a ms): "12.000345". `scale` is a power of ten. */
void json_out_decimal(struct json_out *out, uint64_t number, uint64_t scale);

/* A resource: its name and title, and the unit of its amounts. */
struct json_out_resource {
	const char *name, *title, *unit;
};
/* The time in the calls of a trace. */
extern const struct json_out_resource json_out_trace;

/* Writes the member "resource", which other tools ignore, and by which json_import_own knows the resource: ,"resource":{"name":"cpu",...}. */
void json_out_resource(struct json_out *out, const struct json_out_resource *resource);

/* The elements of an array: writes "," before each but the first. `*count` is 0 at first. */
static inline void json_out_comma(struct json_out *out, size_t *count)
{
	if ((*count)++ > 0)
		json_out_text(out, ",");
}

#endif
