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

#include "base/error.h"
#include "collect/count/flow.h"
#include "frames/native/module_file.h"
#include "profile/profile.h"

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

/* Computes the lines' counts from the counts of blocks, which are sorted by pc, each pc once. A module without debug
 * information has no lines. Returns 0, ERROR_MEMORY or ERROR_LIMIT. */
int block_lines_read(struct block_lines *lines, struct module_file *file, const struct flow_count *counts,
		     size_t count);
void block_lines_release(struct block_lines *lines);

/* block_file.c: the lines of one module's blocks, computed in a jail (frames/jail/once.h): its
 * owner may have forged the file. */

/* As block_lines_read, for the file of a module, which the caller has opened as `fd` and closes.
 * A file that could not be opened (-1), or has another build-id than the module, has no lines.
 * Returns 0, or with `error` set: ERROR_MEMORY; ERROR_LIMIT or ERROR_CORRUPT (the jail exceeded
 * a limit, or ended), or ERROR_UNSUPPORTED (there is no jail for another user's file). */
int block_file_lines(struct block_lines *lines, int fd, const char *path, const struct profile_module *module,
		     const struct flow_count *counts, size_t count, struct error *error);

#endif
