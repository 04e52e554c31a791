/* Calls of SQLite whose errors become ours. */
#include "store/sqlite.h"

static int code_of(int result)
{
	enum { PRIMARY = 0xff };
	switch (result & PRIMARY) {
	case SQLITE_FULL:
		return ERROR_NO_SPACE;
	case SQLITE_NOMEM:
		return ERROR_MEMORY;
	case SQLITE_CORRUPT:
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_ERROR:
		return ERROR_CORRUPT;
	case SQLITE_NOTADB:
		return ERROR_FORMAT;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
		return ERROR_PERMISSION;
	default:
		return ERROR_SYSTEM;
	}
}

static const char *reason_of(const struct sqlite_store *store, int code)
{
	switch (code) {
	case ERROR_NO_SPACE:
		return "no space left on the device (nothing was changed)";
	case ERROR_MEMORY:
		return "out of memory";
	default:
		return sqlite3_errmsg(store->db);
	}
}

int sqlite_fail(const struct sqlite_store *store, const char *verb, struct error *error)
{
	int result = sqlite3_extended_errcode(store->db);
	int code = code_of(result);
	if ((result & 0xff) == SQLITE_BUSY)
		return error_set(error, code, "cannot %s store '%s': others write to it for %d s (try again)", verb,
				 store->path, SQLITE_WAIT_MS / 1000);
	return error_set(error, code, "cannot %s store '%s': %s", verb, store->path, reason_of(store, code));
}

sqlite3_stmt *sqlite_prepare(const struct sqlite_store *store, const char *sql, struct error *error)
{
	sqlite3_stmt *statement = NULL;
	if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK) {
		sqlite_fail(store, "read", error);
		return NULL;
	}
	return statement;
}

int sqlite_execute(const struct sqlite_store *store, const char *sql, const char *verb, struct error *error)
{
	return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sqlite_fail(store, verb, error);
}

int sqlite_run(const struct sqlite_store *store, sqlite3_stmt *statement, const char *verb, struct error *error)
{
	int status = sqlite3_step(statement) == SQLITE_DONE ? 0 : sqlite_fail(store, verb, error);
	sqlite3_reset(statement);
	return status;
}

int sqlite_end(const struct sqlite_store *store, int status, const char *verb, struct error *error)
{
	if (status == 0)
		status = sqlite_execute(store, "COMMIT", verb, error);
	if (status < 0)
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL); /* fails if SQLite has done it */
	return status;
}

/* Settings of each connection: no code out of the file, and nothing that trusts its bytes. */
static int harden(const struct sqlite_store *store, struct error *error)
{
	sqlite3_busy_timeout(store->db, SQLITE_WAIT_MS);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return sqlite_execute(store,
			      "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; "
			      "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384",
			      "open", error);
}

int sqlite_open_database(struct sqlite_store *store, const char *name, int flags, const char *vfs, struct error *error)
{
	flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	int result = sqlite3_open_v2(name, &store->db, flags, vfs);
	if (!store->db)
		return error_set(error, ERROR_MEMORY, "cannot open store '%s': out of memory", store->path);
	return result == SQLITE_OK ? harden(store, error) : sqlite_fail(store, "open", error);
}
