/*
 * Results as text, JSON or CSV: the one place that knows how a profile looks.
 * Used by cmd/ and explore/. Writes to a stream and nowhere else; a failed
 * write shows in the stream's own error state, which the caller looks at once.
 *
 * Text keeps the form of the 1993 paper. Every name is made safe for a
 * terminal: control characters are printed as \x1b. JSON is one object per
 * call, CSV one header and its rows; in both, fractions are of the whole
 * selection (H) and bytes that are no UTF-8 become U+FFFD.
 */
#ifndef RENDER_RENDER_H
#define RENDER_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/analyses.h"
#include "analyze/label_groups.h"
#include "analyze/pages.h"
#include "analyze/view.h"
#include "profile/profile.h"

enum render_format { RENDER_TEXT, RENDER_JSON, RENDER_CSV };

struct render_options {
	enum render_format format;
	double threshold; /* usage fraction below which an entry is not shown */
	size_t limit;     /* entries shown; 0: all */
	bool colour;      /* text only */
	/* Text only, may be NULL: how to see what was left out, for the closing
	 * line: "--threshold 0 --limit 0 shows all". */
	const char *hint;
	bool no_header; /* CSV only: a later run of a table that has its header already */
	/* The view is of this group of labels alone: its heading says so, in CSV a first
	 * column. NULL: it is not. */
	const struct label_group *section;
	size_t sections_left_out; /* groups of labels that threshold or limit kept back */
};

/* Several results in one output: called before result `index` of `count`, and
 * once more with index == count. An empty line between texts, an array around
 * JSON objects (if there are several), nothing in CSV. */
void render_separate(FILE *out, enum render_format format, size_t index, size_t count);

/* The paper's two kinds of list. Entries of a function or body profile are
 * bare names, `1.0000 ±0.0014 main [614]`; those of the downward and upward
 * profiles are paths in parentheses. `heading`: "Function Profile", ...; `root`:
 * what the paths start or end at is called, for saying that it has no hits. */
void render_names(FILE *out, const char *heading, const struct view *view, const struct path_list *list,
		  const struct render_options *options);
void render_paths(FILE *out, const char *heading, const char *root, const struct view *view,
		  const struct path_list *list, const struct render_options *options);

/* The sample tree, or what of it hangs below `root` (NULL: all); children by
 * decreasing weight. The limit keeps the heaviest
 * nodes, which always hang together. Returns 0 or
 * ERROR_MEMORY (then nothing was written). */
int render_tree(FILE *out, const char *root, const struct view *view, const struct render_options *options);

/* Source lines with their hits; threshold and limit do not apply. Source files
 * are looked for at their recorded path, then below the current directory.
 * Returns how many files were not found (text only): their lines are shown
 * without text. The first such path is copied to `missing` (may be NULL). */
size_t render_lines(FILE *out, const char *function, const struct view *view, const struct line_list *lines,
		    const struct render_options *options, char *missing, size_t missing_bytes);

/* The same of analyze_line_counts: executions, and between them the lines without code. */
size_t render_line_counts(FILE *out, const char *function, const struct view *view, const struct line_list *lines,
			  const struct render_options *options, char *missing, size_t missing_bytes);

/* Touched memory by mapping, and below each the paths that touched it, all by
 * decreasing hits. Threshold and limit apply to the mappings, and to the paths of
 * each. Returns 0 or ERROR_MEMORY (then nothing was written). */
int render_pages(FILE *out, const struct view *view, const struct page_list *list,
		 const struct render_options *options);

/* The groups with their share of the view's hits. */
void render_labels(FILE *out, const struct view *view, const struct label_group_list *list,
		   const struct render_options *options);
/* How many of the groups threshold and limit let through, the first ones; *reaching: the threshold alone. */
size_t render_label_groups_shown(const struct view *view, const struct label_group_list *list,
				 const struct render_options *options, size_t *reaching);
/* After the last section: that there are more, in text (JSON's headings say so). */
void render_sections_left_out(FILE *out, const struct render_options *options);

void render_diff(FILE *out, const char *heading, const struct view *a, const struct view *b,
		 const struct diff_list *list, const struct render_options *options);
/* The paths' steps by their names. */
void render_what_if(FILE *out, const struct view *view, const struct what_if *paths, size_t count,
		    const struct what_if_result *result, const struct render_options *options);

/* What was recorded and how good it is. Text or JSON. */
void render_info(FILE *out, const struct profile *profile, const char *file_name, uint64_t file_bytes,
		 const struct render_options *options);

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
