/*
 * How often each source line of a module was executed, as gcov counts it: once each time control comes to the line
 * from another one, and once more each time it jumps back within the line.
 *
 *     for (i = 0; i < 10; i++)    11: once from above, 10 times from below
 *             sum += i;           10
 *     while (i-- > 0);            11: once from above, 10 times round
 *
 * Life cycle: block_lines_read, block_lines_release.
 */
#ifndef COLLECT_COUNT_BLOCK_LINES_H
#define COLLECT_COUNT_BLOCK_LINES_H

#include "collect/count/flow.h"
#include "frames/native/module_file.h"

struct block_line {
	uint64_t address; /* ELF virtual address of code of that line and function */
	uint64_t count;   /* 0: the code was never executed */
	bool is_entry;    /* the function begins here */
};

struct block_lines {
	struct block_line
		*lines; /* owned; a line has one entry per function, copy of a function and template instance */
	size_t count;
};

/* Computes the lines' counts from those of blocks, which are sorted by pc, each pc once. A module without debug
 * information has no lines. Returns 0, ERROR_MEMORY or ERROR_LIMIT. */
int block_lines_read(struct block_lines *lines, struct module_file *file, const struct flow_count *counts,
		     size_t count);
void block_lines_release(struct block_lines *lines);

#endif
