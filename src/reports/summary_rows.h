/* Rows of the summary: the figures before a name, and the rows of the hot path. */
#ifndef REPORTS_SUMMARY_ROWS_H
#define REPORTS_SUMMARY_ROWS_H

#include "render/names.h"

enum { FIGURES_WIDTH = 28 };

/* Prints "  67.1 % ±1.8     1.2 s  ", FIGURES_WIDTH columns. `error`: of a corrected resource, in gticks; NULL: none. */
void figures_print(FILE *out, const struct view *view, uint64_t hits, const uint64_t *error,
		   const struct render_options *options);

/*
 * The hot path. A repeated cycle of frames (recursion) has one row with the number of its repetitions. Frames between the first and the
 * last of a chain with equal hits are only counted, except for the last one of own code: mostly, they pass calls on.
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
};

/* Returns 0 or ERROR_MEMORY. */
int hot_path_rows_init(struct hot_path_rows *path, const struct view *view);
void hot_path_rows_release(struct hot_path_rows *path);

/* Prints at most `most` rows, at least three: the first ones and, mostly, the last ones, with the number of the frames between them; of
 * five and more rows, one is the last one of own code. */
void hot_path_rows_print(const struct hot_path_rows *path, size_t most, struct name_printer *names,
			 const struct render_options *options);

#endif
