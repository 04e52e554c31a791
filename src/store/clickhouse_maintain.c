/*
 * The sizes of a store on ClickHouse, and the removal of old recordings. A row of `profiles` with
 * removed = 1 hides a batch at once. The server then deletes rows in the background (ALTER TABLE
 * ... DELETE), where this program waits for it:
 *
 *   hits, touches   of hidden batches, and of those that no writer will complete anymore
 *   profiles        rows of hidden batches; those that hide them a week later
 *   names           that were last stored before the oldest recording was added: each writer stores anew what is not fresh
 *
 * With a cluster, each server deletes only its own rows.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "store/clickhouse.h"

enum { DELETE_WAIT_S = 60, POLL_MS = 50, HIDDEN_S = 7 * 86400 };

static int out_of_memory(const struct clickhouse_store *store, struct error *error)
{
	return clickhouse_fail(store, "read", ERROR_MEMORY, error_text(ERROR_MEMORY), error);
}

/* --- sizes --- */

static int count_recordings(const struct clickhouse_store *store, struct store_statistics *statistics,
			    struct error *error)
{
	static const char sql[] =
		"SELECT count(), sum(samples), min(start_ns), max(end_ns), sum(hit_rows), sum(touch_rows) FROM (SELECT "
		"start_ns, end_ns, samples, hit_rows, touch_rows, identity, batch FROM profiles WHERE " CLICKHOUSE_LIVE
			CLICKHOUSE_LIVE_ONCE ")";
	uint64_t numbers[6];
	int status = clickhouse_numbers(store, sql, numbers, 6, error);
	if (status < 0)
		return status;
	statistics->profiles = numbers[0];
	statistics->samples = numbers[1];
	statistics->first_unix_ns = numbers[0] ? (int64_t)numbers[2] : 0;
	statistics->last_unix_ns = numbers[0] ? (int64_t)numbers[3] : 0;
	statistics->hits = numbers[4];
	statistics->touches = numbers[5];
	return 0;
}

static int count_bytes(const struct clickhouse_store *store, uint64_t *bytes, struct error *error)
{
	char sql[384];
	snprintf(
		sql, sizeof(sql),
		*store->cluster
			? "SELECT sum(bytes_on_disk) FROM cluster('%s', system, parts) WHERE active AND database = '%s'"
			: "SELECT sum(bytes_on_disk) FROM %ssystem.parts WHERE active AND database = '%s'",
		store->cluster, store->database);
	return clickhouse_numbers(store, sql, bytes, 1, error);
}

int clickhouse_store_stats(struct store *base, struct store_statistics *statistics, struct error *error)
{
	const struct clickhouse_store *store = (struct clickhouse_store *)base;
	*statistics = (struct store_statistics){ .settings = store->settings };
	uint64_t *const counts[] = { &statistics->stacks, &statistics->locations, &statistics->functions,
				     &statistics->modules };
	static const char *const tables[] = { "stacks", "locations", "functions", "modules" };
	int status = count_recordings(store, statistics, error);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && status == 0; i++) {
		char sql[64];
		snprintf(sql, sizeof(sql), "SELECT uniqExact(hash) FROM %s", tables[i]);
		status = clickhouse_numbers(store, sql, counts[i], 1, error);
	}
	return status == 0 ? count_bytes(store, &statistics->bytes, error) : status;
}

/* --- removal --- */

/* Appends the condition on the recordings that are to be removed. */
static void append_chosen(struct buffer *sql, int64_t before_unix_ns, const char *service)
{
	buffer_printf(sql, CLICKHOUSE_LIVE " AND end_ns < %" PRId64, before_unix_ns);
	if (service) {
		buffer_append_string(sql, " AND service = ");
		clickhouse_append_literal(sql, service);
	}
}

static int count_chosen(const struct clickhouse_store *store, int64_t before_unix_ns, const char *service,
			uint64_t *count, struct error *error)
{
	struct buffer sql;
	buffer_init(&sql);
	buffer_append_string(&sql, "SELECT uniqExact(identity) FROM profiles WHERE ");
	append_chosen(&sql, before_unix_ns, service);
	buffer_append_byte(&sql, 0);
	int status = buffer_error(&sql) < 0 ? out_of_memory(store, error)
					    : clickhouse_numbers(store, (const char *)sql.bytes, count, 1, error);
	buffer_release(&sql);
	return status;
}

static int hide(const struct clickhouse_store *store, int64_t before_unix_ns, const char *service, struct error *error)
{
	struct buffer sql;
	buffer_init(&sql);
	buffer_append_string(&sql,
			     "INSERT INTO profiles(identity, batch, removed, service, host, start_ns, end_ns) SELECT "
			     "identity, batch, 1, service, host, start_ns, end_ns FROM profiles WHERE ");
	append_chosen(&sql, before_unix_ns, service);
	buffer_append_byte(&sql, 0);
	int status = buffer_error(&sql) < 0 ? out_of_memory(store, error)
					    : clickhouse_execute(store, (const char *)sql.bytes, true, "prune", error);
	buffer_release(&sql);
	return status;
}

/* Waits until the server has deleted rows, or for a minute: it then goes on alone. */
static int wait_for_deletion(const struct clickhouse_store *store, struct error *error)
{
	const struct timespec pause = { .tv_nsec = (long)POLL_MS * 1000 * 1000 };
	uint64_t left = 1;
	char sql[192];
	int status = 0;
	snprintf(sql, sizeof(sql), "SELECT count() FROM system.mutations WHERE NOT is_done AND database = '%s'",
		 store->database);
	for (int i = 0; i < DELETE_WAIT_S * 1000 / POLL_MS && status == 0 && left > 0; i++) {
		if (i > 0)
			nanosleep(&pause, NULL);
		status = clickhouse_numbers(store, sql, &left, 1, error);
	}
	return status;
}

/* Deletes rows of this server. `where` has no subquery over other tables than those of the store. */
static int delete_rows(const struct clickhouse_store *store, const char *table, const char *where, struct error *error)
{
	char sql[1024];
	const char *ending = *store->cluster ? "_shard" : "";
	uint64_t count;
	/* A deletion looks at all parts of a table, also if there is nothing to delete. */
	snprintf(sql, sizeof(sql), "SELECT count() FROM %s%s WHERE %s", table, ending, where);
	int status = clickhouse_numbers(store, sql, &count, 1, error);
	if (status < 0 || count == 0)
		return status;
	snprintf(sql, sizeof(sql), "ALTER TABLE %s%s DELETE WHERE %s", table, ending, where);
	status = clickhouse_execute(store, sql, true, "prune", error);
	return status == 0 ? wait_for_deletion(store, error) : status;
}

static int delete_hidden(const struct clickhouse_store *store, struct error *error)
{
	char where[512];
	int status = 0;
	snprintf(where, sizeof(where),
		 "batch IN (SELECT batch FROM profiles WHERE removed = 1) OR (written < now() - %d AND batch NOT IN "
		 "(SELECT batch FROM profiles))",
		 2 * CLICKHOUSE_FRESH_S);
	status = delete_rows(store, "hits", where, error);
	if (status == 0)
		status = delete_rows(store, "touches", where, error);
	if (status == 0)
		status = delete_rows(store, "profiles",
				     "removed = 0 AND batch IN (SELECT batch FROM profiles WHERE removed = 1)", error);
	snprintf(where, sizeof(where),
		 "removed = 1 AND added < now() - %d AND batch NOT IN (SELECT batch FROM profiles WHERE removed = 0)",
		 HIDDEN_S);
	return status == 0 ? delete_rows(store, "profiles", where, error) : status;
}

static int delete_names(const struct clickhouse_store *store, struct error *error)
{
	static const char *const tables[] = { "stack_lists", "stacks", "locations", "functions", "modules" };
	char where[256];
	uint64_t oldest_s;
	int status = clickhouse_numbers(store,
					"SELECT if(count() = 0, toUInt64(toUInt32(now())), "
					"toUInt64(toUInt32(min(added)))) FROM profiles WHERE removed = 0",
					&oldest_s, 1, error);
	snprintf(where, sizeof(where), "seen < toDateTime(%" PRIu64 ") - %d", oldest_s, 2 * CLICKHOUSE_FRESH_S);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && status == 0; i++)
		status = delete_rows(store, tables[i], where, error);
	return status;
}

int clickhouse_store_prune(struct store *base, int64_t before_unix_ns, const char *service, uint64_t *removed,
			   struct error *error)
{
	const struct clickhouse_store *store = (struct clickhouse_store *)base;
	*removed = 0;
	int status = count_chosen(store, before_unix_ns, service, removed, error);
	if (status == 0 && *removed > 0)
		status = hide(store, before_unix_ns, service, error);
	if (status == 0)
		status = delete_hidden(store, error);
	return status == 0 ? delete_names(store, error) : status;
}
