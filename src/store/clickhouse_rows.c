/* Rows in the format RowBinary: numbers in little endian; texts and arrays after their length in LEB128. */
#include <string.h>

#include "base/cursor.h"
#include "store/clickhouse.h"

enum { FIXED_STRING_BYTES = 16 };

void clickhouse_put_u8(struct buffer *rows, uint8_t value)
{
	buffer_append_byte(rows, value);
}

void clickhouse_put_u32(struct buffer *rows, uint32_t value)
{
	buffer_append(rows, &value, sizeof(value));
}

void clickhouse_put_u64(struct buffer *rows, uint64_t value)
{
	buffer_append(rows, &value, sizeof(value));
}

void clickhouse_put_bytes(struct buffer *rows, const void *bytes, size_t size)
{
	buffer_append_varint(rows, size);
	buffer_append(rows, bytes, size);
}

void clickhouse_put_text(struct buffer *rows, const char *text)
{
	clickhouse_put_bytes(rows, text, strlen(text));
}

void clickhouse_put_count(struct buffer *rows, size_t count)
{
	buffer_append_varint(rows, count);
}

void clickhouse_append_literal(struct buffer *sql, const char *text)
{
	buffer_append_byte(sql, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buffer_append_byte(sql, '\\');
		buffer_append_byte(sql, (uint8_t)*text);
	}
	buffer_append_byte(sql, '\'');
}

/* --- reading --- */

static void read_run(struct cursor *cursor, size_t element_bytes, struct clickhouse_value *value)
{
	uint64_t count = cursor_varint(cursor);
	value->count = count;
	value->size = count > SIZE_MAX / element_bytes ? SIZE_MAX : count * element_bytes;
	value->bytes = cursor_bytes(cursor, value->size);
}

static void read_texts(struct cursor *cursor, struct clickhouse_value *value)
{
	value->count = cursor_varint(cursor);
	value->bytes = cursor->next;
	for (size_t i = 0; i < value->count && !cursor->failed; i++)
		cursor_bytes(cursor, cursor_varint(cursor));
	value->size = (size_t)(cursor->next - value->bytes);
}

/* Returns false if there is no such type. */
static bool read_value(struct cursor *cursor, char type, struct clickhouse_value *value)
{
	switch (type) {
	case 'b':
		value->number = cursor_u8(cursor);
		return true;
	case 'd':
		value->number = cursor_u32(cursor);
		return true;
	case 'q':
		value->number = cursor_u64(cursor);
		return true;
	case 'i':
		value->size = FIXED_STRING_BYTES;
		value->bytes = cursor_bytes(cursor, value->size);
		return true;
	case 's':
	case 'B':
		read_run(cursor, 1, value);
		return true;
	case 'D':
		read_run(cursor, sizeof(uint32_t), value);
		return true;
	case 'Q':
		read_run(cursor, sizeof(uint64_t), value);
		return true;
	case 'S':
		read_texts(cursor, value);
		return true;
	default:
		return false;
	}
}

int64_t clickhouse_read_row(const char *types, const uint8_t *at, size_t size, struct clickhouse_value *row)
{
	struct cursor cursor = cursor_over(at, size);
	for (size_t i = 0; types[i]; i++) {
		row[i] = (struct clickhouse_value){ 0 };
		if (i == CLICKHOUSE_VALUES_MOST || !read_value(&cursor, types[i], &row[i]))
			return ERROR_CORRUPT;
	}
	return cursor.failed ? 0 : (int64_t)(cursor.next - at);
}

uint64_t clickhouse_element(const struct clickhouse_value *array, size_t element_bytes, size_t index)
{
	uint64_t number = 0;
	memcpy(&number, array->bytes + index * element_bytes, element_bytes);
	return number;
}

bool clickhouse_next_text(const struct clickhouse_value *array, size_t *at, const uint8_t **text, size_t *size)
{
	struct cursor cursor = cursor_over(array->bytes + *at, array->size - *at);
	if (*at == array->size)
		return false;
	*size = cursor_varint(&cursor);
	*text = cursor_bytes(&cursor, *size);
	*at = array->size - cursor_left(&cursor);
	return *text != NULL;
}
