/*
 * The source lines of a range of a module's code, by address, with the
 * function that each was written in:
 *
 *	0x1139  draw    draw.c:12
 *	0x1144  clamp   math.h:4      (inlined in draw)
 *	0x1150  draw    draw.c:13
 *	0x1160  -       -:0           (no debug information)
 *
 * A row begins where file, line or function change, and ends where the next
 * one begins. Life cycle: line_rows_read, any number of questions,
 * line_rows_release; the module's file stays open meanwhile.
 */
#ifndef FRAMES_NATIVE_LINE_ROWS_H
#define FRAMES_NATIVE_LINE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "frames/native/module_file.h"
#include "frames/native/scopes.h"

struct line_row {
	uint64_t address;     /* ELF virtual */
	const char *file;     /* NULL: unknown; valid until line_rows_release */
	const char *function; /* linkage name of the innermost function; NULL: DWARF knows none, or no such name. Of one
				 that was inlined and has none: as it was written, "space::name" */
	uint32_t line;        /* 0: unknown */
};

struct line_rows {
	struct line_row *rows; /* owned; ascend */
	size_t count;
	uint64_t *
		starts; /* owned; ascend: where anything begins, rows of the line tables that go on with a line as well */
	size_t start_count;
	struct scopes scopes; /* the texts' owner */
	struct strings names; /* of those that had to be put together */
};

/* All rows in [low, high); the first begins at `low`. Without debug information
 * that is one row without anything. Returns 0 or ERROR_MEMORY; call
 * line_rows_release in any case. */
int line_rows_read(struct line_rows *rows, struct module_file *file, uint64_t low, uint64_t high);
void line_rows_release(struct line_rows *rows);

/* The row that an address lies in; NULL: below the range. */
const struct line_row *line_rows_at(const struct line_rows *rows, uint64_t address);
/* Returns whether a row of the line tables begins at an address, also one with
 * the line before. */
bool line_rows_begin_at(const struct line_rows *rows, uint64_t address);

#endif
