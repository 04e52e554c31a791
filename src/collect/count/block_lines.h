/*
 * How often each source line of a module was executed, as gcov would count it: a line is executed as often as control
 * comes to it from another line, and once more each time that it jumps back within itself.
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
	uint64_t address; /* ELF virtual, in code of that line and function */
	uint64_t count;   /* 0 too: code that was never executed */
	bool is_entry;    /* the function begins here */
};

struct block_lines {
	struct block_line
		*lines; /* owned; a line for each function, copy of it or instance of its template that has it */
	size_t count;
};

/* From the counts, sorted by pc, each once. Without debug information there are none. Returns 0 or ERROR_MEMORY. */
int block_lines_read(struct block_lines *lines, struct module_file *file, const struct flow_count *counts,
		     size_t count);
void block_lines_release(struct block_lines *lines);

#endif
