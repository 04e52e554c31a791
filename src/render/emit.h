/*
 * What the renderers of this folder share.
 *
 * JSON and CSV come from one `struct sheet`: a renderer opens it, adds rows of
 * named fields and closes it, and does not care which of the two it writes. In
 * CSV a row's fields must follow the order of the header given at the opening.
 */
#ifndef RENDER_EMIT_H
#define RENDER_EMIT_H

#include "render/render.h"

struct sheet {
	FILE *out;
	const struct profile *profile;
	const struct label_group *section; /* the result's; NULL: it is no section */
	bool json;
	size_t rows;
	size_t fields; /* of the current row */
};

/* JSON: {"profile": heading, "resource": ..., ..., "entries": [ ; CSV: the header,
 * before the first result. Of two profiles the totals are "a": {"kind": ...,
 * "total_hits": ...}, "b": {...}. */
void sheet_open(struct sheet *sheet, const struct render_document *document, const struct result *result,
		const char *csv_header);
/* The same in two steps: `sheet_begin`, then members of the JSON object that CSV
 * does not have, then `sheet_entries`. */
void sheet_begin(struct sheet *sheet, const struct render_document *document, const struct result *result,
		 const char *csv_header);
void sheet_entries(struct sheet *sheet);
void sheet_row(struct sheet *sheet);
void sheet_text(struct sheet *sheet, const char *name, const char *text);
void sheet_count(struct sheet *sheet, const char *name, uint64_t count);
void sheet_number(struct sheet *sheet, const char *name, double number);
/* A field of JSON alone. */
void sheet_json_number(struct sheet *sheet, const char *name, double number);
/* A finite number in full, so that whole ones are whole. */
void sheet_amount(struct sheet *sheet, const char *name, double amount);
void sheet_flag(struct sheet *sheet, const char *name, bool flag);
/* A JSON array; in CSV one field, the names joined by ';'. */
void sheet_path(struct sheet *sheet, const char *name, const struct view *view, const uint32_t *labels, size_t length);
/* The same of names that are no labels: begin, each name with its index, end. */
void sheet_path_begin(struct sheet *sheet, const char *name);
void sheet_path_name(struct sheet *sheet, size_t index, const char *text);
void sheet_path_end(struct sheet *sheet);
/* A JSON object; in CSV one field, "tenant=acme;kind=new". */
void sheet_labels(struct sheet *sheet, const char *name, const struct label_group *group);
void sheet_row_end(struct sheet *sheet);
/* `left_out`: entries that threshold or limit kept back. */
void sheet_close(struct sheet *sheet, size_t left_out);

void json_number(FILE *out, double number);

/* The first line: `what`, then the heading and the resource. */
void title_print(FILE *out, const char *what, const struct result *result, const struct render_options *options);
/* The paper's three heading lines and the dashes; `format` is the third. */
void heading_print(FILE *out, const struct result *result, const char *format, const struct render_options *options);
/* What the figures in brackets count: "raw_samples", "raw_hits" if a sample may
 * carry several, "raw_gticks" of an exact resource. */
const char *raw_name(const struct view *view);
/* "2676 samples, sampled every 1000000 gticks (1 ms)" */
void samples_print(FILE *out, const struct view *view);
/* Says so, and why, if the view has no hits; the entries would be none. */
bool empty_print(FILE *out, const struct view *view);
/* The same; and if the view has hits but `root`, if any, has none of them. */
bool rootless_print(FILE *out, const struct view *view, const char *root, bool has_hits);

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

/* "tenant=acme kind=new", or "(none)" */
void labels_print(FILE *out, const struct profile *profile, const struct label_group *group);

enum paint { PAINT_HEADING, PAINT_HOT, PAINT_WARM, PAINT_DIM };
void paint_on(FILE *out, enum paint paint, const struct render_options *options);
void paint_off(FILE *out, const struct render_options *options);

/* A source file's lines, if it is found (source.c). */
struct source_text {
	char *bytes;        /* owned */
	const char **lines; /* owned; lines[i] is line i + 1, NUL-terminated */
	size_t count;
};
/* Returns 0, ERROR_NOT_FOUND or ERROR_MEMORY. `directory` may be NULL: where
 * the recorded program ran. */
int source_text_open(struct source_text *source, const char *path, const char *directory);
void source_text_release(struct source_text *source);

/* Beside the sources of the files that the result's lines are in: a heading for each file, then what `print` makes of
 * entries [first, end). Files that were not found are counted in the document. */
void source_files_print(struct render_document *document, const struct result *result,
			void (*print)(FILE *out, const struct line_list *lines, size_t first, size_t end,
				      const struct source_text *source));

/* One for each type of result. Returns 0 or a negative error. */
typedef int result_printer(struct render_document *document, const struct result *result, struct error *error);
result_printer print_paths_result, print_tree_result, print_lines_result, print_line_counts_result, print_pages_result,
	print_labels_result, print_call_graph_result, print_what_if_result, print_diff_result;

#endif
