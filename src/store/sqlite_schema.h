/* The tables of a store on SQLite: making them, and checking that a file has exactly these. */
#ifndef STORE_SQLITE_SCHEMA_H
#define STORE_SQLITE_SCHEMA_H

#include "store/sqlite.h"

/* Makes the tables in an empty database, within the caller's transaction. */
int sqlite_schema_make(struct sqlite_store *store, const struct store_settings *settings, struct error *error);

/* Returns 1 if the database has no tables and no owner, 0 if it is a store, whose settings are then set, or a negative error: another
 * program's file, another version, or changed tables. */
int sqlite_schema_check(struct sqlite_store *store, struct error *error);

#endif
