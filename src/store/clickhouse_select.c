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
#include "store/rows.h"

/* A recording that was selected. */
struct selected {
	uint64_t hit_rows, touch_rows, hits_found, touches_found;
	int64_t first_s, last_s; /* times of its rows */
	uint64_t *lists;         /* hashes of its lists of stacks; after read_lists, their indexes; owned */
	size_t list_count;
};

/* A list of stacks. */
struct stack_list {
	uint64_t *stacks; /* owned; NULL: not received yet */
	size_t count;
};

struct selected_row {
	uint64_t stack, address;
	uint64_t amount; /* samples, if `size` is not 0; otherwise hits */
	uint64_t size;   /* hits of each sample */
	int64_t bucket;
	uint32_t recording, resource, thread, labels;
	uint32_t mapping; /* string of the profile */
};

struct selected_rows {
	struct selected_row *items; /* owned */
	size_t count, capacity;
	struct hash_map index; /* of a sum: numbers of items by their hash */
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
	struct rows_unpacker unpacker;
	struct hash_map list_numbers; /* index + 1 of the list, by its hash */
	struct stack_list *lists;     /* owned */
	size_t list_capacity;
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
		.labels = { .items = labels, .count = row[10].count },
		.name = selector->store->shown,
	};
	int64_t bucket_s = selector->store->settings.bucket_ns / STORE_NS_PER_S, first_s;
	if (__builtin_mul_overflow(recording.first_bucket, bucket_s, &first_s) || first_s < 0 || first_s > UINT32_MAX)
		return assemble_corrupt(&selector->assemble, "a recording's times are out of range");
	if (ARRAY_RESERVE(selector->batches, selector->batch_capacity, selector->count + 1) < 0 ||
	    ARRAY_RESERVE(selector->selected, selector->selected_capacity, selector->count + 1) < 0 ||
	    hash_map_put(&selector->recordings, row[0].number, (uint32_t)selector->count) < 0)
		return out_of_memory(selector);
	if (row[9].count > CLICKHOUSE_LISTS_MOST)
		return assemble_corrupt(&selector->assemble, "a recording has too many lists of stacks");
	uint64_t *lists = malloc(row[9].size + 1);
	if (!lists)
		return out_of_memory(selector);
	memcpy(lists, row[9].bytes, row[9].size);
	selector->batches[selector->count] = row[0].number;
	selector->selected[selector->count++] = (struct selected){ .lists = lists,
								   .list_count = row[9].count,
								   .hit_rows = row[5].number,
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
	int status = read_labels(selector, &row[10], &row[11], &labels, &texts);
	if (status == 0)
		status = add_recording(selector, row, labels);
	free(labels);
	free(texts);
	return status;
}

static int read_recordings(struct selector *selector)
{
	const struct store_selection *selection = selector->selection;
	struct clickhouse_query query = { .types = "qqqqbqqisQSS", .take = take_recording, .context = selector };
	struct buffer sql;
	buffer_init(&sql);
	buffer_append_string(&sql, "SELECT batch, start_ns, end_ns, first_bucket, ended, hit_rows, touch_rows, "
				   "identity, description, lists, ");
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

/* --- lists of stacks --- */

static int take_list(void *context, const struct clickhouse_value *row)
{
	struct selector *selector = context;
	uint32_t number = hash_map_get(&selector->list_numbers, row[0].number);
	if (number == HASH_MAP_NONE)
		return assemble_corrupt(&selector->assemble, "a list of stacks is another one");
	struct stack_list *list = &selector->lists[number - 1];
	if (list->stacks) /* a copy */
		return 0;
	list->stacks = malloc(row[1].size + 1);
	if (!list->stacks)
		return out_of_memory(selector);
	memcpy(list->stacks, row[1].bytes, row[1].size);
	list->count = row[1].count;
	return 0;
}

/* Reads the lists of all recordings. */
static int read_lists(struct selector *selector)
{
	size_t count = 0, capacity = 0;
	uint64_t *hashes = NULL;
	int status = 0;
	for (size_t i = 0; i < selector->count && status == 0; i++)
		for (size_t k = 0; k < selector->selected[i].list_count && status >= 0; k++) {
			uint32_t number;
			uint64_t hash = selector->selected[i].lists[k];
			status = hash_map_number(&selector->list_numbers, hash, &number);
			selector->selected[i].lists[k] = status < 0 ? 0 : number - 1;
			if (status > 0)
				status = ARRAY_RESERVE(hashes, capacity, count + 1) < 0 ? ERROR_MEMORY : 0;
			if (status == 0 && number == count + 1)
				hashes[count++] = hash;
		}
	if (status == 0)
		status = ARRAY_RESERVE(selector->lists, selector->list_capacity, count + 1);
	if (status < 0)
		status = out_of_memory(selector);
	for (size_t i = 0; i < count && status == 0; i++)
		selector->lists[i] = (struct stack_list){ 0 };
	const struct clickhouse_query query = { .sql = "SELECT hash, stacks FROM stack_lists WHERE hash IN ids",
						.types = "qQ",
						.ids = hashes,
						.id_count = count,
						.take = take_list,
						.context = selector };
	if (status == 0 && count > 0)
		status = clickhouse_select(selector->store, &query, selector->error);
	free(hashes);
	return status;
}

/* Sets *stack to the one of this number in the lists of a recording. Returns false if there is none. */
static bool find_stack(const struct selector *selector, const struct selected *selected, uint64_t number,
		       uint64_t *stack)
{
	*stack = 0;
	for (size_t i = 0; i < selected->list_count && number > 0; i++) {
		const struct stack_list *list = &selector->lists[selected->lists[i]];
		if (number <= list->count) {
			*stack = list->stacks[number - 1];
			return true;
		}
		number -= list->count;
	}
	return number == 0;
}

static void release_lists(struct selector *selector)
{
	for (size_t i = 0; i < selector->list_numbers.count && i < selector->list_capacity; i++)
		free(selector->lists[i].stacks);
	for (size_t i = 0; i < selector->count; i++)
		free(selector->selected[i].lists);
	free(selector->lists);
	hash_map_release(&selector->list_numbers);
}

/* --- rows --- */

static bool is_in_time(const struct selector *selector, size_t recording, int64_t bucket)
{
	int64_t first, end;
	assemble_buckets(&selector->assemble, recording, &first, &end);
	return bucket >= first && bucket < end;
}

/* A block of a recording. */
struct taken {
	uint32_t recording, resource;
	struct selected_rows *rows;
	bool is_touches;
};

/* Makes the mapping of a touch a string of the profile. */
static int set_mapping(struct selector *selector, const struct packed_row *row, struct selected_row *added)
{
	int64_t mapping = profile_add_string(selector->assemble.profile, selector->unpacker.texts[row->mapping]);
	added->mapping = (uint32_t)mapping;
	added->address = row->address;
	return mapping < 0 ? out_of_memory(selector) : 0;
}

/* Returns the row of the sum that has the hash, if it is for the same hits; or NULL. */
static struct selected_row *find_sum(const struct selector *selector, const struct selected_rows *rows, uint64_t hash,
				     const struct selected_row *row)
{
	uint32_t number = hash_map_get(&rows->index, hash);
	if (number == HASH_MAP_NONE)
		return NULL;
	struct selected_row *sum = &rows->items[number];
	const struct description_map *map = &selector->assemble.parts[row->recording].map;
	const struct description_map *of_sum = &selector->assemble.parts[sum->recording].map;
	bool is_equal = sum->stack == row->stack && sum->size == row->size &&
			of_sum->resources[sum->resource] == map->resources[row->resource] &&
			of_sum->label_sets[sum->labels] == map->label_sets[row->labels];
	return is_equal ? sum : NULL;
}

static int compare_origins(const struct selected_row *a, const struct selected_row *b)
{
	return COMPARE(a->recording, b->recording) ?: COMPARE(a->resource, b->resource) ?: COMPARE(a->labels, b->labels);
}

/* Adds the row to an equal one. The sum has the smallest ids of all its rows, in whatever order the server sends them. Returns 1, 0 if there is none, or a
 * negative error. */
static int add_to_sum(const struct selector *selector, struct selected_rows *rows, uint64_t hash,
		      const struct selected_row *row)
{
	struct selected_row *sum = find_sum(selector, rows, hash, row);
	if (!sum)
		return 0;
	if (__builtin_add_overflow(sum->amount, row->amount, &sum->amount) || sum->amount > PROFILE_HITS_MOST)
		return assemble_corrupt(&selector->assemble, "a row of hits is out of range");
	if (compare_origins(row, sum) < 0) {
		sum->recording = row->recording;
		sum->resource = row->resource;
		sum->labels = row->labels;
	}
	return 1;
}

static uint64_t hash_of(const struct selector *selector, const struct selected_row *row)
{
	const struct description_map *map = &selector->assemble.parts[row->recording].map;
	uint64_t kind = (uint64_t)map->resources[row->resource] << 32 | map->label_sets[row->labels];
	return hash_u64(row->stack ^ hash_u64(hash_u64(kind) ^ row->size));
}

/* Appends a row, or adds it up. */
static int keep_row(struct selector *selector, struct selected_rows *rows, const struct selected_row *row)
{
	uint64_t memory = selector->selection->memory, hash = 0;
	if (selector->selection->is_sum) {
		hash = hash_of(selector, row);
		int added = add_to_sum(selector, rows, hash, row);
		if (added != 0)
			return added < 0 ? added : 0;
	}
	if (rows->count >= HASH_MAP_NONE || (memory && rows->count >= memory / sizeof(*rows->items)))
		return assemble_refuse_hits(&selector->assemble, ERROR_LIMIT);
	if (ARRAY_RESERVE(rows->items, rows->capacity, rows->count + 1) < 0 ||
	    (hash && hash_map_get(&rows->index, hash) == HASH_MAP_NONE &&
	     hash_map_put(&rows->index, hash, (uint32_t)rows->count) < 0))
		return assemble_refuse_hits(&selector->assemble, ERROR_MEMORY);
	rows->items[rows->count++] = *row;
	return clickhouse_names_request(&selector->names, row->stack);
}

/* Adds a row of hits or touches, if the selection chooses it. */
static int add_row(struct selector *selector, const struct taken *taken, const struct packed_row *row)
{
	const struct assembled_part *part = &selector->assemble.parts[taken->recording];
	uint64_t hits;
	struct selected_row added = { .amount = row->amount,
				      .size = row->size,
				      .bucket = (int64_t)(row->bucket_after - 1),
				      .recording = taken->recording,
				      .resource = taken->resource,
				      .thread = row->thread,
				      .labels = row->labels };
	if (row->labels >= part->map.label_set_count ||
	    (row->thread != PROFILE_NONE && row->thread >= part->map.thread_count) ||
	    (row->size && (row->amount > UINT32_MAX || __builtin_mul_overflow(row->amount, row->size, &hits))))
		return assemble_corrupt(&selector->assemble, "a row of hits is out of range");
	if (!assemble_chooses(&selector->assemble, taken->recording, taken->resource, row->labels) ||
	    !is_in_time(selector, taken->recording, added.bucket))
		return 0;
	if (!find_stack(selector, &selector->selected[taken->recording], row->stack, &added.stack))
		return assemble_corrupt(&selector->assemble, "a row is missing");
	if (selector->selection->is_sum) {
		added.thread = PROFILE_NONE;
		added.bucket = BATCH_NO_TIME;
	}
	int status = taken->is_touches ? set_mapping(selector, row, &added) : 0;
	return status == 0 ? keep_row(selector, taken->rows, &added) : status;
}

/* Columns: batch, number, block. */
static int take_block(struct selector *selector, const struct clickhouse_value *row, bool is_touches)
{
	uint32_t recording = hash_map_get(&selector->recordings, row[0].number);
	if (recording == HASH_MAP_NONE)
		return assemble_corrupt(&selector->assemble, "a row belongs to no recording");
	if (row[1].number >= selector->assemble.parts[recording].map.resource_count)
		return assemble_corrupt(&selector->assemble, "a row of hits is out of range");
	const struct taken taken = { .recording = recording,
				     .resource = (uint32_t)row[1].number,
				     .rows = is_touches ? &selector->touches : &selector->hits,
				     .is_touches = is_touches };
	struct selected *selected = &selector->selected[recording];
	int64_t count =
		rows_unpack(&selector->unpacker, is_touches ? BLOCK_TOUCHES : BLOCK_HITS, row[2].bytes, row[2].size);
	int status = 0;
	if (count == ERROR_MEMORY)
		return out_of_memory(selector);
	if (count < 0)
		return assemble_corrupt(&selector->assemble, "a block of rows cannot be read");
	*(is_touches ? &selected->touches_found : &selected->hits_found) += (uint64_t)count;
	for (int64_t i = 0; i < count && status == 0; i++)
		status = add_row(selector, &taken, &selector->unpacker.rows[i]);
	return status;
}

static int take_hits(void *context, const struct clickhouse_value *row)
{
	return take_block(context, row, false);
}

static int take_touches(void *context, const struct clickhouse_value *row)
{
	return take_block(context, row, true);
}

/* Appends conditions by which the server need not read all rows of the recordings' days. */
static void append_conditions(struct selector *selector, struct buffer *sql)
{
	const struct store_selection *selection = selector->selection;
	int64_t bucket_ns = selector->store->settings.bucket_ns, first_s = INT64_MAX;
	for (size_t i = 0; i < selector->count; i++)
		first_s = selector->selected[i].first_s < first_s ? selector->selected[i].first_s : first_s;
	buffer_printf(sql, " AND time >= toDateTime(%" PRId64 ")", first_s);
	if (selection->from_unix_ns != INT64_MIN && selection->from_unix_ns > first_s * STORE_NS_PER_S) {
		first_s = selection->from_unix_ns / bucket_ns * (bucket_ns / STORE_NS_PER_S);
		buffer_printf(sql, " AND last >= toDateTime(%" PRId64 ")", first_s);
		selector->is_part = true;
	}
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

static int read_table(struct selector *selector, const char *table, struct clickhouse_query *query)
{
	struct buffer sql;
	buffer_init(&sql);
	buffer_printf(&sql, "SELECT batch, number, block FROM %s WHERE batch IN ids", table);
	append_conditions(selector, &sql);
	query->ids = selector->batches;
	query->id_count = selector->count;
	query->context = selector;
	return query_rows(selector, &sql, query);
}

/* The server may have lost rows that it had confirmed: nothing then marks those that are left. */
static int check_rows(const struct selector *selector)
{
	bool has_touches = !selector->selection->is_sum;
	for (size_t i = 0; i < selector->count && !selector->is_part; i++) {
		const struct selected *selected = &selector->selected[i];
		if (selected->hits_found != selected->hit_rows ||
		    (has_touches && selected->touches_found != selected->touch_rows))
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
	struct clickhouse_query hits = { .types = "qds", .take = take_hits };
	struct clickhouse_query touches = { .types = "qds", .take = take_touches };
	bool has_touches = false;
	for (size_t i = 0; i < selector->count; i++)
		has_touches = has_touches || (selector->selected[i].touch_rows > 0 && !selector->selection->is_sum);
	int status = read_lists(selector);
	if (status == 0)
		status = read_table(selector, "hits", &hits);
	if (status == 0 && has_touches)
		status = read_table(selector, "touches", &touches);
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
	       COMPARE(a->stack, b->stack) ?: COMPARE(a->size, b->size) ?: COMPARE(a->amount, b->amount) ?:
	       COMPARE(a->mapping, b->mapping) ?: COMPARE(a->address, b->address);
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
		struct assembled_row values = {
			.recording = row->recording,
			.resource = row->resource,
			.thread = row->thread == PROFILE_NONE ? -1 : (int64_t)row->thread,
			.labels = row->labels,
			.bucket = row->bucket,
			.node = (uint32_t)node,
			.hits = (int64_t)row->amount,
			.samples = row->size ? (int64_t)row->amount : 0,
			.address = (int64_t)row->address,
			.mapping = profile_string(assemble->profile, row->mapping),
		};
		if (row->size && __builtin_mul_overflow(row->amount, row->size, &values.hits))
			return assemble_corrupt(assemble, "a row of hits is out of range");
		status = is_touch ? assemble_touch(assemble, &values) : assemble_hit(assemble, &values);
	}
	return status;
}

static int select_all(struct selector *selector)
{
	int status = read_recordings(selector);
	if (status == 0 && selector->count > 0)
		status = read_rows(selector);
	hash_map_release(&selector->hits.index);
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
	struct store_selection rounded = *selection;
	struct selector selector = { .store = (struct clickhouse_store *)base,
				     .selection = &rounded,
				     .error = error ? error : &own };
	if (assemble_round(&rounded, selector.store->settings.bucket_ns, selector.error) < 0)
		return NULL;
	hash_map_init(&selector.recordings);
	hash_map_init(&selector.list_numbers);
	hash_map_init(&selector.hits.index);
	clickhouse_names_init(&selector.names, selector.store, selector.error);
	clickhouse_names_source(&selector.names, &source);
	int status = assemble_init(&selector.assemble, &rounded, selector.store->settings.bucket_ns, &source,
				   selector.error);
	if (rows_unpacker_init(&selector.unpacker) < 0 && status == 0)
		status = out_of_memory(&selector);
	if (status == 0)
		status = select_all(&selector);
	struct profile *profile = assemble_finish(&selector.assemble, status);
	clickhouse_names_release(&selector.names);
	hash_map_release(&selector.recordings);
	rows_unpacker_release(&selector.unpacker);
	release_lists(&selector);
	free(selector.batches);
	free(selector.selected);
	free(selector.hits.items);
	free(selector.touches.items);
	return profile;
}
