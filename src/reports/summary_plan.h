/* Divides the lines of a screen among the parts of the summary. */
#ifndef REPORTS_SUMMARY_PLAN_H
#define REPORTS_SUMMARY_PLAN_H

#include <stddef.h>

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

#endif
