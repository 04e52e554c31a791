/*
 * Reads gmon.out: bytes of unknown origin. The whole file is read into memory first, because the length of a record
 * of blocks (see blocks_are_wide) shows only in the bytes that follow it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/quote.h"
#include "gprof/gmon.h"

enum {
	GMON_VERSION = 1,
	SPARE_BYTES = 12,
	DIMENSION_BYTES = 15,
	ADDRESS_BYTES = 8,
	BLOCK_BYTES = 16,
	HISTOGRAM_HEADER_BYTES = 40,
};

enum tag { TAG_HISTOGRAM, TAG_ARC, TAG_BLOCKS, TAGS };

struct reading {
	struct cursor cursor;
	const uint8_t *start;
	const char *name;
	struct gmon *gmon;
	struct error *error;
	size_t record; /* offset of the current one */
};

static int truncated(const struct reading *reading)
{
	return error_set(reading->error, ERROR_TRUNCATED, "%s%s%s is truncated: the record at byte %zu is incomplete",
			 quote_mark(reading->name), reading->name, quote_mark(reading->name), reading->record);
}

static int damaged(const struct reading *reading, const char *what)
{
	return error_set(reading->error, ERROR_CORRUPT, "%s: the histogram at byte %zu %s", reading->name,
			 reading->record, what);
}

/* Composes the message for the result of an operation on the tables. */
static int check_result(const struct reading *reading, int64_t code)
{
	if (code >= 0)
		return 0;
	if (code == ERROR_MEMORY)
		return error_set(reading->error, ERROR_MEMORY, "out of memory for %s", reading->name);
	if (code == ERROR_LIMIT)
		return error_set(reading->error, ERROR_LIMIT, "%s: counts add up to more than 2^64", reading->name);
	return damaged(reading, "does not fit with the others");
}

/* --- records --- */

/* Whether a record could begin `offset` bytes ahead, or the file end there. */
static bool may_begin(const struct cursor *cursor, size_t offset)
{
	size_t left = cursor_left(cursor);
	return offset == left || (offset < left && cursor->next[offset] < TAGS);
}

/* Reads a histogram's header; `cursor` is behind its tag. */
static struct gmon_histogram read_shape(struct cursor *cursor)
{
	struct gmon_histogram shape = { .low = cursor_u64(cursor), .high = 0 };
	shape.high = cursor_u64(cursor);
	shape.bin_count = cursor_u32(cursor);
	shape.rate = cursor_u32(cursor);
	const uint8_t *dimension = cursor_bytes(cursor, DIMENSION_BYTES);
	if (dimension)
		memcpy(shape.dimension, dimension, DIMENSION_BYTES);
	shape.abbreviation = (char)cursor_u8(cursor);
	return shape;
}

static bool is_possible(const struct cursor *cursor, const struct gmon_histogram *shape)
{
	return !cursor->failed && shape->low < shape->high && shape->bin_count > 0 &&
	       shape->bin_count <= cursor_left(cursor) / sizeof(uint16_t);
}

/* Reports print the unit: escape sequences in it must not reach a terminal. */
static bool is_printable(const struct gmon_histogram *shape)
{
	for (const char *at = shape->dimension; *at; at++)
		if (*at < ' ' || *at > '~')
			return false;
	return shape->abbreviation == '\0' || (shape->abbreviation >= ' ' && shape->abbreviation <= '~');
}

static int read_histogram(struct reading *reading)
{
	struct cursor *cursor = &reading->cursor;
	struct gmon_histogram shape = read_shape(cursor);
	if (cursor->failed)
		return truncated(reading);
	if (shape.bin_count == 0)
		return 0;
	if (shape.low >= shape.high)
		return damaged(reading, "ends before it begins");
	if (shape.high - shape.low < GMON_UNIT_BYTES)
		return damaged(reading, "is of a single byte: gprof counts in units of two");
	if (!is_printable(&shape))
		return damaged(reading, "counts in a unit whose name cannot be printed");
	if (!is_possible(cursor, &shape))
		return truncated(reading);
	shape.bins = malloc(shape.bin_count * sizeof(*shape.bins));
	if (!shape.bins)
		return check_result(reading, ERROR_MEMORY);
	for (size_t i = 0; i < shape.bin_count; i++)
		shape.bins[i] = cursor_u16(cursor);
	int64_t code = gmon_add_histogram(reading->gmon, &shape);
	free(shape.bins);
	return check_result(reading, code);
}

static int read_arc(struct reading *reading)
{
	struct cursor *cursor = &reading->cursor;
	uint64_t from = cursor_u64(cursor), self = cursor_u64(cursor);
	uint32_t count = cursor_u32(cursor);
	if (cursor->failed)
		return truncated(reading);
	return check_result(reading, gmon_add_arc(reading->gmon, from, self, count));
}

/* Whether the number of blocks has 8 bytes, as the C library writes it; `cursor` is behind its first 4. The other 4
 * are then 0, whereas the first 4 bytes of an address are 0 only if it is a multiple of 2^32. If there are no
 * blocks, four zeros may also begin a histogram. */
static bool blocks_are_wide(const struct cursor *cursor, uint32_t count)
{
	static const uint8_t zeros[4];
	size_t left = cursor_left(cursor);
	if (left < sizeof(zeros) || memcmp(cursor->next, zeros, sizeof(zeros)) != 0 ||
	    count > (left - sizeof(zeros)) / BLOCK_BYTES ||
	    !may_begin(cursor, sizeof(zeros) + (size_t)count * BLOCK_BYTES))
		return false;
	if (count > 0)
		return true;
	struct cursor ahead = *cursor;
	cursor_u8(&ahead);
	struct gmon_histogram shape = read_shape(&ahead);
	return !is_possible(&ahead, &shape);
}

static int read_blocks(struct reading *reading)
{
	struct cursor *cursor = &reading->cursor;
	uint32_t count = cursor_u32(cursor);
	if (!cursor->failed && blocks_are_wide(cursor, count))
		cursor_u32(cursor);
	if (cursor->failed || count > cursor_left(cursor) / BLOCK_BYTES)
		return truncated(reading);
	int code = 0;
	for (uint32_t i = 0; i < count && code == 0; i++) {
		uint64_t address = cursor_u64(cursor), executions = cursor_u64(cursor);
		code = gmon_add_block(reading->gmon, address, executions);
	}
	return check_result(reading, code);
}

static int read_records(struct reading *reading)
{
	static int (*const readers[TAGS])(struct reading * reading) = {
		[TAG_HISTOGRAM] = read_histogram,
		[TAG_ARC] = read_arc,
		[TAG_BLOCKS] = read_blocks,
	};
	int code = 0;
	while (code == 0 && cursor_left(&reading->cursor) > 0) {
		reading->record = (size_t)(reading->cursor.next - reading->start);
		uint8_t tag = cursor_u8(&reading->cursor);
		if (tag >= TAGS)
			return error_set(reading->error, ERROR_CORRUPT,
					 "%s: the record at byte %zu is of unknown kind (%u)", reading->name,
					 reading->record, tag);
		reading->gmon->record_counts[tag]++;
		code = readers[tag](reading);
	}
	return code < 0 ? code : check_result(reading, gmon_merge_equal(reading->gmon));
}

/* --- the file --- */

static int read_header(struct reading *reading)
{
	struct cursor *cursor = &reading->cursor;
	const uint8_t *magic = cursor_bytes(cursor, 4);
	if (!magic || memcmp(magic, "gmon", 4) != 0)
		return error_set(reading->error, ERROR_FORMAT, "%s%s%s is not a gmon.out file",
				 quote_mark(reading->name), reading->name, quote_mark(reading->name));
	uint32_t version = cursor_u32(cursor);
	if (!cursor_bytes(cursor, SPARE_BYTES))
		return error_set(reading->error, ERROR_TRUNCATED, "%s%s%s is truncated within its header",
				 quote_mark(reading->name), reading->name, quote_mark(reading->name));
	if (version == __builtin_bswap32(GMON_VERSION))
		return error_set(reading->error, ERROR_FORMAT,
				 "cannot read %s%s%s: it is from a machine with another byte order",
				 quote_mark(reading->name), reading->name, quote_mark(reading->name));
	if (version != GMON_VERSION)
		return error_set(reading->error, ERROR_VERSION,
				 "cannot read %s%s%s: it has version %u of gmon.out (supported: 1)",
				 quote_mark(reading->name), reading->name, quote_mark(reading->name), version);
	return 0;
}

/* Reads all bytes up to the end. */
static int read_bytes(FILE *in, const char *name, struct buffer *bytes, struct error *error)
{
	enum { PIECE = 1 << 16 };
	size_t got = PIECE;
	while (got == PIECE) {
		uint8_t *room = buffer_extend(bytes, PIECE);
		if (!room)
			return error_set(error, ERROR_MEMORY, "out of memory for %s", name);
		errno = 0;
		got = fread(room, 1, PIECE, in);
		bytes->size -= PIECE - got;
	}
	return ferror(in) ? error_set_errno(error, "cannot read %s%s%s", quote_mark(name), name, quote_mark(name)) : 0;
}

/* Reads the records of one file into an empty `file`. */
static int read_file(struct gmon *file, FILE *in, const char *name, struct error *error)
{
	struct buffer bytes;
	buffer_init(&bytes);
	int code = read_bytes(in, name, &bytes, error);
	if (code == 0) {
		struct reading reading = { .cursor = cursor_over(bytes.bytes, bytes.size),
					   .start = bytes.bytes,
					   .name = name,
					   .gmon = file,
					   .error = error };
		code = read_header(&reading);
		if (code == 0)
			code = read_records(&reading);
	}
	buffer_release(&bytes);
	return code;
}

int gmon_read(struct gmon *gmon, FILE *in, const char *name, struct error *error)
{
	struct gmon file;
	gmon_init(&file);
	int code = read_file(&file, in, name, error);
	if (code == 0) {
		code = gmon_add(gmon, &file);
		if (code == ERROR_CORRUPT)
			error_set(error, code,
				  "cannot add %s to the other files: it is from another program or build, or was "
				  "sampled at another rate",
				  name);
		else if (code < 0)
			error_set(error, code, "cannot add %s to the other files: %s", name, error_text(code));
	}
	gmon_release(&file);
	return code;
}
