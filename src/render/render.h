/*
 * Results as text, JSON and CSV, by their type: every consumer prints through
 * this folder. Writes to a stream; a failed write shows in the stream's own
 * error state, which the caller looks at.
 *
 * Text keeps the form of the 1993 paper. Every name is made safe for a
 * terminal: control characters are printed as \x1b. JSON is one object per
 * document (docs/json.md), CSV one header and its rows; in both, fractions are
 * of the whole selection (H) and bytes that are no UTF-8 become U+FFFD.
 *
 * Life cycle of a document: render_begin, render_result for each result,
 * render_end.
 */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"
#include "reports/result.h"

/* The names are in render_format_word's order. Those from RENDER_CSV on are for tables alone. */
enum render_format { RENDER_TEXT, RENDER_JSON, RENDER_CSV };
/* word_at (base/words.h): "text", ... by enum render_format; and those that any
 * document has, tables or not. */
const char *render_format_word(size_t format);
const char *render_document_word(size_t format);

struct render_options {
	enum render_format format;
	double threshold; /* usage fraction below which an entry is not shown */
	size_t limit;     /* entries shown; 0: all */
	bool colour;      /* text only */
	/* Text only, may be NULL: how to see what was left out, for the closing
	 * line: "--threshold 0 --limit 0 shows all". */
	const char *hint;
};

enum { RENDER_PATH_BYTES = 256 };

/* Results in one output. */
struct render_document {
	FILE *out;
	struct render_options options;
	size_t count; /* results printed */

	/* Text only: source files that were not found; their lines have no text. */
	size_t absent_count;
	char absent[RENDER_PATH_BYTES]; /* the first of them */
};

/* The members that all JSON documents have. */
struct render_envelope {
	const char *command;           /* "report" */
	const char *report;            /* the report's name, or NULL */
	const struct profile *profile; /* its findings are printed; NULL: there is none */
	const struct profile *other;   /* likewise, if two are compared */
};

/* Text and CSV have no beginning. */
void render_begin(struct render_document *document, FILE *out, const struct render_options *options,
		  const struct render_envelope *envelope);
/* Threshold and limit apply to lists, trees, pages, labels and differences. Of
 * source lines all are printed; their files are looked for at the recorded path,
 * then below the current directory. Of a tree the limit keeps the heaviest nodes,
 * which always hang together. Returns 0 or a negative error. */
int render_result(struct render_document *document, const struct result *result, struct error *error);
void render_end(struct render_document *document);

/* What was recorded and how good it is. Text or JSON. */
void render_info(FILE *out, const struct profile *profile, const char *file_name, uint64_t file_bytes,
		 const struct render_options *options);

/* The start of each JSON document, up to and with the last comma:
 * {"schema": 1, "command": "report", "findings": [], */
void render_json_begin(FILE *out, const struct render_envelope *envelope);
/* "text", quoted and escaped; broken UTF-8 becomes U+FFFD. */
void render_json_string(FILE *out, const char *text);

/* `text` with control characters and broken UTF-8 made visible. */
void render_safe_text(FILE *out, const char *text);

/* An amount of a resource's unit as people say it: "1.25 s", "3 ms", "1 fault",
 * "12 faults". Writes at most `bytes`, always with a NUL; returns `text`. */
char *render_amount(char *text, size_t bytes, double gticks, const char *unit);
/* To the last gtick, "512,345,678 bytes"; but times as above. */
char *render_count(char *text, size_t bytes, uint64_t gticks, const char *unit);
/* "1 ms", "64 KiB" if it is whole KiB, "65,537 bytes". */
char *render_interval(char *text, size_t bytes, uint64_t gticks, const char *unit);
/* Whether the unit is one of time: "ns", "us", "ms". */
bool render_is_time(const char *unit);

#endif
