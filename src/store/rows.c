#include "store/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/hash_map.h"
#include "profile_file/column.h"

#define COLUMN(field, kind_)                                                                       \
	{                                                                                          \
		offsetof(struct packed_row, field), sizeof(((struct packed_row *)0)->field), kind_ \
	}

/* Blocks of hits have all but the last two. */
static const struct table_column columns[] = {
	COLUMN(thread, COLUMN_ID),     COLUMN(labels, COLUMN_VALUE),  COLUMN(bucket_after, COLUMN_VALUE),
	COLUMN(stack, COLUMN_VALUE),   COLUMN(size, COLUMN_VALUE),    COLUMN(amount, COLUMN_VALUE),
	COLUMN(address, COLUMN_VALUE), COLUMN(mapping, COLUMN_VALUE),
};

enum { ALL = sizeof(columns) / sizeof(columns[0]), OF_HITS = ALL - 2, MAPPING = ALL - 1 };

static size_t column_count(enum format_block_type type)
{
	return type == BLOCK_TOUCHES ? ALL : OF_HITS;
}

/* --- packing --- */

int rows_packer_init(struct rows_packer *packer)
{
	packer->values = malloc(FORMAT_ROWS_MAX * sizeof(*packer->values));
	int status = packer_init(&packer->packer, true);
	return packer->values ? status : ERROR_MEMORY;
}

void rows_packer_release(struct rows_packer *packer)
{
	packer_release(&packer->packer);
	free(packer->values);
}

/* Replaces the strings of the recording, which are in `values`, by the indexes of the texts that it appends to `texts`. */
static int put_texts(uint64_t *values, size_t count, const struct profile *profile, struct buffer *texts)
{
	struct hash_map numbers;
	int is_new = 0;
	hash_map_init(&numbers);
	for (size_t i = 0; i < count && is_new >= 0; i++) {
		uint32_t number = 0;
		const char *text = profile_string(profile, (uint32_t)values[i]);
		is_new = hash_map_number(&numbers, values[i], &number);
		values[i] = number - 1;
		if (is_new > 0)
			buffer_append(texts, text, strlen(text) + 1);
	}
	hash_map_release(&numbers);
	return is_new < 0 ? is_new : buffer_error(texts);
}

int rows_pack(struct rows_packer *packer, enum format_block_type type, const struct profile *profile,
	      const struct packed_row *rows, size_t count)
{
	struct buffer texts;
	int status = 0;
	buffer_init(&texts);
	for (size_t c = 0; c < column_count(type) && status == 0; c++) {
		for (size_t i = 0; i < count; i++)
			packer->values[i] = column_get(&columns[c], (const char *)&rows[i]);
		if (c == MAPPING)
			status = put_texts(packer->values, count, profile, &texts);
		column_encode(&packer->packer.raw, packer->values, count, false);
	}
	buffer_append(&packer->packer.raw, texts.bytes, texts.size);
	buffer_release(&texts);
	return status < 0 ? status : packer_pack(&packer->packer, type, count, 0);
}

/* --- unpacking --- */

int rows_unpacker_init(struct rows_unpacker *unpacker)
{
	*unpacker = (struct rows_unpacker){ 0 };
	return unpacker_init(&unpacker->unpacker);
}

void rows_unpacker_release(struct rows_unpacker *unpacker)
{
	unpacker_release(&unpacker->unpacker);
	free(unpacker->rows);
	free(unpacker->texts);
}

/* Finds the texts behind the columns. Returns 0, ERROR_MEMORY, or ERROR_CORRUPT if a mapping has none. */
static int find_texts(struct rows_unpacker *unpacker, struct cursor *cursor, const struct column_range *mappings)
{
	for (unpacker->text_count = 0; cursor_left(cursor) > 0; unpacker->text_count++) {
		if (ARRAY_RESERVE(unpacker->texts, unpacker->text_capacity, unpacker->text_count + 1) < 0)
			return ERROR_MEMORY;
		const char *text = cursor_string(cursor);
		if (!text)
			return ERROR_CORRUPT;
		unpacker->texts[unpacker->text_count] = text;
	}
	return mappings->max < unpacker->text_count ? 0 : ERROR_CORRUPT;
}

int64_t rows_unpack(struct rows_unpacker *unpacker, enum format_block_type type, const void *block, size_t bytes)
{
	struct format_block_header header;
	struct column_range range = { 0 };
	int code;
	if (bytes < sizeof(header))
		return ERROR_CORRUPT;
	memcpy(&header, block, sizeof(header));
	if (!format_block_header_sound(&header) || header.type != type || header.rows == 0 ||
	    header.rows > FORMAT_ROWS_MAX || header.stored_bytes != bytes - sizeof(header))
		return ERROR_CORRUPT;
	const uint8_t *payload =
		unpacker_unpack(&unpacker->unpacker, &header, (const uint8_t *)block + sizeof(header), &code);
	if (!payload)
		return code;
	if (ARRAY_RESERVE(unpacker->rows, unpacker->capacity, header.rows) < 0)
		return ERROR_MEMORY;
	struct cursor cursor = cursor_over(payload, header.raw_bytes);
	for (size_t c = 0; c < column_count(type); c++)
		if (!column_decode(&cursor, header.rows, &columns[c], (char *)unpacker->rows, sizeof(*unpacker->rows),
				   &range))
			return ERROR_CORRUPT;
	code = type == BLOCK_TOUCHES ? find_texts(unpacker, &cursor, &range) : 0;
	return code < 0 ? code : cursor_left(&cursor) > 0 ? ERROR_CORRUPT : (int64_t)header.rows;
}
