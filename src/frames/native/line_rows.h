/*
 * The source lines of a range of a module's code, by address, with the function that contains each in the source:
 *
 *   0x1139  draw    draw.c:12
 *   0x1144  clamp   math.h:4      (inlined in draw)
 *   0x1150  draw    draw.c:13
 *   0x1160  -       -:0           (no debug information)
 *
 * A row begins where the file, the line or the function changes, and ends where the next one begins. Life cycle:
 * line_rows_read, any number of queries, line_rows_release; the module's file stays open meanwhile.
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
	uint64_t address; /* ELF virtual */
	const char *file; /* NULL: unknown; valid until line_rows_release */
	/* linkage name of the innermost function, or "space::name" if it was inlined and has none; NULL: unknown */
	const char *function;
	uint32_t line; /* 0: unknown */
};

struct line_rows {
	struct line_row *rows; /* owned; ascending */
	size_t count;
	/* owned; ascending: every address at which a row of the line tables or a function's code begins or ends */
	uint64_t *starts;
	size_t start_count;
	struct scopes scopes; /* owns the texts */
	struct strings names; /* owns the names that were composed */
};

/* Reads all rows in [low, high); the first begins at `low`. Without debug information there is one row, which is
 * empty. Returns 0 or ERROR_MEMORY; call line_rows_release in any case. */
int line_rows_read(struct line_rows *rows, struct module_file *file, uint64_t low, uint64_t high);
void line_rows_release(struct line_rows *rows);

/* Returns the row that contains an address, or NULL if the address is below the range. */
const struct line_row *line_rows_at(const struct line_rows *rows, uint64_t address);
/* Returns whether a row of the line tables or the code of a function begins or ends at an address, including rows with
 * the same line as the previous one. */
bool line_rows_begin_at(const struct line_rows *rows, uint64_t address);

#endif
