/* One column of a block, between fields of items in memory and bytes on disk
 * (the picture is in format.h). */
#ifndef PROFILE_FILE_COLUMN_H
#define PROFILE_FILE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/cursor.h"
#include "profile_file/tables.h"

/* A field as its number on disk. */
uint64_t column_get(const struct table_column *column, const char *item);

/* Appends `rows` numbers. A failure is remembered by the buffer. */
void column_encode(struct buffer *out, const uint64_t *values, size_t rows, bool prefer_delta);

/* The smallest and the largest number of a column; of no rows: all ones, 0. */
struct column_range {
	uint64_t min;
	uint64_t max;
};

/* Reads the next column of `rows` rows (at most FORMAT_ROWS_MAX) into a field
 * of items that lie `stride` bytes apart. False: the bytes end too early, the
 * form is unknown, or a number does not fit the field. */
bool column_decode(struct cursor *cursor, size_t rows, const struct table_column *column, char *items, size_t stride,
		   struct column_range *range);

#endif
