/*
 * The names of a selection of a store on ClickHouse: they are read in a few large requests, each of
 * which returns the rows that the rows before need, and are then looked up one by one.
 *
 * Life cycle: clickhouse_names_init, clickhouse_names_read, any look-ups, clickhouse_names_release.
 */
#ifndef STORE_CLICKHOUSE_NAMES_H
#define STORE_CLICKHOUSE_NAMES_H

#include "base/hash_map.h"
#include "store/assemble.h"
#include "store/clickhouse.h"

enum clickhouse_names_table { NAMES_STACKS, NAMES_LOCATIONS, NAMES_FUNCTIONS, NAMES_MODULES, NAMES_TABLES };

/* The rows of a table, as they were received. */
struct clickhouse_names_rows {
	struct buffer bytes;
	size_t *starts; /* owned */
	size_t count, capacity;
	struct hash_map by_hash; /* number of the row */
	struct hash_map wanted;  /* hashes that were asked for */
	uint64_t *pending;       /* hashes that are to be asked for; owned */
	size_t pending_count, pending_capacity;
};

struct clickhouse_names {
	const struct clickhouse_store *store;
	struct error *error;
	struct clickhouse_names_rows tables[NAMES_TABLES];
	enum clickhouse_names_table reading;
	/* Stacks between the rows of the table: each hash with its parent and location. */
	struct hash_map stacks;
	struct assembled_stack *stack_rows; /* owned */
	size_t stack_count, stack_capacity;
	struct buffer texts; /* of the current row, each with its NUL */
};

void clickhouse_names_init(struct clickhouse_names *names, const struct clickhouse_store *store, struct error *error);
void clickhouse_names_release(struct clickhouse_names *names);

/* Adds a stack to those that are wanted. Returns 0 or a negative error. */
int clickhouse_names_request(struct clickhouse_names *names, uint64_t stack);

/* Reads the wanted stacks, with all that they need. Returns 0 or a negative error. */
int clickhouse_names_read(struct clickhouse_names *names);

/* The functions of `source`, with `names` as their context. */
void clickhouse_names_source(struct clickhouse_names *names, struct assemble_source *source);

#endif
