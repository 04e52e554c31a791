/*
 * Rows are keyed by hashes of their content, so that writers need no order among each other: equal
 * rows of modules, functions, locations and stacks become one when the server merges, and until
 * then they say the same. A recording's hits are rows under a random number, its batch; they count
 * only with a row of `profiles` that names the batch, which is written last.
 *
 * With a cluster, TABLE is a Distributed table over the tables TABLE_shard of all shards. Each
 * server has both, and its own settings.
 */
#include "store/clickhouse.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 2, DAY_S = 86400, FIRST_WITH_TTL = 20 };

static const struct table {
	const char *name;
	const char *columns; /* NAME TYPE[ DEFAULT EXPRESSION], ... */
	const char *engine;
	const char *partition; /* "": none */
	const char *order;
	const char *time; /* the retention begins then; NULL: rows stay */
	int margin_s;     /* after the retention: what refers to a row goes first */
	const char
		*shard; /* with a cluster: the expression that chooses the shard; "": the table is each server's own */
} tables[] = {
	/* Times in ns since 1970; buckets in units of the setting bucket_ns. removed 1: the batch counts no more. lists: of the stacks to which the
	 * recording's rows refer by numbers (clickhouse_known.c). */
	{ "profiles",
	  "identity FixedString(16), batch UInt64, removed UInt8, service String, host String, start_ns Int64, end_ns "
	  "Int64, "
	  "first_bucket Int64, samples UInt64, lost UInt64, ended UInt8, command String, version String, hit_rows "
	  "UInt64, "
	  "touch_rows UInt64, lists Array(UInt64), label_keys Array(String), label_values Array(String), description "
	  "String, "
	  "added DateTime DEFAULT now()",
	  "ReplacingMergeTree(removed)", "", "identity, batch", "toDateTime(intDiv(end_ns, 1000000000))", 0,
	  "cityHash64(identity)" },
	{ "modules", "hash UInt64, path String, kind UInt8, build_id String, seen DateTime DEFAULT now()",
	  "ReplacingMergeTree(seen)", "", "hash", "seen", 9 * DAY_S, "hash" },
	{ "functions",
	  "hash UInt64, name String, linkage String, module UInt64, file String, line UInt32, role UInt8, category "
	  "String, "
	  "seen DateTime DEFAULT now()",
	  "ReplacingMergeTree(seen)", "", "hash", "seen", 9 * DAY_S, "hash" },
	/* by_frames: all marks (store/hash.h). The frames, the innermost one first; kinds: twice the kind, + 1 if inlined. */
	{ "locations",
	  "hash UInt64, module UInt64, address UInt64, by_frames UInt8, functions Array(UInt64), files Array(String), "
	  "lines Array(UInt32), discriminators Array(UInt32), kinds Array(UInt8), seen DateTime DEFAULT now()",
	  "ReplacingMergeTree(seen)", "", "hash", "seen", 9 * DAY_S, "hash" },
	/* The locations below the stack `parent` (0: none), the outermost one first. */
	{ "stacks", "hash UInt64, parent UInt64, locations Array(UInt64), seen DateTime DEFAULT now()",
	  "ReplacingMergeTree(seen)", "", "hash", "seen", 9 * DAY_S, "hash" },
	{ "stack_lists", "hash UInt64, stacks Array(UInt64), seen DateTime DEFAULT now()", "ReplacingMergeTree(seen)",
	  "", "hash", "seen", 9 * DAY_S, "hash" },
	/* Many rows in one block (store/rows.h). number: the resource's id in the profile's description; time, last: the first and the last
	 * bucket; hits without a time are in the profile's first one. */
	{ "hits",
	  "service String, resource String, time DateTime, last DateTime, batch UInt64, number UInt32, rows UInt32, "
	  "block "
	  "String, written DateTime DEFAULT now()",
	  "MergeTree", "toDate(time)", "service, resource, time, batch, number", "last", 7 * DAY_S, "batch" },
	{ "touches",
	  "service String, resource String, time DateTime, last DateTime, batch UInt64, number UInt32, rows UInt32, "
	  "block "
	  "String, written DateTime DEFAULT now()",
	  "MergeTree", "toDate(time)", "service, resource, time, batch, number", "last", 7 * DAY_S, "batch" },
	/* The last table that is made: a database without it has no store. */
	{ "settings", "name String, value Int64, text String", "ReplacingMergeTree", "", "name, value, text", NULL, 0,
	  "" },
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

/* --- making --- */

static int execute(const struct clickhouse_store *store, struct buffer *sql, struct error *error)
{
	buffer_append_byte(sql, 0);
	int status = buffer_error(sql) < 0
			     ? clickhouse_fail(store, "make", ERROR_MEMORY, error_text(ERROR_MEMORY), error)
			     : clickhouse_execute(store, (const char *)sql->bytes, true, "make", error);
	buffer_clear(sql);
	return status;
}

/* `retention_s`: of the server, which deletes older rows by itself; 0: it does not. */
static int make_table(const struct clickhouse_store *store, const struct table *table, const char *cluster,
		      int64_t retention_s, struct error *error)
{
	struct buffer sql;
	buffer_init(&sql);
	cluster = *table->shard ? cluster : NULL;
	const char *ending = cluster ? "_shard" : "";
	buffer_printf(&sql, "CREATE TABLE IF NOT EXISTS %s%s(%s) ENGINE = %s %s%s ORDER BY (%s)", table->name, ending,
		      table->columns, table->engine, *table->partition ? "PARTITION BY " : "", table->partition,
		      table->order);
	if (retention_s > 0 && table->time)
		buffer_printf(&sql, " TTL %s + toIntervalSecond(%lld)", table->time,
			      (long long)retention_s + table->margin_s);
	int status = execute(store, &sql, error);
	if (status == 0 && cluster) {
		buffer_printf(&sql,
			      "CREATE TABLE IF NOT EXISTS %s AS %s_shard ENGINE = Distributed(%s, %s, %s_shard, %s)",
			      table->name, table->name, cluster, store->database, table->name, table->shard);
		status = execute(store, &sql, error);
	}
	buffer_release(&sql);
	return status;
}

static void put_setting(struct buffer *rows, const char *name, int64_t value, const char *text)
{
	clickhouse_put_text(rows, name);
	clickhouse_put_u64(rows, (uint64_t)value);
	clickhouse_put_text(rows, text);
}

static int put_settings(const struct clickhouse_store *store, const struct store_settings *settings,
			struct error *error)
{
	struct buffer rows;
	buffer_init(&rows);
	put_setting(&rows, "version", VERSION, "");
	put_setting(&rows, "bucket_ns", settings->bucket_ns, "");
	put_setting(&rows, "retention_s", settings->retention_s, "");
	put_setting(&rows, "cluster", 0, settings->cluster ? settings->cluster : "");
	int status = clickhouse_insert(store, "settings(name, value, text)", &rows, false, error);
	buffer_release(&rows);
	return status;
}

int clickhouse_schema_make(struct clickhouse_store *store, const struct store_settings *settings, struct error *error)
{
	char text[128];
	uint64_t version = 0;
	snprintf(text, sizeof(text), "CREATE DATABASE IF NOT EXISTS %s", store->database);
	int status = clickhouse_execute(store, text, false, "make", error);
	if (status == 0 && settings->retention_s > 0)
		status = clickhouse_numbers(store, "SELECT toUInt64(splitByChar('.', version())[1])", &version, 1,
					    error);
	int64_t retention_s = version >= FIRST_WITH_TTL ? settings->retention_s : 0;
	for (size_t i = 0; i < TABLES && status == 0; i++)
		status = make_table(store, &tables[i], settings->cluster, retention_s, error);
	return status == 0 ? put_settings(store, settings, error) : status;
}

/* --- checking --- */

struct check {
	struct clickhouse_store *store;
	struct error *error;
	size_t found, foreign;
	bool has_settings;
};

static bool is_text(const struct clickhouse_value *value, const char *text, size_t size)
{
	return value->size == size && memcmp(value->bytes, text, size) == 0;
}

/* Returns the number of columns. If `name` is not NULL, sets *has to whether there is that one. */
static size_t find_column(const struct table *table, const struct clickhouse_value *name,
			  const struct clickhouse_value *type, bool *has)
{
	size_t count = 0;
	for (const char *at = table->columns; *at; count++) {
		size_t length = strcspn(at, ","), name_bytes = strcspn(at, " ");
		const char *default_at = strstr(at, " DEFAULT ");
		size_t type_end = default_at && default_at < at + length ? (size_t)(default_at - at) : length;
		if (name && is_text(name, at, name_bytes) &&
		    is_text(type, at + name_bytes + 1, type_end - name_bytes - 1))
			*has = true;
		at += length;
		at += strspn(at, ", ");
	}
	return count;
}

static int take_column(void *context, const struct clickhouse_value *row)
{
	struct check *check = context;
	for (size_t i = 0; i < TABLES; i++) {
		bool has = false;
		if (!is_text(&row[0], tables[i].name, strlen(tables[i].name)))
			continue;
		find_column(&tables[i], &row[1], &row[2], &has);
		check->found += has;
		check->foreign += !has;
		check->has_settings = check->has_settings || strcmp(tables[i].name, "settings") == 0;
	}
	return 0;
}

static size_t column_count(void)
{
	size_t count = 0;
	for (size_t i = 0; i < TABLES; i++)
		count += find_column(&tables[i], NULL, NULL, NULL);
	return count;
}

static int take_setting(void *context, const struct clickhouse_value *row)
{
	struct check *check = context;
	struct clickhouse_store *store = check->store;
	int64_t *const numbers[] = { &store->settings.bucket_ns, &store->settings.retention_s };
	static const char *const names[] = { "bucket_ns", "retention_s" };
	if (row[3].number > 1)
		return clickhouse_fail(store, "open", ERROR_CORRUPT,
				       "its servers were made with different settings (make a new one)", check->error);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_text(&row[0], names[i], strlen(names[i])))
			*numbers[i] = (int64_t)row[1].number;
	if (is_text(&row[0], "version", strlen("version")) && (int64_t)row[1].number > VERSION)
		return clickhouse_fail(store, "open", ERROR_VERSION, "a newer cpprof made it (update cpprof)",
				       check->error);
	if (is_text(&row[0], "cluster", strlen("cluster")) && row[2].size < sizeof(store->cluster)) {
		memcpy(store->cluster, row[2].bytes, row[2].size);
		store->cluster[row[2].size] = 0;
	}
	check->found++;
	return 0;
}

/* `from`: the table settings of this server, or of several ones. */
static int read_settings(struct check *check, const char *from)
{
	struct clickhouse_store *store = check->store;
	char sql[256];
	snprintf(sql, sizeof(sql), "SELECT name, max(value), max(text), uniqExact(value, text) FROM %s GROUP BY name",
		 from);
	const struct clickhouse_query query = {
		.sql = sql,
		.types = "sqsq",
		.is_short = true,
		.take = take_setting,
		.context = check,
	};
	check->found = 0;
	int status = clickhouse_select(store, &query, check->error);
	store->settings.cluster = *store->cluster ? store->cluster : NULL;
	if (status == 0 && check->found == 0)
		return 1; /* its maker has not come so far */
	if (status == 0 && (store->settings.bucket_ns < STORE_NS_PER_S || store->settings.retention_s < 0))
		status = clickhouse_fail(store, "read", ERROR_CORRUPT, "a setting is out of range", check->error);
	return status;
}

int clickhouse_schema_check_cluster(struct clickhouse_store *store, struct error *error)
{
	struct check check = { .store = store, .error = error };
	struct error reason = { 0 };
	char from[256];
	if (!*store->cluster)
		return 0;
	snprintf(from, sizeof(from), "cluster('%s', %s, settings)", store->cluster, store->database);
	check.error = &reason;
	int status = read_settings(&check, from);
	if (status >= 0)
		return 0;
	return reason.code == ERROR_NOT_FOUND
		       ? clickhouse_fail(store, "open", ERROR_NOT_FOUND,
					 "a server of its cluster has no tables (cpprof store init --cluster on each)",
					 error)
		       : error_set(error, reason.code, "%s", reason.message);
}

int clickhouse_schema_check(struct clickhouse_store *store, struct error *error)
{
	struct check check = { .store = store, .error = error };
	char sql[256];
	snprintf(sql, sizeof(sql), "SELECT table, name, type FROM system.columns WHERE database = '%s'",
		 store->database);
	const struct clickhouse_query query = {
		.sql = sql, .types = "sss", .is_system = true, .is_short = true, .take = take_column, .context = &check
	};
	int status = clickhouse_select(store, &query, error);
	if (status < 0)
		return status;
	bool is_ours = check.foreign == 0 && check.found == column_count();
	if (!check.has_settings && check.foreign == 0)
		return 1;
	if (!is_ours)
		return clickhouse_fail(store, "open", ERROR_FORMAT,
				       "its tables are not those of a store of this version (name another database)",
				       error);
	return read_settings(&check, "settings");
}
