/* The tables of a store on ClickHouse: making them, and checking that a database has exactly these. */
#ifndef STORE_CLICKHOUSE_SCHEMA_H
#define STORE_CLICKHOUSE_SCHEMA_H

#include "store/clickhouse.h"

/* Makes the database and the tables that are missing on this server, then the settings if there are none. */
int clickhouse_schema_make(struct clickhouse_store *store, const struct store_settings *settings, struct error *error);

/* Returns 1 if the database has no store, 0 if it has one, whose settings are then set, or a negative error: another program's
 * tables, or another version. */
int clickhouse_schema_check(struct clickhouse_store *store, struct error *error);

/* Checks that all servers of the store's cluster, if it has one, have the same settings. Returns 0 or a negative error. */
int clickhouse_schema_check_cluster(struct clickhouse_store *store, struct error *error);

#endif
