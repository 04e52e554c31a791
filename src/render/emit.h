/*
 * What the renderers of this folder share.
 *
 * JSON and CSV come from one `struct table`: a renderer opens it, adds rows of
 * named fields and closes it, and does not care which of the two it writes. In
 * CSV a row's fields must follow the order of the header given at the opening.
 */
#ifndef RENDER_EMIT_H
#define RENDER_EMIT_H

#include "render/render.h"

struct table {
	FILE *out;
	bool json;
	size_t rows;
	size_t fields; /* of the current row */
};

/* JSON: {"profile": heading, "resource": ..., ..., "entries": [ ; CSV: the header. */
void table_open(struct table *table, FILE *out, const char *heading, const struct view *view, const char *csv_header,
		const struct render_options *options);
void table_row(struct table *table);
void table_text(struct table *table, const char *name, const char *text);
void table_count(struct table *table, const char *name, uint64_t count);
void table_number(struct table *table, const char *name, double number);
void table_flag(struct table *table, const char *name, bool flag);
/* A JSON array; in CSV one field, the names joined by ';'. */
void table_path(struct table *table, const char *name, const struct view *view, const uint32_t *labels, size_t length);
void table_row_end(struct table *table);
/* `left_out`: entries that threshold or limit kept back. */
void table_close(struct table *table, size_t left_out);

/* "text", quoted and escaped; broken UTF-8 becomes U+FFFD. */
void json_string(FILE *out, const char *text);
void json_number(FILE *out, double number);

/* The paper's three heading lines and the dashes; `format` is the third. */
void heading_print(FILE *out, const char *heading, const struct view *view, const char *format,
		   const struct render_options *options);
/* What the figures in brackets count: "raw_samples", "raw_hits" if a sample may
 * carry several, "raw_gticks" of an exact resource. */
const char *raw_name(const struct view *view);
/* "2676 samples, sampled every 1000000 gticks (1 ms)" */
void samples_print(FILE *out, const struct view *view);
/* Says so, and why, if the view has no hits; the entries would be none. */
bool empty_print(FILE *out, const struct view *view);

/* "0.6801 ±0.0177", in colour by its weight. */
void fraction_print(FILE *out, const struct view *view, uint64_t hits, const struct render_options *options);
double fraction_of(uint64_t hits, uint64_t total);

/* How many of `count` entries to show, given how many reach the threshold. */
size_t shown_entries(size_t reaching, const struct render_options *options);
/* "... 12 more entries (9 below 0.005): --threshold 0 --limit 0 shows all" */
void left_out_print(FILE *out, size_t count, size_t reaching, size_t shown, const struct render_options *options);

/* render_safe_text, but tabs stay: for source lines. */
void source_text_print(FILE *out, const char *text);
/* Names joined by `separator`. */
void names_print(FILE *out, const struct view *view, const uint32_t *labels, size_t length, const char *separator);

enum paint { PAINT_HEADING, PAINT_HOT, PAINT_WARM, PAINT_DIM };
void paint_on(FILE *out, enum paint paint, const struct render_options *options);
void paint_off(FILE *out, const struct render_options *options);

/* A source file's lines, if it is found (source.c). */
struct source {
	char *bytes;        /* owned */
	const char **lines; /* owned; lines[i] is line i + 1, NUL-terminated */
	size_t count;
};
/* Returns 0, ERROR_NOT_FOUND or ERROR_MEMORY. `directory` may be NULL: where
 * the recorded program ran. */
int source_open(struct source *source, const char *path, const char *directory);
void source_release(struct source *source);

#endif
