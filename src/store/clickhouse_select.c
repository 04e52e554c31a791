/*
 * Reads a selection of a store on ClickHouse into a profile: its recordings, then their rows, then
 * the names of the call paths that the rows refer to. Requests have no common transaction. What a
 * recording has does not change, and a removed one is found at the end.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "store/batch.h"
#include "store/clickhouse.h"
#include "store/clickhouse_names.h"

enum { NO_THREAD = UINT32_MAX };

/* A recording that was selected. */
struct selected {
	uint64_t hit_rows, touch_rows, hits_found, touches_found;
	int64_t first_s, last_s; /* times of its rows */
};

struct selected_row {
	uint64_t stack, hits, samples, address;
	int64_t bucket;
	uint32_t recording, resource, thread, labels;
	uint32_t mapping; /* string of the profile */
};

struct selected_rows {
	struct selected_row *items; /* owned */
	size_t count, capacity;
};

struct selector {
	const struct clickhouse_store *store;
	const struct store_selection *selection;
	struct error *error;
	struct assemble assemble;
	struct clickhouse_names names;
	uint64_t *batches;         /* by recording; owned */
	struct selected *selected; /* by recording; owned */
	size_t count, batch_capacity, selected_capacity;
	struct hash_map recordings; /* by batch */
	struct selected_rows hits, touches;
	bool is_part; /* the server leaves out rows of some recordings */
};

static int out_of_memory(const struct selector *selector)
{
	return clickhouse_fail(selector->store, "read", ERROR_MEMORY, error_text(ERROR_MEMORY), selector->error);
}

/* Sends the SQL in the buffer, and releases it. */
static int query_rows(const struct selector *selector, struct buffer *sql, struct clickhouse_query *query)
{
	buffer_append_byte(sql, 0);
	query->sql = (const char *)sql->bytes;
	int status = buffer_error(sql) < 0 ? out_of_memory(selector)
					   : clickhouse_select(selector->store, query, selector->error);
	buffer_release(sql);
	return status;
}

/* Appends " AND COLUMN = 'TEXT'" if the text is not NULL. */
static void append_equal(struct buffer *sql, const char *column, const char *text)
{
	if (!text)
		return;
	buffer_printf(sql, " AND %s = ", column);
	clickhouse_append_literal(sql, text);
}

/* --- recordings --- */

/* Sets the texts of the two arrays, which the caller frees with *items. Returns 0 or a negative error. */
static int read_labels(const struct selector *selector, const struct clickhouse_value *keys,
		       const struct clickhouse_value *values, struct store_label **items, char **texts)
{
	size_t key_at = 0, value_at = 0, key_bytes, value_bytes, used = 0;
	const uint8_t *key, *value;
	if (keys->count != values->count)
		return assemble_corrupt(&selector->assemble, "a label has no value");
	*items = calloc(keys->count + 1, sizeof(**items));
	*texts = malloc(keys->size + values->size + 2 * keys->count + 1);
	if (!*items || !*texts)
		return out_of_memory(selector);
	for (size_t i = 0; i < keys->count; i++) {
		if (!clickhouse_next_text(keys, &key_at, &key, &key_bytes) ||
		    !clickhouse_next_text(values, &value_at, &value, &value_bytes) || key_bytes == 0 ||
		    memchr(key, 0, key_bytes) || (value_bytes > 0 && memchr(value, 0, value_bytes)))
			return assemble_corrupt(&selector->assemble, "a label is empty");
		char *at = *texts + used;
		memcpy(at, key, key_bytes);
		at[key_bytes] = 0;
		memcpy(at + key_bytes + 1, value, value_bytes);
		at[key_bytes + 1 + value_bytes] = 0;
		(*items)[i] = (struct store_label){ .key = at, .value = at + key_bytes + 1 };
		used += key_bytes + value_bytes + 2;
	}
	return 0;
}

static int add_recording(struct selector *selector, const struct clickhouse_value *row,
			 const struct store_label *labels)
{
	const struct assembled_recording recording = {
		.description = row[8].bytes,
		.description_bytes = row[8].size,
		.start_unix_ns = (int64_t)row[1].number,
		.end_unix_ns = (int64_t)row[2].number,
		.first_bucket = (int64_t)row[3].number,
		.ended = row[4].number != 0,
		.labels = { .items = labels, .count = row[9].count },
		.name = selector->store->shown,
	};
	int64_t bucket_s = selector->store->settings.bucket_ns / STORE_NS_PER_S, first_s;
	if (__builtin_mul_overflow(recording.first_bucket, bucket_s, &first_s) || first_s < 0 || first_s > UINT32_MAX)
		return assemble_corrupt(&selector->assemble, "a recording's times are out of range");
	if (ARRAY_RESERVE(selector->batches, selector->batch_capacity, selector->count + 1) < 0 ||
	    ARRAY_RESERVE(selector->selected, selector->selected_capacity, selector->count + 1) < 0 ||
	    hash_map_put(&selector->recordings, row[0].number, (uint32_t)selector->count) < 0)
		return out_of_memory(selector);
	selector->batches[selector->count] = row[0].number;
	selector->selected[selector->count++] = (struct selected){ .hit_rows = row[5].number,
								   .touch_rows = row[6].number,
								   .first_s = first_s,
								   .last_s = recording.end_unix_ns / STORE_NS_PER_S };
	int64_t number = assemble_recording(&selector->assemble, &recording);
	return number < 0 ? (int)number : 0;
}

static int take_recording(void *context, const struct clickhouse_value *row)
{
	struct selector *selector = context;
	struct store_label *labels = NULL;
	char *texts = NULL;
	if (hash_map_get(&selector->recordings, row[0].number) != HASH_MAP_NONE)
		return assemble_corrupt(&selector->assemble, "a recording is there twice");
	int status = read_labels(selector, &row[9], &row[10], &labels, &texts);
	if (status == 0)
		status = add_recording(selector, row, labels);
	free(labels);
	free(texts);
	return status;
}

static int read_recordings(struct selector *selector)
{
	const struct store_selection *selection = selector->selection;
	struct clickhouse_query query = { .types = "qqqqbqqisSS", .take = take_recording, .context = selector };
	struct buffer sql;
	buffer_init(&sql);
	buffer_append_string(
		&sql,
		"SELECT batch, start_ns, end_ns, first_bucket, ended, hit_rows, touch_rows, identity, description, ");
	/* The last label of a key counts. */
	buffer_append_string(&sql, selection->has_sources ? "arrayConcat(['service', 'host'], label_keys), "
							    "arrayConcat([service, host], label_values)"
							  : "label_keys, label_values");
	buffer_append_string(&sql, " FROM profiles WHERE " CLICKHOUSE_LIVE);
	append_equal(&sql, "service", selection->service);
	append_equal(&sql, "host", selection->host);
	if (selection->from_unix_ns != INT64_MIN)
		buffer_printf(&sql, " AND end_ns >= %" PRId64, selection->from_unix_ns);
	if (selection->to_unix_ns != INT64_MAX)
		buffer_printf(&sql, " AND start_ns < %" PRId64, selection->to_unix_ns);
	buffer_append_string(&sql, CLICKHOUSE_LIVE_ONCE);
	return query_rows(selector, &sql, &query);
}

/* --- rows --- */

static bool is_in_time(const struct selector *selector, size_t recording, int64_t bucket)
{
	int64_t first, end;
	assemble_buckets(&selector->assemble, recording, &first, &end);
	return bucket >= first && bucket < end;
}

/* Adds a row of hits or touches, if the selection chooses it. Columns: batch, number, thread,
 * labels, timed, time, stack, hits. */
static int add_row(struct selector *selector, const struct clickhouse_value *row, struct selected_rows *rows,
		   uint64_t size, struct selected_row **added)
{
	uint64_t memory = selector->selection->memory;
	int64_t bucket_s = selector->store->settings.bucket_ns / STORE_NS_PER_S;
	uint32_t recording = hash_map_get(&selector->recordings, row[0].number);
	*added = NULL;
	if (recording == HASH_MAP_NONE)
		return assemble_corrupt(&selector->assemble, "a row belongs to no recording");
	int64_t bucket = (int64_t)row[5].number / bucket_s - selector->selected[recording].first_s / bucket_s;
	bucket = row[4].number ? bucket : BATCH_NO_TIME;
	if ((int64_t)row[1].number >= (int64_t)selector->assemble.parts[recording].map.resource_count ||
	    (int64_t)row[3].number >= (int64_t)selector->assemble.parts[recording].map.label_set_count)
		return assemble_corrupt(&selector->assemble, "a row of hits is out of range");
	if (!assemble_chooses(&selector->assemble, recording, (int64_t)row[1].number, (int64_t)row[3].number) ||
	    !is_in_time(selector, recording, bucket))
		return 0;
	if (memory && rows->count >= memory / size)
		return error_set(selector->error, ERROR_LIMIT,
				 "cannot read the store: its rows need more than the allowed memory "
				 "(--memory, or select fewer: --service, --host, --from)");
	if (ARRAY_RESERVE(rows->items, rows->capacity, rows->count + 1) < 0)
		return out_of_memory(selector);
	*added = &rows->items[rows->count++];
	**added = (struct selected_row){ .stack = row[6].number,
					 .hits = row[7].number,
					 .bucket = bucket,
					 .recording = recording,
					 .resource = (uint32_t)row[1].number,
					 .thread = (uint32_t)row[2].number,
					 .labels = (uint32_t)row[3].number };
	return clickhouse_names_request(&selector->names, row[6].number);
}

static int take_hit(void *context, const struct clickhouse_value *row)
{
	struct selector *selector = context;
	struct selected_row *added;
	int status = add_row(selector, row, &selector->hits, sizeof(*added), &added);
	if (added)
		added->samples = row[8].number;
	if (status == 0)
		selector->selected[hash_map_get(&selector->recordings, row[0].number)].hits_found++;
	return status;
}

static int take_touch(void *context, const struct clickhouse_value *row)
{
	struct selector *selector = context;
	struct selected_row *added;
	int status = add_row(selector, row, &selector->touches, sizeof(*added), &added);
	if (status < 0)
		return status;
	selector->selected[hash_map_get(&selector->recordings, row[0].number)].touches_found++;
	if (!added)
		return 0;
	char *text = strndup(row[8].size > 0 ? (const char *)row[8].bytes : "", row[8].size);
	int64_t mapping = text ? profile_add_string(selector->assemble.profile, text) : ERROR_MEMORY;
	free(text);
	added->mapping = (uint32_t)mapping;
	added->address = row[9].number;
	return mapping < 0 ? out_of_memory(selector) : 0;
}

/* Appends conditions by which the server need not read all rows of the recordings' days. */
static void append_conditions(struct selector *selector, struct buffer *sql)
{
	const struct store_selection *selection = selector->selection;
	int64_t bucket_ns = selector->store->settings.bucket_ns, first_s = INT64_MAX;
	for (size_t i = 0; i < selector->count; i++)
		first_s = selector->selected[i].first_s < first_s ? selector->selected[i].first_s : first_s;
	if (selection->from_unix_ns != INT64_MIN && selection->from_unix_ns > first_s * STORE_NS_PER_S) {
		first_s = selection->from_unix_ns / bucket_ns * (bucket_ns / STORE_NS_PER_S);
		selector->is_part = true;
	}
	buffer_printf(sql, " AND time >= toDateTime(%" PRId64 ")", first_s);
	if (selection->to_unix_ns != INT64_MAX && selection->to_unix_ns / STORE_NS_PER_S < UINT32_MAX) {
		int64_t to_s = selection->to_unix_ns < 0 ? 0 : selection->to_unix_ns / STORE_NS_PER_S;
		buffer_printf(sql, " AND time <= toDateTime(%" PRId64 ")", to_s);
		selector->is_part = true;
	}
	append_equal(sql, "service", selection->service);
	const struct profile *profile = selector->assemble.profile;
	if (selection->resource_count == 0)
		return;
	selector->is_part = true;
	buffer_append_string(sql, " AND resource IN (''");
	for (size_t i = 0; i < profile->resource_count; i++) {
		buffer_append_string(sql, ", ");
		clickhouse_append_literal(sql, profile_string(profile, profile->resources[i].name));
	}
	buffer_append_byte(sql, ')');
}

static int read_table(struct selector *selector, const char *table, const char *more, struct clickhouse_query *query)
{
	struct buffer sql;
	buffer_init(&sql);
	buffer_printf(&sql,
		      "SELECT batch, number, thread, labels, timed, time, stack, hits, %s FROM %s WHERE batch IN ids",
		      more, table);
	append_conditions(selector, &sql);
	query->ids = selector->batches;
	query->id_count = selector->count;
	query->context = selector;
	return query_rows(selector, &sql, query);
}

/* The server may have lost rows that it had confirmed: nothing then marks those that are left. */
static int check_rows(const struct selector *selector)
{
	for (size_t i = 0; i < selector->count && !selector->is_part; i++) {
		const struct selected *selected = &selector->selected[i];
		if (selected->hits_found != selected->hit_rows || selected->touches_found != selected->touch_rows)
			return assemble_corrupt(&selector->assemble, "a recording's rows are not complete");
	}
	return 0;
}

/* Finds recordings that were removed while their rows were read. */
static int take_removed(void *context, const struct clickhouse_value *row)
{
	const struct selector *selector = context;
	return row[0].number == 0 ? 0
				  : clickhouse_fail(selector->store, "read", ERROR_UNREACHABLE,
						    "recordings were removed meanwhile (try again)", selector->error);
}

static int check_removed(struct selector *selector)
{
	const struct clickhouse_query query = {
		.sql = "SELECT count() FROM profiles WHERE removed = 1 AND batch IN ids",
		.types = "q",
		.ids = selector->batches,
		.id_count = selector->count,
		.take = take_removed,
		.context = selector,
	};
	return clickhouse_select(selector->store, &query, selector->error);
}

static int read_rows(struct selector *selector)
{
	struct clickhouse_query hits = { .types = "qdddbdqqq", .take = take_hit };
	struct clickhouse_query touches = { .types = "qdddbdqqsq", .take = take_touch };
	bool has_touches = false;
	for (size_t i = 0; i < selector->count; i++)
		has_touches = has_touches || selector->selected[i].touch_rows > 0;
	int status = read_table(selector, "hits", "samples", &hits);
	if (status == 0 && has_touches)
		status = read_table(selector, "touches", "mapping, address", &touches);
	if (status == 0)
		status = clickhouse_names_read(&selector->names);
	int removed = status == 0 || status == ERROR_CORRUPT ? check_removed(selector) : 0;
	return removed < 0 ? removed : status == 0 ? check_rows(selector) : status;
}

/* --- profile --- */

static int compare(const void *left, const void *right)
{
	const struct selected_row *a = left, *b = right;
	return COMPARE(a->recording, b->recording) ?: COMPARE(a->resource, b->resource) ?:
	       COMPARE(a->thread, b->thread) ?: COMPARE(a->labels, b->labels) ?: COMPARE(a->bucket, b->bucket) ?:
	       COMPARE(a->stack, b->stack) ?: COMPARE(a->hits, b->hits) ?: COMPARE(a->mapping, b->mapping) ?:
	       COMPARE(a->address, b->address);
}

/* Adds the rows in an order that does not depend on the server. */
static int add_rows(struct selector *selector, struct selected_rows *rows, bool is_touch)
{
	struct assemble *assemble = &selector->assemble;
	int status = 0;
	if (rows->count > 0)
		qsort(rows->items, rows->count, sizeof(*rows->items), compare);
	for (size_t i = 0; i < rows->count && status == 0; i++) {
		const struct selected_row *row = &rows->items[i];
		int64_t node = assemble_stack(assemble, (int64_t)row->stack);
		if (node < 0)
			return (int)node;
		const struct assembled_row values = {
			.recording = row->recording,
			.resource = row->resource,
			.thread = row->thread == NO_THREAD ? -1 : (int64_t)row->thread,
			.labels = row->labels,
			.bucket = row->bucket,
			.node = (uint32_t)node,
			.hits = (int64_t)row->hits,
			.samples = (int64_t)row->samples,
			.address = (int64_t)row->address,
			.mapping = profile_string(assemble->profile, row->mapping),
		};
		status = is_touch ? assemble_touch(assemble, &values) : assemble_hit(assemble, &values);
	}
	return status;
}

static int select_all(struct selector *selector)
{
	int status = read_recordings(selector);
	if (status == 0 && selector->count > 0)
		status = read_rows(selector);
	if (status == 0)
		status = add_rows(selector, &selector->hits, false);
	if (status == 0)
		status = add_rows(selector, &selector->touches, true);
	return status == 0 ? assemble_check_found(&selector->assemble, selector->store->shown) : status;
}

struct profile *clickhouse_store_select(struct store *base, const struct store_selection *selection,
					struct error *error)
{
	struct error own = { 0 };
	struct assemble_source source;
	struct selector selector = { .store = (struct clickhouse_store *)base,
				     .selection = selection,
				     .error = error ? error : &own };
	hash_map_init(&selector.recordings);
	clickhouse_names_init(&selector.names, selector.store, selector.error);
	clickhouse_names_source(&selector.names, &source);
	int status = assemble_init(&selector.assemble, selection, selector.store->settings.bucket_ns, &source,
				   selector.error);
	if (status == 0)
		status = select_all(&selector);
	struct profile *profile = assemble_finish(&selector.assemble, status);
	clickhouse_names_release(&selector.names);
	hash_map_release(&selector.recordings);
	free(selector.batches);
	free(selector.selected);
	free(selector.hits.items);
	free(selector.touches.items);
	return profile;
}
