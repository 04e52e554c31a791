/* The sizes of a store on SQLite, and the removal of old recordings. */
#include <sys/stat.h>

#include "store/sqlite.h"

static int64_t file_bytes(const struct sqlite_store *store, const char *ending)
{
	char path[4096];
	struct stat status;
	snprintf(path, sizeof(path), "%s%s", store->path, ending);
	return stat(path, &status) == 0 ? status.st_size : 0;
}

int sqlite_store_stats(struct store *base, struct store_statistics *statistics, struct error *error)
{
	static const char sql[] =
		"SELECT (SELECT count(*) FROM profiles), (SELECT count(*) FROM hits), "
		"(SELECT coalesce(sum(samples), 0) FROM profiles), (SELECT count(*) FROM touches), "
		"(SELECT count(*) FROM stacks), (SELECT count(*) FROM locations), (SELECT count(*) FROM functions), "
		"(SELECT count(*) FROM modules), (SELECT coalesce(min(start), 0) FROM profiles), "
		"(SELECT coalesce(max(end), 0) FROM profiles)";
	const struct sqlite_store *store = (struct sqlite_store *)base;
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

/* Removes everything to which no recording refers. */
static const char sweep[] =
	"CREATE TEMP TABLE used(id INTEGER PRIMARY KEY);"
	"INSERT INTO used WITH RECURSIVE up(id) AS (SELECT stack FROM main.hits UNION SELECT stack FROM main.touches "
	"UNION SELECT parent FROM main.stacks JOIN up ON stacks.id = up.id) SELECT id FROM up;"
	"DELETE FROM main.stacks WHERE id NOT IN (SELECT id FROM used);"
	"DELETE FROM main.locations WHERE id NOT IN (SELECT location FROM main.stacks);"
	"DELETE FROM main.frames WHERE location NOT IN (SELECT id FROM main.locations);"
	"DELETE FROM main.functions WHERE id NOT IN (SELECT function FROM main.frames);"
	"DELETE FROM main.modules WHERE id NOT IN (SELECT module FROM main.locations) "
	"AND id NOT IN (SELECT module FROM main.functions);"
	"DROP TABLE used";

/* Removes recordings with their rows. Their ids are in the table `gone`. */
static const char removal[] =
	"DELETE FROM main.hits WHERE series IN (SELECT id FROM main.series WHERE profile IN (SELECT id FROM gone));"
	"DELETE FROM main.touches WHERE series IN (SELECT id FROM main.series WHERE profile IN (SELECT id FROM gone));"
	"DELETE FROM main.series WHERE profile IN (SELECT id FROM gone);"
	"DELETE FROM main.labels WHERE profile IN (SELECT id FROM gone);"
	"DELETE FROM main.profiles WHERE id IN (SELECT id FROM gone);"
	"DROP TABLE gone";

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
		status = sqlite_execute(store, sweep, "prune", error);
	status = sqlite_end(store, status, "prune", error);
	/* Returns the pages to the disk. */
	if (status == 0)
		status = sqlite_execute(store, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", "compact", error);
	return status;
}
