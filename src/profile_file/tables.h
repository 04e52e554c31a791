/*
 * What joins a profile's tables in memory to their columns on disk: one row
 * per block type, made from the lists in format.h. Writer and reader walk
 * these rows; neither knows any table by name, except where it must.
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
	uint8_t size;    /* of the field: 1, 4 or 8 bytes */
	uint8_t kind;    /* enum column_kind */
};

enum table_rule { TABLE_APPEND, TABLE_REPLACE, TABLE_FIELDS }; /* see format.h */

struct table {
	const char *name; /* for messages: "processes" */
	uint8_t rule;     /* enum table_rule */
	uint8_t column_count;
	uint8_t skipped; /* rows at the start that are implied, not stored: the root */
	uint8_t later;   /* of the columns, the last so many are not in older files: then the fields stay 0 */
	uint16_t item_bytes;
	/* Offsets in struct profile; all 0: the profile itself is the only item. */
	uint16_t items, count, capacity;
	const struct table_column *columns;
};

/* By type; entries without a name are no tables: end, strings. */
extern const struct table format_tables[BLOCK_TYPE_COUNT];

char *table_items(const struct table *table, const struct profile *profile);
size_t table_count(const struct table *table, const struct profile *profile);

static inline unsigned table_type(const struct table *table)
{
	return (unsigned)(table - format_tables);
}

#endif
