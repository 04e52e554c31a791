/*
 * Maps a profile's tables in memory to their columns on disk: one row per block type, made from the lists in
 * format.h. The writer and the reader handle all tables by these rows, with few exceptions.
 */
#ifndef PROFILE_FILE_TABLES_H
#define PROFILE_FILE_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile_file/format.h"

enum column_kind { COLUMN_VALUE, COLUMN_FLAG, COLUMN_TIME, COLUMN_ID, COLUMN_BYTES };
enum { COLUMNS_MAX = 16 };

struct table_column {
	uint16_t offset; /* in the item */
	uint8_t size;    /* size of the field: 1, 4 or 8 bytes */
	uint8_t kind;    /* enum column_kind */
};

enum table_rule { TABLE_APPEND, TABLE_REPLACE, TABLE_FIELDS }; /* see format.h */

struct table {
	const char *name; /* for messages: "processes" */
	uint8_t rule;     /* enum table_rule */
	uint8_t column_count;
	uint8_t skipped; /* implied first rows that are not stored, such as the root */
	uint8_t later;   /* number of last columns that older files lack; their fields are then 0 */
	uint16_t item_bytes;
	/* Offsets in struct profile. All 0: the profile itself is the only item. */
	uint16_t items, count, capacity;
	const struct table_column *columns;
};

/* By type. Entries without a name are not tables: end, strings. */
extern const struct table format_tables[BLOCK_TYPE_COUNT];

char *table_items(const struct table *table, const struct profile *profile);
size_t table_count(const struct table *table, const struct profile *profile);

static inline unsigned table_type(const struct table *table)
{
	return (unsigned)(table - format_tables);
}

#endif
