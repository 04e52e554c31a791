/* The parts of the summary (summary.c), some of which the digest has too. */
#ifndef REPORTS_SUMMARY_H
#define REPORTS_SUMMARY_H

#include <stddef.h>

#include "render/emit.h"
#include "render/names.h"

/* --- the lines of a screen, divided among parts (summary_rows.c) --- */

/* A part is a title and rows. */
struct plan_part {
	size_t rows;           /* number of rows that it can print */
	size_t least;          /* number of rows that it gets before another part gets more */
	const size_t *heights; /* [rows]: lines of each row; NULL: one each */
	size_t shown;          /* set by plan_rows: number of rows to print; 0: the part is left out */
};

/* Gives each part its least rows, in this order of importance, as long as there are lines, then one row more in turns. `order`: a
 * permutation of the parts' indices. `gap`: number of lines before each title. */
void plan_rows(struct plan_part *parts, const unsigned char *order, size_t count, size_t gap, size_t lines);

/* --- rows (summary_rows.c): the figures before a name, and the hot path --- */

enum { FIGURES_WIDTH = 28 };

/* Prints "  67.1 % ±1.8     1.2 s  ", FIGURES_WIDTH columns. `error`: of a corrected resource, in gticks; NULL: none. */
void figures_print(FILE *out, const struct view *view, uint64_t hits, const uint64_t *error,
		   const struct render_options *options);

/* Returns the length of the selected time, within the recording. */
uint64_t summary_selected_ns(const struct view *view);
/* Whether a view has a part of the hits only, so that totals of the recording say nothing of it. */
bool summary_is_part(const struct view *view);

/* Whether own code and library code both have hits: else all rows of own code would repeat the rows of the bodies. */
bool summary_has_own(const struct result *result);
/* Whether functions have waits beside their own use. */
bool summary_has_waits(const struct result *result);
/* Whether so much is in the kernel that its rows are worth their place. */
bool summary_has_kernel(const struct result *result);

/*
 * The hot path. A repeated cycle of frames (recursion) has one row with the number of its repetitions. Frames between the first and the
 * last of a chain with equal hits are only counted, except for the last one of own code: mostly, they pass calls on. Where the path ends, its
 * branches follow: the children of its last frame with 5 % of all hits or more.
 *
 * Life cycle: hot_path_rows_init, hot_path_rows_print, hot_path_rows_release (also after an error).
 */
struct hot_path_row {
	uint32_t first;  /* index in `nodes` */
	uint32_t frames; /* number of nodes in this row; of a cycle in all repetitions */
	uint32_t period; /* number of nodes of a cycle; 0: the row only counts its nodes */
};

struct hot_path_rows {
	uint32_t *nodes, *labels; /* [frames], from the root on */
	size_t frames;
	struct hot_path_row *rows; /* [count]: count <= frames */
	size_t count;
	uint32_t *branches; /* [branch_count]: nodes at which the path could go on, by decreasing weight */
	size_t branch_count;
	const bool *is_own; /* [label_count]; not owned */
};

/* `is_own`: of own_code.h, must outlive the rows. Returns 0 or ERROR_MEMORY. */
int hot_path_rows_init(struct hot_path_rows *path, const struct view *view, const bool *is_own);
void hot_path_rows_release(struct hot_path_rows *path);

/* Prints at most `most` rows, at least three. A third of them may be branches. Of the path itself: the first rows and, mostly, the last rows, with
 * the number of the frames between them; of five and more rows, one is the last row of own code. */
void hot_path_rows_print(const struct hot_path_rows *path, size_t most, struct name_printer *names,
			 const struct render_options *options);

/* --- commands (summary_next.c) --- */

/* The commands that the summary of `cpprof report` proposes: those that fit the profile, the most urgent first.
 *
 * Life cycle: next_commands_init, next_commands_release (also after an error). */

enum { NEXT_COMMANDS_MOST = 4 };

struct next_commands {
	char *texts[NEXT_COMMANDS_MOST];     /* each with its end of line */
	size_t heights[NEXT_COMMANDS_MOST];  /* lines of the terminal that each takes */
	uint32_t labels[NEXT_COMMANDS_MOST]; /* the function that each is about; PROFILE_NONE: none */
	size_t count;
};

/* `separator` stands between a command and its reason; control characters, such as a tab, are in neither. Returns 0 or ERROR_MEMORY. */
int next_commands_init(struct next_commands *next, const struct result *result, const struct render_options *options,
		       const char *separator);
void next_commands_release(struct next_commands *next);

/* --- the rows as JSON and CSV (summary_table.c) --- */

void summary_print_table(struct render_document *document, const struct result *result);

#endif
