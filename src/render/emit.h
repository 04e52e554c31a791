/*
 * Functions that the printers of results share (reports/), and the printers of other tables.
 *
 * JSON and CSV are both written through a `struct sheet`: a renderer opens it, adds rows of named fields and closes
 * it, without regard to the format. In CSV, the fields of a row must follow the order of the header that was passed
 * at the opening.
 */
#ifndef RENDER_EMIT_H
#define RENDER_EMIT_H

#include "render/render.h"
#include "render/source_text.h"

struct sheet {
	FILE *out;
	const struct profile *profile;
	const struct label_group *section; /* the result's section; NULL: it is not a section */
	const char *resource; /* the first field of each row in CSV, if its header begins with it; or NULL */
	bool json;
	bool safe; /* `out` is a terminal */
	size_t rows;
	size_t fields; /* number of fields in the current row */
};

/* Begins a result. JSON: {"profile": heading, "resource": ..., ..., "entries": [. CSV: the header, before the first
 * result only. For two profiles, the totals are "a": {"kind": ..., "total_hits": ...}, "b": {...}. */
void sheet_open(struct sheet *sheet, const struct render_document *document, const struct result *result,
		const char *csv_header);
/* The same in two steps: sheet_begin, then members of the JSON object that CSV does not have, then sheet_entries. */
void sheet_begin(struct sheet *sheet, const struct render_document *document, const struct result *result,
		 const char *csv_header);
void sheet_entries(struct sheet *sheet);
void sheet_row(struct sheet *sheet);
void sheet_text(struct sheet *sheet, const char *name, const char *text);
void sheet_count(struct sheet *sheet, const char *name, uint64_t count);
/* A number that is not finite is null in JSON, and an empty field in CSV. */
void sheet_number(struct sheet *sheet, const char *name, double number);
/* The fields "fraction", "error" and "hits" of a row (row_error). */
void sheet_share(struct sheet *sheet, const struct result *result, size_t row, uint64_t hits);
/* A field of JSON only. */
void sheet_json_number(struct sheet *sheet, const char *name, double number);
/* Prints a finite number with all digits, so that whole numbers print as such. */
void sheet_amount(struct sheet *sheet, const char *name, double amount);
void sheet_flag(struct sheet *sheet, const char *name, bool flag);
/* JSON: an array. CSV: one field, the names joined by ';'. */
void sheet_path(struct sheet *sheet, const char *name, const struct view *view, const uint32_t *labels, size_t length);
/* The same for names that are not labels: begin, each name with its index, end. */
void sheet_path_begin(struct sheet *sheet, const char *name);
void sheet_path_name(struct sheet *sheet, size_t index, const char *text);
void sheet_path_end(struct sheet *sheet);
/* JSON: an object. CSV: one field, "tenant=acme;kind=new". */
void sheet_labels(struct sheet *sheet, const char *name, const struct label_group *group);
/* The fields of a source line, from "file" to "total_hits". */
void sheet_line(struct sheet *sheet, const struct result *result, const struct line_entry *entry);
void sheet_row_end(struct sheet *sheet);
/* `left_out` is the number of entries that the threshold or the limit excluded. */
void sheet_close(struct sheet *sheet, size_t left_out);

/* Begins a table that is no result, in JSON or CSV: the array `name` of the document that the caller has begun, or
 * the header. Its rows have the form of a result's rows. Further members of the document may follow sheet_table_close. */
void sheet_table_open(struct sheet *sheet, FILE *out, enum render_format format, const char *name,
		      const char *csv_header);
void sheet_table_close(struct sheet *sheet);
/* A text that may be NULL. JSON: null. CSV: an empty field. */
void sheet_optional_text(struct sheet *sheet, const char *name, const char *text);

void json_number(FILE *out, double number);

/* Prints the first line of a result: `what`, then the heading and the resource. */
void title_print(FILE *out, const char *what, const struct result *result, const struct render_options *options);
/* Prints the three heading lines of the 1993 paper and the dashes; `format` is the text of the third line. */
void heading_print(FILE *out, const struct result *result, const char *format, const struct render_options *options);
/* Returns the name of the numbers in brackets: "raw_samples", "raw_hits" if a sample may have several, or
 * "raw_gticks" for an exact resource. */
const char *raw_name(const struct view *view);
/* Prints "2676 samples, sampled every 1000000 gticks (1 ms)". */
void samples_print(FILE *out, const struct view *view);
/* If the view has no hits, prints that and the reason. Returns whether it has none. */
bool empty_print(FILE *out, const struct view *view);
/* The same; also prints if the view has hits, but `root` (NULL: none) has not, by `has_hits`. Returns whether it
 * printed. */
bool rootless_print(FILE *out, const struct view *view, const char *root, bool has_hits);

/* Whether the rows of a result of paths or of a tree have errors: it is sampled, or corrected. */
bool has_errors(const struct result *result);
/* Returns the error of a row's fraction. `row`: an index in result->paths->entries, or a node of result->tree. */
double row_error(const struct result *result, size_t row, uint64_t hits);
/* Prints " ±0.0123" behind fraction_print if that has not printed an error and the row has one. */
void row_error_print(FILE *out, const struct result *result, size_t row);
/* Prints "0.6801 ±0.0177", coloured by its size; of an exact resource without the error. */
void fraction_print(FILE *out, const struct view *view, uint64_t hits, const struct render_options *options);
double fraction_of(uint64_t hits, uint64_t total);

/* Returns how many entries to show if `reaching` entries pass the threshold. */
size_t shown_entries(size_t reaching, const struct render_options *options);
/* Prints "... 12 more entries, 9 of them below 0.005: --threshold 0 --limit 0 shows all". */
void left_out_print(FILE *out, size_t count, size_t reaching, size_t shown, const struct render_options *options);

/* Prints "... 12 frames share the row of their only caller: --long ..." on a terminal, if `count` is not 0. */
void folded_print(FILE *out, size_t count, const char *what, const struct render_options *options);

/* The source files whose lines were printed. Starts as {0}. */
struct opened_sources {
	struct opened_source {
		const char *path;        /* of the caller, who keeps it */
		struct source_text text; /* empty: not found */
	} * files;
	size_t count, capacity;
	struct file_users access;
	bool failed; /* memory was exhausted: a text is missing */
};
/* Returns the text of a line without its indent, or "" where it is not known. */
const char *line_text(struct opened_sources *opened, const struct profile *profile, const char *path, uint32_t number);
void opened_sources_release(struct opened_sources *opened);

/* Prints "tenant=acme kind=new", or "(none)". */
void labels_print(FILE *out, const struct profile *profile, const struct label_group *group);

enum paint { PAINT_HEADING, PAINT_HOT, PAINT_WARM, PAINT_DIM };
void paint_on(FILE *out, enum paint paint, const struct render_options *options);
void paint_off(FILE *out, const struct render_options *options);

/* Prints the lines of a result beside their sources. For each file, prints a heading and calls `print` for its
 * entries [first, end). Counts files that were not found in the document; their `source` is empty. */
void source_files_print(struct render_document *document, const struct result *result,
			void (*print)(FILE *out, const struct line_list *lines, size_t first, size_t end,
				      const struct source_text *source, const struct render_options *options));

/* Lets render_result return ERROR_MEMORY: a part of the output is missing. */
void render_failed(const struct render_options *options);

#endif
