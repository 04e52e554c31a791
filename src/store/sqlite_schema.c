/*
 * application_id marks a store, user_version is the version of its tables. The text of each table
 * is compared too: a file could have a view or a trigger in its place, which would run somebody
 * else's SQL.
 *
 * Rows have small numbers as ids instead of their hashes, because hits, most of a store, then need
 * a byte or two each; they are in the order in which they are added, so that pages fill up. A
 * caller's stack has a smaller id than the stack itself.
 */
#include "store/sqlite.h"

#include <string.h>

enum { APPLICATION = 0x63707066, VERSION = 2 };

bool store_is_file(const unsigned char *start, size_t bytes)
{
	enum { APPLICATION_AT = 68 };                 /* in SQLite's header; the high byte comes first */
	static const char mark[] = "SQLite format 3"; /* with its NUL */
	static const unsigned char application[] = { APPLICATION >> 24, APPLICATION >> 16 & 0xff,
						     APPLICATION >> 8 & 0xff, APPLICATION & 0xff };
	return bytes >= APPLICATION_AT + sizeof(application) && memcmp(start, mark, sizeof(mark)) == 0 &&
	       memcmp(start + APPLICATION_AT, application, sizeof(application)) == 0;
}

static const char *const tables[] = {
	"CREATE TABLE settings(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
	/* Times in ns since 1970; buckets in units of the setting bucket_ns. */
	"CREATE TABLE profiles(id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, service TEXT NOT NULL, "
	"host TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, first_bucket INTEGER NOT NULL, "
	"added INTEGER NOT NULL, samples INTEGER NOT NULL, lost INTEGER NOT NULL, ended INTEGER NOT NULL, "
	"command TEXT NOT NULL, version TEXT NOT NULL, description BLOB NOT NULL)",
	"CREATE TABLE labels(profile INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, "
	"PRIMARY KEY(profile, key)) WITHOUT ROWID",
	"CREATE TABLE modules(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL UNIQUE, path TEXT NOT NULL, "
	"kind INTEGER NOT NULL, build_id BLOB NOT NULL)",
	"CREATE TABLE functions(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL UNIQUE, name TEXT NOT NULL, "
	"linkage TEXT NOT NULL, module INTEGER NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL, "
	"role INTEGER NOT NULL, category TEXT NOT NULL)",
	/* by_frames: all marks (store/hash.h) */
	"CREATE TABLE locations(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL UNIQUE, module INTEGER NOT NULL, "
	"address INTEGER NOT NULL, by_frames INTEGER NOT NULL)",
	/* file: NULL if it is that of the function */
	"CREATE TABLE frames(location INTEGER NOT NULL, depth INTEGER NOT NULL, function INTEGER NOT NULL, file TEXT, "
	"line INTEGER NOT NULL, discriminator INTEGER NOT NULL, inlined INTEGER NOT NULL, kind INTEGER NOT NULL, "
	"PRIMARY KEY(location, depth)) WITHOUT ROWID",
	/* parent: 0 if the location is the outermost one. The index has small numbers instead of a hash, and
	 * new paths come near its end. */
	"CREATE TABLE stacks(id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, location INTEGER NOT NULL, "
	"UNIQUE(parent, location))",
	/* Many rows in one block (store/rows.h). resource: its id in the profile's description; first, last: buckets, from the
	 * profile's first_bucket on; -1: hits without a time. */
	"CREATE TABLE hits(id INTEGER PRIMARY KEY, profile INTEGER NOT NULL, resource INTEGER NOT NULL, "
	"first INTEGER NOT NULL, last INTEGER NOT NULL, rows INTEGER NOT NULL, block BLOB NOT NULL)",
	"CREATE TABLE touches(id INTEGER PRIMARY KEY, profile INTEGER NOT NULL, resource INTEGER NOT NULL, "
	"first INTEGER NOT NULL, last INTEGER NOT NULL, rows INTEGER NOT NULL, block BLOB NOT NULL)",
	/* Indices come last: VACUUM moves them there. */
	"CREATE INDEX hits_of_profile ON hits(profile)",
	"CREATE INDEX touches_of_profile ON touches(profile)",
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

int sqlite_schema_make(struct sqlite_store *store, const struct store_settings *settings, struct error *error)
{
	static const char verb[] = "make";
	char text[256];
	int status = 0;
	for (size_t i = 0; i < TABLES && status == 0; i++)
		status = sqlite_execute(store, tables[i], verb, error);
	snprintf(text, sizeof(text),
		 "INSERT INTO settings VALUES('bucket_ns', %lld), ('retention_s', %lld);"
		 "PRAGMA application_id = %d; PRAGMA user_version = %d",
		 (long long)settings->bucket_ns, (long long)settings->retention_s, APPLICATION, VERSION);
	if (status == 0)
		status = sqlite_execute(store, text, verb, error);
	store->settings = *settings;
	return status;
}

/* Sets *number to the one number that a query returns. */
static int read_number(const struct sqlite_store *store, const char *sql, int64_t *number, struct error *error)
{
	sqlite3_stmt *statement = sqlite_prepare(store, sql, error);
	if (!statement)
		return error->code;
	int step = sqlite3_step(statement), status = 0;
	if (step == SQLITE_ROW && sqlite3_column_type(statement, 0) == SQLITE_INTEGER)
		*number = sqlite3_column_int64(statement, 0);
	else if (step == SQLITE_ROW || step == SQLITE_DONE)
		status = error_set(error, ERROR_CORRUPT, "cannot read store '%s': a setting is missing", store->path);
	else
		status = sqlite_fail(store, "read", error);
	sqlite3_finalize(statement);
	return status;
}

/* Returns the number of tables, or a negative error if they are not those of a store. */
static int compare_tables(const struct sqlite_store *store, struct error *error)
{
	sqlite3_stmt *statement = sqlite_prepare(
		store,
		"SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
		"ORDER BY rowid",
		error);
	if (!statement)
		return error->code;
	int count = 0, step;
	bool is_ours = true;
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *sql = (const char *)sqlite3_column_text(statement, 0);
		is_ours = is_ours && count < (int)TABLES && sql && strcmp(sql, tables[count]) == 0;
		count++;
	}
	int status = step == SQLITE_DONE ? 0 : sqlite_fail(store, "read", error);
	sqlite3_finalize(statement);
	if (status < 0)
		return status;
	return count == 0 || (is_ours && count == (int)TABLES) ? count : ERROR_FORMAT;
}

static int check_settings(struct sqlite_store *store, struct error *error)
{
	struct store_settings *settings = &store->settings;
	int status =
		read_number(store, "SELECT value FROM settings WHERE name = 'bucket_ns'", &settings->bucket_ns, error);
	if (status == 0)
		status = read_number(store, "SELECT value FROM settings WHERE name = 'retention_s'",
				     &settings->retention_s, error);
	if (status == 0 && (settings->bucket_ns <= 0 || settings->retention_s < 0))
		status = error_set(error, ERROR_CORRUPT, "cannot read store '%s': a setting is out of range",
				   store->path);
	return status;
}

int sqlite_schema_check(struct sqlite_store *store, struct error *error)
{
	int64_t application = 0, version = 0;
	int status = read_number(store, "PRAGMA application_id", &application, error);
	if (status == 0)
		status = read_number(store, "PRAGMA user_version", &version, error);
	if (status < 0)
		return status;
	int count = compare_tables(store, error);
	if (count < 0 && count != ERROR_FORMAT)
		return count;
	if (count == 0 && application == 0 && version == 0)
		return 1;
	if (application != APPLICATION)
		return error_set(error, ERROR_FORMAT,
				 "cannot open store '%s': it is the SQLite file of another program (name another file)",
				 store->path);
	if (version > VERSION)
		return error_set(error, ERROR_VERSION, "cannot open store '%s': a newer cpprof made it (update cpprof)",
				 store->path);
	if (version > 0 && version < VERSION)
		return error_set(
			error, ERROR_VERSION,
			"cannot open store '%s': an older cpprof made it, and this one has other tables (add the "
			"recordings to a new store, or read it with that cpprof)",
			store->path);
	if (count != (int)TABLES || version != VERSION)
		return error_set(error, ERROR_CORRUPT,
				 "cannot open store '%s': its tables are not those of a store (make a new one)",
				 store->path);
	return check_settings(store, error);
}
