/* Converts one column of a block between the fields of items in memory and bytes on disk (format.h has the picture). */
#ifndef PROFILE_FILE_COLUMN_H
#define PROFILE_FILE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/cursor.h"
#include "profile_file/tables.h"

/* Returns a field in its form on disk. */
uint64_t column_get(const struct table_column *column, const char *item);

/* Appends a column of `rows` numbers, at least one. `out` keeps a failure (buffer_error). */
void column_encode(struct buffer *out, const uint64_t *values, size_t rows, bool prefer_delta);

/* The smallest and the largest number of a column; all ones and 0 if it has no rows. */
struct column_range {
	uint64_t min;
	uint64_t max;
};

/* Decodes the next column, of `rows` rows (at most FORMAT_ROWS_MAX), into a field of items that are `stride` bytes
 * apart. Returns false if the bytes end too early, the form is unknown, or a number does not fit into the field. */
bool column_decode(struct cursor *cursor, size_t rows, const struct table_column *column, char *items, size_t stride,
		   struct column_range *range);

/* Steps over the next column, without looking at its numbers. Returns false if the bytes end too early or the form is unknown. */
bool column_skip(struct cursor *cursor, size_t rows);

#endif
