#include "profile_file/column.h"

#include <string.h>

enum {
	FORM_WIDTH = 0x0f,
	FORM_DELTA = 0x80,
	CHUNK_ROWS = 1024, /* rows decoded at a time, so that the numbers stay in the first-level cache */
};

static const uint64_t NS_PER_US = 1000;

uint64_t column_get(const struct table_column *column, const char *item)
{
	uint8_t u8;
	uint32_t u32;
	uint64_t u64;
	switch (column->size) {
	case 1:
		memcpy(&u8, item + column->offset, 1);
		return u8;
	case 4:
		memcpy(&u32, item + column->offset, 4);
		return column->kind == COLUMN_ID ? u32 + 1 : u32;
	default:
		memcpy(&u64, item + column->offset, 8);
		if (column->kind == COLUMN_TIME && u64 != 0)
			return u64 < NS_PER_US ? 1 : u64 / NS_PER_US;
		return u64;
	}
}

/* --- writing --- */

static unsigned bytes_of(uint64_t value)
{
	return value == 0 ? 0 : (71 - (unsigned)__builtin_clzll(value)) / 8;
}

/* Sets *base to the smallest value. Returns the width, in bytes, of the values minus *base. */
static unsigned plain_width(const uint64_t *values, size_t rows, uint64_t *base)
{
	uint64_t min = values[0];
	uint64_t max = min;
	for (size_t i = 1; i < rows; i++) {
		min = values[i] < min ? values[i] : min;
		max = values[i] > max ? values[i] : max;
	}
	*base = min;
	return bytes_of(max - min);
}

/* The same for the differences from row to row, as signed numbers, of at least two rows. Any number may be the first
 * row's difference, because `start` compensates for it; it is made equal to the second row's. */
static unsigned delta_width(const uint64_t *values, size_t rows, uint64_t *base)
{
	int64_t min = (int64_t)(values[1] - values[0]);
	int64_t max = min;
	for (size_t i = 2; i < rows; i++) {
		int64_t delta = (int64_t)(values[i] - values[i - 1]);
		min = delta < min ? delta : min;
		max = delta > max ? delta : max;
	}
	*base = (uint64_t)min;
	return bytes_of((uint64_t)max - (uint64_t)min);
}

void column_encode(struct buffer *out, const uint64_t *values, size_t rows, bool prefer_delta)
{
	uint64_t base, delta_base;
	unsigned width = plain_width(values, rows, &base);
	bool delta = false;
	if (width > 0) {
		unsigned narrow = delta_width(values, rows, &delta_base);
		delta = narrow < width || (prefer_delta && narrow == width);
		width = delta ? narrow : width;
	}
	uint64_t start = 0;
	if (delta) {
		base = delta_base;
		start = values[0] - (values[1] - values[0]);
	}
	buffer_append_byte(out, (uint8_t)(width | (delta ? FORM_DELTA : 0)));
	if (delta)
		buffer_append_varint_signed(out, (int64_t)start);
	buffer_append_varint_signed(out, (int64_t)base);
	uint8_t *planes = buffer_extend(out, width * rows);
	if (!planes)
		return;
	uint64_t previous = start;
	for (size_t i = 0; i < rows; i++) {
		uint64_t rest = values[i] - base - (delta ? previous : 0);
		previous = values[i];
		for (unsigned w = 0; w < width; w++)
			planes[w * rows + i] = (uint8_t)(rest >> (8 * w));
	}
}

/* --- reading --- */

/* `width` is a constant in each call, so that the compiler makes a plain loop of each. */
static inline __attribute__((always_inline)) void widen_by(uint64_t *values, const uint8_t *planes, size_t rows,
							   size_t count, uint64_t base, unsigned width)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = 0;
		for (unsigned w = 0; w < width; w++)
			value |= (uint64_t)planes[w * rows + i] << (8 * w);
		values[i] = base + value;
	}
}

static void widen(uint64_t *values, const uint8_t *planes, size_t rows, size_t count, uint64_t base, unsigned width)
{
	switch (width) {
#define WIDTH(n)                                                \
	case n:                                                 \
		widen_by(values, planes, rows, count, base, n); \
		break;
		WIDTH(0)
		WIDTH(1)
		WIDTH(2)
		WIDTH(3)
		WIDTH(4)
		WIDTH(5)
		WIDTH(6)
		WIDTH(7)
		WIDTH(8)
#undef WIDTH
	}
}

static void store(const struct table_column *column, char *field, size_t stride, const uint64_t *values, size_t count)
{
	switch (column->size) {
	case 1:
		for (size_t i = 0; i < count; i++, field += stride)
			*field = (char)values[i];
		break;
	case 4: {
		uint32_t less = column->kind == COLUMN_ID;
		for (size_t i = 0; i < count; i++, field += stride) {
			uint32_t value = (uint32_t)values[i] - less;
			memcpy(field, &value, 4);
		}
		break;
	}
	default: {
		uint64_t factor = column->kind == COLUMN_TIME ? NS_PER_US : 1;
		for (size_t i = 0; i < count; i++, field += stride) {
			uint64_t value = values[i] * factor;
			memcpy(field, &value, 8);
		}
	}
	}
}

/* The largest number on disk that fits into the field. */
static uint64_t limit_of(const struct table_column *column)
{
	switch (column->kind) {
	case COLUMN_FLAG:
		return 1;
	case COLUMN_TIME:
		return UINT64_MAX / NS_PER_US;
	default:
		return column->size == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * column->size)) - 1;
	}
}

/* A column that is decoded. */
struct decoder {
	const struct table_column *column;
	const uint8_t *planes;
	size_t rows;
	unsigned width;
	bool delta;
	uint64_t base, previous;
	uint64_t min, max; /* of the rows so far */
};

/* Decodes `count` rows from row `first` on into `field`. This is a function of its own because a browser, in which this runs
 * too (ui/page), replaces a function by an optimized one between two calls. */
static __attribute__((noinline)) bool decode_chunk(struct decoder *decoder, size_t first, size_t count, char *field,
						   size_t stride)
{
	uint64_t values[CHUNK_ROWS];
	uint64_t min = decoder->min, max = decoder->max;
	widen(values, decoder->planes + first, decoder->rows, count, decoder->base, decoder->width);
	if (decoder->delta) {
		uint64_t previous = decoder->previous;
		for (size_t i = 0; i < count; i++)
			values[i] = previous += values[i];
		decoder->previous = previous;
	}
	for (size_t i = 0; i < count; i++) {
		min = values[i] < min ? values[i] : min;
		max = values[i] > max ? values[i] : max;
	}
	decoder->min = min;
	decoder->max = max;
	if (max > limit_of(decoder->column))
		return false;
	store(decoder->column, field, stride, values, count);
	return true;
}

/* Reads the next column up to its end. Returns false as column_decode. */
static bool open_column(struct cursor *cursor, struct decoder *decoder)
{
	uint8_t form = cursor_u8(cursor);
	decoder->delta = form & FORM_DELTA;
	decoder->width = form & FORM_WIDTH;
	decoder->previous = decoder->delta ? (uint64_t)cursor_varint_signed(cursor) : 0;
	decoder->base = (uint64_t)cursor_varint_signed(cursor);
	if (cursor->failed || decoder->width > 8 || (form & ~(FORM_WIDTH | FORM_DELTA)))
		return false;
	decoder->planes = cursor_bytes(cursor, decoder->width * decoder->rows);
	return decoder->planes != NULL;
}

/* Stores one number into all rows: many columns of a file have no other. */
static bool store_constant(const struct decoder *decoder, char *field, size_t stride)
{
	uint64_t values[CHUNK_ROWS];
	if (decoder->base > limit_of(decoder->column))
		return false;
	for (size_t i = 0; i < CHUNK_ROWS; i++)
		values[i] = decoder->base;
	for (size_t done = 0; done < decoder->rows; done += CHUNK_ROWS) {
		size_t left = decoder->rows - done;
		store(decoder->column, field + done * stride, stride, values, left < CHUNK_ROWS ? left : CHUNK_ROWS);
	}
	return true;
}

bool column_skip(struct cursor *cursor, size_t rows)
{
	struct decoder decoder = { .rows = rows };
	return open_column(cursor, &decoder);
}

bool column_decode(struct cursor *cursor, size_t rows, const struct table_column *column, char *items, size_t stride,
		   struct column_range *range)
{
	struct decoder decoder = { .column = column, .rows = rows, .min = UINT64_MAX };
	if (!open_column(cursor, &decoder))
		return false;
	if (decoder.width == 0 && !decoder.delta) {
		*range = (struct column_range){ .min = rows ? decoder.base : UINT64_MAX,
						.max = rows ? decoder.base : 0 };
		return store_constant(&decoder, items + column->offset, stride);
	}
	for (size_t done = 0; done < rows; done += CHUNK_ROWS) {
		size_t count = rows - done < CHUNK_ROWS ? rows - done : CHUNK_ROWS;
		if (!decode_chunk(&decoder, done, count, items + done * stride + column->offset, stride))
			return false;
	}
	*range = (struct column_range){ .min = decoder.min, .max = decoder.max };
	return true;
}
