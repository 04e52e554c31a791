/*
 * Prints results as text, JSON and CSV, by their type. All commands print results through this folder. It writes to
 * a stream; a failed write sets the error state of the stream, which the caller checks.
 *
 * Text keeps the form of the 1993 paper. Every name is made safe for a terminal (base/safe_text.h): control characters are
 * printed as \x1b, characters that change the direction of text or are invisible as \u202e. JSON is one object per document
 * (docs/formats.md), with the same characters escaped; CSV is one header and its rows, with names as they are unless it goes to a
 * terminal. In both, fractions are of the whole selection (H), and bytes that are not UTF-8 become U+FFFD.
 *
 * Life cycle of a document: render_begin, render_result for each result, render_end.
 */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json_string.h"
#include "profile/profile.h"
#include "render/result.h"

/* The names are in render_format_word's order. Those from RENDER_CSV on are for tables alone. */
enum render_format { RENDER_TEXT, RENDER_JSON, RENDER_CSV };
/* word_at (base/words.h): "text", ... by enum render_format; and those that any
 * document has, tables or not. */
const char *render_format_word(size_t format);
const char *render_document_word(size_t format);

/* Fractions from these on are coloured. */
#define RENDER_SHARE_HOT 0.2
#define RENDER_SHARE_WARM 0.05

struct render_options {
	enum render_format format;
	double threshold; /* usage fraction below which an entry is not shown */
	size_t limit;     /* maximum of entries; 0: all */
	bool colour;      /* text only */
	int columns;      /* text only, of the terminal; 0: rows of any length, names in full, nothing folded */
	int lines;        /* of the terminal, which the summary fits into; 0: no terminal */
	const char *file; /* text only: the profile's file, for commands that are proposed; NULL: the default */
	/* Text only, for commands that are proposed: the options that selected what is shown, each behind a blank (" --thread 2 --from 1"), or NULL. */
	const char *selection;
	/* Text only, may be NULL: the closing line's hint how to see the entries that were left out: "--threshold 0
	 * --limit 0 shows all". */
	const char *hint;
	int *failure; /* render_result's: gets ERROR_MEMORY where a printer cannot return it. The caller leaves it NULL */
};

enum { RENDER_PATH_BYTES = 256 };

/* A sequence of results in one output. */
struct render_document {
	FILE *out;
	struct render_options options;
	size_t count; /* number of results printed */

	/* Text only: the number of source files that were not found. Their lines are printed without text. */
	size_t absent_count;
	char absent[RENDER_PATH_BYTES]; /* path of the first of them */
	bool absent_is_refused;         /* the users of the profile's processes may not read it */
};

/* The members that all JSON documents have. */
struct render_envelope {
	const char *command;           /* "report" */
	const char *report;            /* the report's name, or NULL */
	const struct profile *profile; /* its findings are printed; NULL: none, or a comparison's */
	/* of a comparison: the profiles of A, then the profiles of B; their findings are printed */
	const struct profile *const *profiles;
	size_t counts[DIFF_SIDES];
};

/* Prints the beginning of a JSON document; text and CSV have none. */
void render_begin(struct render_document *document, FILE *out, const struct render_options *options,
		  const struct render_envelope *envelope);
/* Prints one result. Threshold and limit apply to lists, trees, pages, labels and differences. For a tree, the limit
 * keeps the heaviest nodes, which are always connected. Source lines are all printed; their files are searched at
 * the recorded path, then in the directory where the program ran, then below the current directory. Returns 0 or a
 * negative error. */
int render_result(struct render_document *document, const struct result *result, struct error *error);
void render_end(struct render_document *document);
/* Returns why the file `absent` is not shown, and the remedy in parentheses. */
const char *render_absence(const struct render_document *document);

/* Prints what was recorded and the quality of the recording, as text or JSON. Returns 0 or ERROR_MEMORY. */
int render_info(FILE *out, const struct profile *profile, const char *file_name, uint64_t file_bytes,
		const struct render_options *options);

/* Prints the start of a JSON document, up to the comma before its own members:
 * {"schema": 1, "command": "report", "findings": [], */
void render_json_begin(FILE *out, const struct render_envelope *envelope);

/* Prints `text`, with control characters and invalid UTF-8 as \x escapes. */
void render_safe_text(FILE *out, const char *text);

/* Writes the share of `hits` in a view for people: "67.1 % ±1.8", without an error where the view is exact; `sign` stands for ±.
 * `corrected`: the error of a corrected resource, in gticks; NULL: none. Returns `text`. */
char *render_share(char *text, size_t bytes, const struct view *view, uint64_t hits, const uint64_t *corrected,
		   const char *sign);
/* Writes an amount of a resource's unit for people: "1.25 s", "3 ms", "1 fault", "12 faults". Writes at most
 * `bytes`, always with a NUL. Returns `text`. */
char *render_amount(char *text, size_t bytes, double gticks, const char *unit);
/* The same with all digits, "512,345,678 bytes"; times as in render_amount. */
char *render_count(char *text, size_t bytes, uint64_t gticks, const char *unit);
/* The same for an interval: "1 ms", "64 KiB" if it is a whole number of KiB, "65,537 bytes". */
char *render_interval(char *text, size_t bytes, uint64_t gticks, const char *unit);
/* Returns whether the unit is one of time: "ns", "us", "ms". */
bool render_is_time(const char *unit);

#endif
