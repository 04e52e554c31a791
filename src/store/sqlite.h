/* Shared by the files of the store on SQLite. */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "base/hash_map.h"
#include "store/store.h"

enum { SQLITE_WAIT_MS = 60000 }; /* for other writers */

/* The tables whose rows a writer finds by keys: a hash of their content, or of a stack its caller's id and its location's, in 32 bits each. */
enum sqlite_table { SQLITE_MODULES, SQLITE_FUNCTIONS, SQLITE_LOCATIONS, SQLITE_STACKS, SQLITE_TABLES };

/* Ids that a writer knows, by keys (sqlite_known.c). */
struct sqlite_known {
	struct hash_map ids;
	bool is_whole; /* a key that is not here is not in the store */
};

struct sqlite_store {
	struct store store; /* first */
	sqlite3 *db;        /* owned */
	char *path;         /* owned */
	struct store_settings settings;
	struct sqlite_known known[SQLITE_TABLES];
	int64_t known_version; /* of the store's content; others change it */
	bool is_watched;       /* the file is read without locks */
	struct stat watched;   /* the file when it was opened so */
};

/* Sets the error to "cannot VERB store 'PATH': REASON", by the last error of SQLite. Returns its code. */
int sqlite_fail(const struct sqlite_store *store, const char *verb, struct error *error);

/* Returns a statement, which the caller finalizes, or NULL with `error` set. */
sqlite3_stmt *sqlite_prepare(const struct sqlite_store *store, const char *sql, struct error *error);

/* Executes SQL without results. Returns 0 or a negative error. */
int sqlite_execute(const struct sqlite_store *store, const char *sql, const char *verb, struct error *error);

/* Executes a bound statement without results, and makes it ready for the next values. Returns 0 or a negative error. */
int sqlite_run(const struct sqlite_store *store, sqlite3_stmt *statement, const char *verb, struct error *error);

/* Ends a transaction: commits it if `status` is 0, and otherwise removes all that it changed.
 * Returns `status`, or the error of the commit. */
int sqlite_end(const struct sqlite_store *store, int status, const char *verb, struct error *error);

/* The functions of store_sqlite that other files have. */
int sqlite_store_has(struct store *base, const struct store_recording *recording, struct error *error);
int sqlite_store_add(struct store *base, const struct store_recording *recording, struct error *error);
int sqlite_store_end(struct store *base, int status, struct error *error);
struct profile *sqlite_store_select(struct store *base, const struct store_selection *selection, struct error *error);
int sqlite_store_stats(struct store *base, struct store_statistics *statistics, struct error *error);
int sqlite_store_prune(struct store *base, int64_t before_unix_ns, const char *service, uint64_t *removed,
		       struct error *error);

/* Opens a connection to the file that `name` names, a path or a URI. `vfs` NULL: the usual one. Returns 0 or a negative error. */
int sqlite_open_database(struct sqlite_store *store, const char *name, int flags, const char *vfs, struct error *error);

/* sqlite_read.c: opening a store for a reader. */

/* Opens an existing file. Returns 0 or a negative error. */
int sqlite_open_to_read(struct sqlite_store *store, struct error *error);

/* After a reading, whether it succeeded or not: returns 0 if its result holds, 1 if the file changed meanwhile and the store was
 * opened again, so that the caller reads again, or a negative error. `attempts`: 0 before the first call. */
int sqlite_read_again(struct sqlite_store *store, int *attempts, struct error *error);

/* sqlite_known.c: the ids of rows that recordings need again and again, as long as the store is open. */

/* Returns the largest id of rows of those tables: call paths are numbered in 32 bits. */
#define SQLITE_ID_MOST (INT64_C(0xffffffff) - 1)

/* At the begin of a transaction that writes: forgets all ids if another program changed the store, and reads all rows of a table at once
 * where one needs many of them. `wanted`: the number of keys that may be looked up, by table. Returns 0 or a negative error. */
int sqlite_known_begin(struct sqlite_store *store, const size_t *wanted, struct error *error);

/* After a transaction that failed, and at the end. */
void sqlite_known_forget(struct sqlite_store *store);

/* sqlite_schema.c: the tables of a store on SQLite: making them, and checking that a file has exactly these. */

/* Makes the tables in an empty database, within the caller's transaction. */
int sqlite_schema_make(struct sqlite_store *store, const struct store_settings *settings, struct error *error);

/* Returns 1 if the database has no tables and no owner, 0 if it is a store, whose settings are
 * then set, or a negative error: another program's file, another version, or changed tables. */
int sqlite_schema_check(struct sqlite_store *store, struct error *error);

#endif
