#include "store/sqlite.h"

enum {
	MOST = 1 << 20,    /* ids of a table in memory, 32 bytes each */
	ROWS_PER_FIND = 8, /* rows that are read one after the other in the time in which one is found by its key */
};

static const char *const names[SQLITE_TABLES] = {
	[SQLITE_MODULES] = "modules",
	[SQLITE_FUNCTIONS] = "functions",
	[SQLITE_LOCATIONS] = "locations",
	[SQLITE_STACKS] = "stacks",
};
static const char *const keys[SQLITE_TABLES] = {
	[SQLITE_MODULES] = "hash",
	[SQLITE_FUNCTIONS] = "hash",
	[SQLITE_LOCATIONS] = "hash",
	[SQLITE_STACKS] = "parent << 32 | location",
};

void sqlite_known_forget(struct sqlite_store *store)
{
	for (int i = 0; i < SQLITE_TABLES; i++) {
		hash_map_release(&store->known[i].ids);
		store->known[i].is_whole = false;
	}
}

/* Sets *number to the one number of a query. */
static int read_number(const struct sqlite_store *store, const char *sql, int64_t *number, struct error *error)
{
	sqlite3_stmt *statement = sqlite_prepare(store, sql, error);
	if (!statement)
		return error->code;
	int status = sqlite3_step(statement) == SQLITE_ROW ? 0 : sqlite_fail(store, "read", error);
	*number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return status;
}

static int read_all(const struct sqlite_store *store, enum sqlite_table table, struct sqlite_known *known,
		    struct error *error)
{
	char sql[96];
	int step = SQLITE_DONE, status = 0;
	snprintf(sql, sizeof(sql), "SELECT id, %s FROM %s", keys[table], names[table]);
	sqlite3_stmt *statement = sqlite_prepare(store, sql, error);
	if (!statement)
		return error->code;
	while (status == 0 && (step = sqlite3_step(statement)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(statement, 0);
		status = id <= 0 || id > MOST ? ERROR_CORRUPT
					      : hash_map_put(&known->ids, (uint64_t)sqlite3_column_int64(statement, 1),
							     (uint32_t)id);
	}
	if (status < 0)
		error_set(error, status, "cannot read store '%s': %s", store->path, error_text(status));
	else if (step != SQLITE_DONE)
		status = sqlite_fail(store, "read", error);
	sqlite3_finalize(statement);
	known->is_whole = status == 0;
	return status;
}

static int prepare_table(const struct sqlite_store *store, enum sqlite_table table, struct sqlite_known *known,
			 size_t wanted, struct error *error)
{
	char sql[96];
	int64_t last;
	if (known->ids.count > MOST) {
		hash_map_release(&known->ids);
		known->is_whole = false;
	}
	if (known->is_whole || known->ids.count >= wanted)
		return 0;
	snprintf(sql, sizeof(sql), "SELECT coalesce(max(id), 0) FROM %s", names[table]);
	int status = read_number(store, sql, &last, error);
	if (status < 0 || last > MOST || (uint64_t)last / ROWS_PER_FIND > wanted)
		return status;
	return read_all(store, table, known, error);
}

int sqlite_known_begin(struct sqlite_store *store, const size_t *wanted, struct error *error)
{
	int64_t version;
	int status = read_number(store, "PRAGMA data_version", &version, error);
	if (status == 0 && version != store->known_version)
		sqlite_known_forget(store);
	store->known_version = version;
	for (int i = 0; i < SQLITE_TABLES && status == 0; i++)
		status = prepare_table(store, (enum sqlite_table)i, &store->known[i], wanted[i], error);
	return status;
}
