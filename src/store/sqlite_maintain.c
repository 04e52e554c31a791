/* The sizes of a store on SQLite, and the removal of old recordings. */
#include <stdlib.h>
#include <sys/stat.h>

#include "store/rows.h"
#include "store/sqlite.h"

static int64_t file_bytes(const struct sqlite_store *store, const char *ending)
{
	char path[4096];
	struct stat status;
	snprintf(path, sizeof(path), "%s%s", store->path, ending);
	return stat(path, &status) == 0 ? status.st_size : 0;
}

static int read_stats(const struct sqlite_store *store, struct store_statistics *statistics, struct error *error)
{
	static const char sql[] =
		"SELECT (SELECT count(*) FROM profiles), (SELECT coalesce(sum(rows), 0) FROM hits), "
		"(SELECT coalesce(sum(samples), 0) FROM profiles), (SELECT coalesce(sum(rows), 0) FROM touches), "
		"(SELECT count(*) FROM stacks), (SELECT count(*) FROM locations), (SELECT count(*) FROM functions), "
		"(SELECT count(*) FROM modules), (SELECT coalesce(min(start), 0) FROM profiles), "
		"(SELECT coalesce(max(end), 0) FROM profiles)";
	*statistics = (struct store_statistics){ .settings = store->settings };
	uint64_t *const counts[] = { &statistics->profiles,  &statistics->hits,   &statistics->samples,
				     &statistics->touches,   &statistics->stacks, &statistics->locations,
				     &statistics->functions, &statistics->modules };
	sqlite3_stmt *row = sqlite_prepare(store, sql, error);
	if (!row)
		return error->code;
	int status = sqlite3_step(row) == SQLITE_ROW ? 0 : sqlite_fail(store, "read", error);
	int column = 0;
	for (size_t i = 0; status == 0 && i < sizeof(counts) / sizeof(counts[0]); i++)
		*counts[i] = (uint64_t)sqlite3_column_int64(row, column++);
	if (status == 0) {
		statistics->first_unix_ns = sqlite3_column_int64(row, column++);
		statistics->last_unix_ns = sqlite3_column_int64(row, column);
		statistics->bytes = (uint64_t)(file_bytes(store, "") + file_bytes(store, "-wal"));
	}
	sqlite3_finalize(row);
	return status;
}

int sqlite_store_stats(struct store *base, struct store_statistics *statistics, struct error *error)
{
	struct sqlite_store *store = (struct sqlite_store *)base;
	int attempts = 0, again = 1, status = 0;
	while (again > 0) {
		status = read_stats(store, statistics, error);
		again = sqlite_read_again(store, &attempts, error);
	}
	return again < 0 ? again : status;
}

/* --- what is used --- */

/* By id: whether a row of hits or touches, or another stack, refers to the stack. */
struct used {
	const struct sqlite_store *store;
	struct rows_unpacker unpacker;
	uint8_t *bits; /* owned */
	int64_t last;  /* the largest id */
	struct error *error;
};

static int damaged(const struct used *used, const char *what)
{
	return error_set(used->error, ERROR_CORRUPT, "cannot prune store '%s': it is damaged: %s", used->store->path,
			 what);
}

static bool is_used(const struct used *used, int64_t stack)
{
	return stack > 0 && stack <= used->last && used->bits[stack / 8] >> stack % 8 & 1;
}

static int use(const struct used *used, int64_t stack)
{
	if (stack < 0 || stack > used->last)
		return damaged(used, "a row is missing");
	used->bits[stack / 8] |= (uint8_t)(1 << stack % 8);
	return 0;
}

/* Calls `each` for all rows of a query. Returns 0 or a negative error. */
static int for_rows(struct used *used, const char *sql, int (*each)(struct used *used, sqlite3_stmt *row))
{
	sqlite3_stmt *row = sqlite_prepare(used->store, sql, used->error);
	int status = row ? 0 : used->error->code, step = SQLITE_DONE;
	while (status == 0 && (step = sqlite3_step(row)) == SQLITE_ROW)
		status = each(used, row);
	if (status == 0 && step != SQLITE_DONE)
		status = sqlite_fail(used->store, "prune", used->error);
	sqlite3_finalize(row);
	return status;
}

static int use_rows(struct used *used, sqlite3_stmt *row, enum format_block_type type)
{
	int64_t count =
		rows_unpack(&used->unpacker, type, sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0));
	int status = 0;
	if (count == ERROR_MEMORY)
		return error_memory(used->error);
	if (count < 0)
		return damaged(used, "a block of rows cannot be read");
	for (int64_t i = 0; i < count && status == 0; i++)
		status = use(used, (int64_t)used->unpacker.rows[i].stack);
	return status;
}

static int use_hits(struct used *used, sqlite3_stmt *row)
{
	return use_rows(used, row, BLOCK_HITS);
}

static int use_touches(struct used *used, sqlite3_stmt *row)
{
	return use_rows(used, row, BLOCK_TOUCHES);
}

static int use_parent(struct used *used, sqlite3_stmt *row)
{
	return is_used(used, sqlite3_column_int64(row, 0)) ? use(used, sqlite3_column_int64(row, 1)) : 0;
}

static int make_room(struct used *used, sqlite3_stmt *row)
{
	used->last = sqlite3_column_int64(row, 0);
	if (used->last < 0 || used->last > SQLITE_ID_MOST)
		return damaged(used, "a number is out of range");
	used->bits = calloc((size_t)used->last / 8 + 1, 1);
	return used->bits ? 0 : error_memory(used->error);
}

/* Callers have smaller ids. */
static int find_used(struct used *used)
{
	int status = rows_unpacker_init(&used->unpacker) < 0 ? error_memory(used->error) : 0;
	if (status == 0)
		status = for_rows(used, "SELECT coalesce(max(id), 0) FROM stacks", make_room);
	if (status == 0)
		status = for_rows(used, "SELECT block FROM hits", use_hits);
	if (status == 0)
		status = for_rows(used, "SELECT block FROM touches", use_touches);
	return status == 0 ? for_rows(used, "SELECT id, parent FROM stacks ORDER BY id DESC", use_parent) : status;
}

static void is_used_in_sql(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	sqlite3_result_int(context, is_used(sqlite3_user_data(context), sqlite3_value_int64(values[0])));
}

/* --- removal --- */

/* Removes recordings with their rows. Their ids are in the table `gone`. */
static const char removal[] = "DELETE FROM main.hits WHERE profile IN (SELECT id FROM gone);"
			      "DELETE FROM main.touches WHERE profile IN (SELECT id FROM gone);"
			      "DELETE FROM main.labels WHERE profile IN (SELECT id FROM gone);"
			      "DELETE FROM main.profiles WHERE id IN (SELECT id FROM gone);"
			      "DROP TABLE gone";

/* Removes everything to which no recording refers. */
static int sweep(const struct sqlite_store *store, struct error *error)
{
	static const char sql[] = "DELETE FROM main.stacks WHERE NOT is_used(id);"
				  "DELETE FROM main.locations WHERE id NOT IN (SELECT location FROM main.stacks);"
				  "DELETE FROM main.frames WHERE location NOT IN (SELECT id FROM main.locations);"
				  "DELETE FROM main.functions WHERE id NOT IN (SELECT function FROM main.frames);"
				  "DELETE FROM main.modules WHERE id NOT IN (SELECT module FROM main.locations) "
				  "AND id NOT IN (SELECT module FROM main.functions)";
	struct used used = { .store = store, .error = error };
	int status = find_used(&used);
	if (status == 0 && sqlite3_create_function(store->db, "is_used", 1, SQLITE_UTF8, &used, is_used_in_sql, NULL,
						   NULL) != SQLITE_OK)
		status = sqlite_fail(store, "prune", error);
	if (status == 0)
		status = sqlite_execute(store, sql, "prune", error);
	sqlite3_create_function(store->db, "is_used", 1, SQLITE_UTF8, NULL, NULL, NULL, NULL);
	rows_unpacker_release(&used.unpacker);
	free(used.bits);
	return status;
}

static int choose(const struct sqlite_store *store, int64_t before_unix_ns, const char *service, uint64_t *removed,
		  struct error *error)
{
	int status = sqlite_execute(store, "CREATE TEMP TABLE gone(id INTEGER PRIMARY KEY)", "prune", error);
	sqlite3_stmt *statement =
		status == 0 ? sqlite_prepare(store,
					     "INSERT INTO gone SELECT id FROM main.profiles WHERE end < ?1 AND "
					     "(?2 IS NULL OR service = ?2)",
					     error)
			    : NULL;
	if (!statement)
		return error->code;
	sqlite3_bind_int64(statement, 1, before_unix_ns);
	sqlite3_bind_text(statement, 2, service, -1, SQLITE_STATIC);
	status = sqlite_run(store, statement, "prune", error);
	*removed = (uint64_t)sqlite3_changes64(store->db);
	sqlite3_finalize(statement);
	return status;
}

int sqlite_store_prune(struct store *base, int64_t before_unix_ns, const char *service, uint64_t *removed,
		       struct error *error)
{
	const struct sqlite_store *store = (struct sqlite_store *)base;
	*removed = 0;
	int status = sqlite_execute(store, "BEGIN IMMEDIATE", "prune", error);
	if (status < 0)
		return status;
	status = choose(store, before_unix_ns, service, removed, error);
	if (status == 0)
		status = sqlite_execute(store, removal, "prune", error);
	if (status == 0)
		status = sweep(store, error);
	status = sqlite_end(store, status, "prune", error);
	/* Returns the pages to the disk. */
	if (status == 0)
		status = sqlite_execute(store, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", "compact", error);
	return status;
}
