/*
 * Adds a recording to a store on ClickHouse, which has no transactions:
 *
 *   1. The names that the server lacks, and a list of the stacks that have no number yet. They mean the same in any number of copies, so that
 *      these insertions are repeated freely.
 *   2. The hits, under a random number, the batch. An insertion whose outcome is not known is not repeated: all hits are sent once more
 *      under another number, unless the server has stalled. Nothing refers to the first one, and pruning removes it.
 *   3. The row of `profiles`, with the batch and the number of its rows, in one insertion for all parts of a file. It is repeated
 *      freely: equal rows count once.
 *
 * A writer that is killed before 3 has added nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/hash_map.h"
#include "store/batch.h"
#include "store/clickhouse.h"
#include "store/hash.h"
#include "store/row_blocks.h"

enum {
	ROWS_BYTES = 32 << 20, /* of one insertion */
	FIRST_WAIT_MS = 250,
};

struct adder {
	struct clickhouse_store *store;
	const struct store_recording *recording;
	struct batch *batch;
	struct error *error;
	uint32_t *depths; /* of the nodes; owned */
	int64_t *numbers; /* of the stacks that have rows, by node (clickhouse_known.c); 0: the root; owned */
	/* Rows on their way to the server: */
	uint64_t id; /* their batch */
	struct buffer rows;
	const char *into; /* "TABLE(COLUMN, ...)" */
};

static int out_of_memory(const struct adder *adder)
{
	return clickhouse_fail(adder->store, "write", ERROR_MEMORY, error_text(ERROR_MEMORY), adder->error);
}

static const char *string_of(const struct adder *adder, uint32_t id)
{
	return profile_string(adder->batch->profile, id);
}

/* --- names --- */

/* A table of names: its rows by ids of the recording. */
struct names {
	const char *table, *columns;
	const uint64_t *hashes; /* by id; 0: not needed */
	size_t count;
	bool (*is_stored)(const struct adder *adder, uint32_t id); /* NULL: all are */
	void (*put)(const struct adder *adder, uint32_t id, struct buffer *rows);
};

static void put_module(const struct adder *adder, uint32_t id, struct buffer *rows)
{
	const struct profile_module *module = &adder->batch->profile->modules[id];
	clickhouse_put_text(rows, string_of(adder, module->path));
	clickhouse_put_u8(rows, module->kind);
	clickhouse_put_bytes(rows, module->build_id, module->build_id_bytes);
}

static void put_function(const struct adder *adder, uint32_t id, struct buffer *rows)
{
	const struct profile_function *function = &adder->batch->profile->functions[id];
	clickhouse_put_text(rows, string_of(adder, function->name));
	clickhouse_put_text(rows, string_of(adder, function->linkage));
	clickhouse_put_u64(rows, function->module == PROFILE_NONE ? 0 : adder->batch->modules[function->module]);
	clickhouse_put_text(rows, string_of(adder, function->file));
	clickhouse_put_u32(rows, function->line);
	clickhouse_put_u8(rows, function->role);
	clickhouse_put_text(rows, string_of(adder, function->group));
}

static void put_location(const struct adder *adder, uint32_t id, struct buffer *rows)
{
	const struct profile *profile = adder->batch->profile;
	uint8_t marks;
	const struct profile_location *location = batch_location(adder->batch, id, &marks);
	bool has_frames = location->first_frame != PROFILE_NONE;
	size_t count = has_frames ? location->frame_count : 0;
	const struct profile_frame *frames = has_frames ? &profile->frames[location->first_frame] : NULL;
	clickhouse_put_u64(rows, adder->batch->modules[location->module]);
	clickhouse_put_u64(rows, location->address);
	clickhouse_put_u8(rows, marks);
	clickhouse_put_count(rows, count);
	for (size_t i = 0; i < count; i++)
		clickhouse_put_u64(rows, adder->batch->functions[frames[i].function]);
	clickhouse_put_count(rows, count);
	for (size_t i = 0; i < count; i++)
		clickhouse_put_text(rows, string_of(adder, frames[i].file));
	clickhouse_put_count(rows, count);
	for (size_t i = 0; i < count; i++)
		clickhouse_put_u32(rows, frames[i].line);
	clickhouse_put_count(rows, count);
	for (size_t i = 0; i < count; i++)
		clickhouse_put_u32(rows, frames[i].discriminator);
	clickhouse_put_count(rows, count);
	for (size_t i = 0; i < count; i++)
		clickhouse_put_u8(rows, (uint8_t)(frames[i].kind << 1 | frames[i].inlined));
}

/* Stacks that hits refer to, and those where the pieces of deeper ones begin. */
static bool is_stack_stored(const struct adder *adder, uint32_t node)
{
	const struct batch *batch = adder->batch;
	return batch->same[node] == node &&
	       (batch->has_rows[node] || adder->depths[node] % CLICKHOUSE_PIECE_FRAMES == 0);
}

static void put_stack(const struct adder *adder, uint32_t node, struct buffer *rows)
{
	const struct profile_node *nodes = adder->batch->profile->nodes;
	uint32_t locations[CLICKHOUSE_PIECE_FRAMES], count = 0;
	do {
		locations[count++] = adder->batch->node_locations[node];
		node = nodes[node].parent;
	} while (adder->depths[node] % CLICKHOUSE_PIECE_FRAMES != 0);
	clickhouse_put_u64(rows, adder->batch->nodes[node]);
	clickhouse_put_count(rows, count);
	while (count > 0)
		clickhouse_put_u64(rows, adder->batch->locations[locations[--count]]);
}

static int take_known(void *context, const struct clickhouse_value *row)
{
	return hash_map_put(context, row->number, 0);
}

/* Adds the hashes that the server has, as rows that pruning keeps for as long as this program may take. */
static int find_known(const struct adder *adder, const struct names *names, struct hash_map *known)
{
	char sql[256];
	uint64_t *ids = malloc((names->count + 1) * sizeof(*ids));
	size_t count = 0;
	if (!ids)
		return out_of_memory(adder);
	for (uint32_t i = 0; i < names->count; i++)
		if (names->hashes[i] && (!names->is_stored || names->is_stored(adder, i)) &&
		    hash_map_get(known, names->hashes[i]) == HASH_MAP_NONE)
			ids[count++] = names->hashes[i];
	snprintf(sql, sizeof(sql), "SELECT DISTINCT hash FROM %s WHERE hash IN ids AND seen > now() - %d", names->table,
		 CLICKHOUSE_FRESH_S);
	const struct clickhouse_query query = {
		.sql = sql, .types = "q", .ids = ids, .id_count = count, .take = take_known, .context = known
	};
	int status = count > 0 ? clickhouse_select(adder->store, &query, adder->error) : 0;
	free(ids);
	return status == ERROR_MEMORY ? out_of_memory(adder) : status;
}

/* Sends the rows if there are enough of them, and then removes them from the buffer. */
static int flush_rows(const struct adder *adder, const char *into, struct buffer *rows, size_t enough, bool is_once)
{
	if (rows->size < enough && buffer_error(rows) == 0)
		return 0;
	int status = clickhouse_insert(adder->store, into, rows, is_once, adder->error);
	buffer_clear(rows);
	return status;
}

static int add_names(const struct adder *adder, const struct names *names, struct hash_map *known)
{
	char into[192];
	struct buffer rows;
	buffer_init(&rows);
	snprintf(into, sizeof(into), "%s(hash, %s)", names->table, names->columns);
	int status = find_known(adder, names, known);
	for (uint32_t i = 0; i < names->count && status == 0; i++) {
		uint64_t hash = names->hashes[i];
		if (hash == 0 || (names->is_stored && !names->is_stored(adder, i)) ||
		    hash_map_get(known, hash) != HASH_MAP_NONE)
			continue;
		status = hash_map_put(known, hash, 0) < 0 ? out_of_memory(adder) : 0;
		clickhouse_put_u64(&rows, hash);
		names->put(adder, i, &rows);
		if (status == 0)
			status = flush_rows(adder, into, &rows, ROWS_BYTES, false);
	}
	if (status == 0)
		status = flush_rows(adder, into, &rows, 0, false);
	buffer_release(&rows);
	return status;
}

static int add_all_names(const struct adder *adder)
{
	const struct batch *batch = adder->batch;
	const struct profile *profile = batch->profile;
	const struct names tables[CLICKHOUSE_NAME_TABLES] = {
		{ "modules", "path, kind, build_id", batch->modules, profile->module_count, NULL, put_module },
		{ "functions", "name, linkage, module, file, line, role, category", batch->functions,
		  profile->function_count, NULL, put_function },
		{ "locations", "module, address, by_frames, functions, files, lines, discriminators, kinds",
		  batch->locations, batch_location_count(batch), NULL, put_location },
		{ "stacks", "parent, locations", batch->nodes, profile->node_count, is_stack_stored, put_stack },
	};
	int status = 0;
	for (size_t i = 0; i < CLICKHOUSE_NAME_TABLES && status == 0; i++)
		status = add_names(adder, &tables[i], &adder->store->known.names[i]);
	return status;
}

/* --- hits --- */

static int64_t bucket_s(const struct adder *adder)
{
	return adder->store->settings.bucket_ns / STORE_NS_PER_S;
}

static uint32_t time_of(const struct adder *adder, int64_t bucket)
{
	return (uint32_t)((adder->batch->first_bucket + (bucket == BATCH_NO_TIME ? 0 : bucket)) * bucket_s(adder));
}

static int send_block(void *context, const struct row_block *block)
{
	struct adder *adder = context;
	const struct profile *profile = adder->batch->profile;
	struct buffer *rows = &adder->rows;
	clickhouse_put_text(rows, adder->recording->service);
	clickhouse_put_text(rows, string_of(adder, profile->resources[block->resource].name));
	clickhouse_put_u32(rows, time_of(adder, block->first));
	clickhouse_put_u32(rows, time_of(adder, block->last));
	clickhouse_put_u64(rows, adder->id);
	clickhouse_put_u32(rows, block->resource);
	clickhouse_put_u32(rows, (uint32_t)block->rows);
	clickhouse_put_bytes(rows, block->bytes, block->size);
	return flush_rows(adder, adder->into, rows, ROWS_BYTES, true);
}

#define BLOCK_COLUMNS "(service, resource, time, last, batch, number, rows, block)"

static int send_rows(struct adder *adder, enum format_block_type type, const char *into, size_t count)
{
	const struct row_blocks blocks = { .batch = adder->batch,
					   .stacks = adder->numbers,
					   .take = send_block,
					   .context = adder,
					   .error = adder->error };
	if (count == 0)
		return 0;
	buffer_init(&adder->rows);
	adder->into = into;
	int status = row_blocks_make(&blocks, type);
	if (status == 0)
		status = flush_rows(adder, into, &adder->rows, 0, true);
	buffer_release(&adder->rows);
	return status;
}

static void wait_ms(long milliseconds)
{
	struct timespec time = { .tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000 * 1000 };
	while (nanosleep(&time, &time) < 0)
		;
}

/* Sets adder->id to the batch under which the server has all rows. */
static int add_rows(struct adder *adder)
{
	int status = ERROR_UNREACHABLE;
	bool may_pass = true;
	for (unsigned attempt = 0; may_pass && attempt <= CLICKHOUSE_RETRIES; attempt++) {
		if (attempt > 0)
			wait_ms((long)FIRST_WAIT_MS << (attempt - 1));
		if (getrandom(&adder->id, sizeof(adder->id), 0) != sizeof(adder->id))
			return error_set_errno(adder->error, "cannot write store '%s'", adder->store->shown);
		status = send_rows(adder, BLOCK_HITS, "hits" BLOCK_COLUMNS, adder->batch->hit_count);
		if (status == 0)
			status = send_rows(adder, BLOCK_TOUCHES, "touches" BLOCK_COLUMNS, adder->batch->touch_count);
		may_pass = status == ERROR_UNREACHABLE && !http_has_stalled(adder->store->http);
	}
	return status;
}

/* --- the recording --- */

static void put_labels(const struct adder *adder, struct buffer *rows)
{
	const struct store_labels *labels = &adder->recording->labels;
	clickhouse_put_count(rows, labels->count);
	for (size_t i = 0; i < labels->count; i++)
		clickhouse_put_text(rows, labels->items[i].key);
	clickhouse_put_count(rows, labels->count);
	for (size_t i = 0; i < labels->count; i++)
		clickhouse_put_text(rows, labels->items[i].value);
}

static void put_profile(const struct adder *adder)
{
	const struct batch *batch = adder->batch;
	const struct store_recording *recording = adder->recording;
	const char *command = profile_note(batch->profile, "command"),
		   *version = profile_note(batch->profile, "cpprof");
	struct buffer *row = &adder->store->added;
	buffer_append(row, recording->identity, sizeof(recording->identity));
	clickhouse_put_u64(row, adder->id);
	clickhouse_put_u8(row, 0);
	clickhouse_put_text(row, recording->service);
	clickhouse_put_text(row, recording->host);
	clickhouse_put_u64(row, (uint64_t)batch->start_unix_ns);
	clickhouse_put_u64(row, (uint64_t)batch->end_unix_ns);
	clickhouse_put_u64(row, (uint64_t)batch->first_bucket);
	clickhouse_put_u64(row, batch->samples);
	clickhouse_put_u64(row, batch->profile->lost);
	clickhouse_put_u8(row, batch->profile->ended);
	clickhouse_put_text(row, command ? command : "");
	clickhouse_put_text(row, version ? version : "");
	clickhouse_put_u64(row, batch->hit_count);
	clickhouse_put_u64(row, batch->touch_count);
	clickhouse_put_count(row, adder->store->known.list_count);
	for (size_t i = 0; i < adder->store->known.list_count; i++)
		clickhouse_put_u64(row, adder->store->known.lists[i]);
	put_labels(adder, row);
	clickhouse_put_bytes(row, batch->description.bytes, batch->description.size);
}

/* --- all --- */

/* Returns whether all times fit into the type DateTime: 1970 to 2106. */
static bool has_time(const struct adder *adder)
{
	const struct batch *batch = adder->batch;
	int64_t most = UINT32_MAX / bucket_s(adder) - batch->first_bucket;
	bool has = batch->start_unix_ns >= 0 && batch->end_unix_ns / STORE_NS_PER_S < UINT32_MAX && most >= 0;
	for (size_t i = 0; i < batch->hit_count && has; i++)
		has = batch->hits[i].bucket <= most;
	for (size_t i = 0; i < batch->touch_count && has; i++)
		has = batch->touches[i].bucket <= most;
	return has;
}

static int begin(struct adder *adder)
{
	const struct profile *profile = adder->batch->profile;
	adder->depths = calloc(profile->node_count, sizeof(*adder->depths));
	adder->numbers = calloc(profile->node_count, sizeof(*adder->numbers));
	if (!adder->depths || !adder->numbers)
		return out_of_memory(adder);
	for (size_t i = 1; i < profile->node_count; i++)
		adder->depths[i] = adder->depths[profile->nodes[i].parent] + 1;
	return 0;
}

static int add_all(struct adder *adder)
{
	if (!has_time(adder))
		return error_set(adder->error, ERROR_LIMIT, "cannot add '%s': its times are not between 1970 and 2106",
				 adder->recording->name);
	if (adder->store->added.size == 0)
		adder->store->added_since_s = clickhouse_seconds();
	clickhouse_known_begin(adder->store);
	int status = begin(adder);
	if (status == 0)
		status = add_all_names(adder);
	if (status == 0)
		status = clickhouse_known_number(adder->store, adder->batch->nodes, adder->batch->has_rows,
						 adder->batch->profile->node_count, adder->numbers, adder->error);
	if (status == 0)
		status = add_rows(adder);
	if (status == 0)
		put_profile(adder);
	return status;
}

int clickhouse_store_add(struct store *base, const struct store_recording *recording, struct error *error)
{
	struct batch batch;
	struct adder adder = {
		.store = (struct clickhouse_store *)base, .recording = recording, .batch = &batch, .error = error
	};
	int status = batch_init(&batch, recording, adder.store->settings.bucket_ns, error);
	if (status == 0)
		status = add_all(&adder);
	batch_release(&batch);
	free(adder.depths);
	free(adder.numbers);
	return status < 0 ? status : 1;
}

static int add_profiles(struct clickhouse_store *store, struct error *error)
{
	if (buffer_error(&store->added) < 0)
		return clickhouse_fail(store, "write", ERROR_MEMORY, error_text(ERROR_MEMORY), error);
	if (clickhouse_seconds() - store->added_since_s > CLICKHOUSE_LONGEST_S)
		return clickhouse_fail(store, "write", ERROR_UNREACHABLE, "it took more than an hour (try again)",
				       error);
	return clickhouse_insert(store,
				 "profiles(identity, batch, removed, service, host, start_ns, end_ns, "
				 "first_bucket, samples, lost, ended, command, "
				 "version, hit_rows, touch_rows, lists, label_keys, label_values, description)",
				 &store->added, false, error);
}

int clickhouse_store_end(struct store *base, int status, struct error *error)
{
	struct clickhouse_store *store = (struct clickhouse_store *)base;
	if (status == 0)
		status = add_profiles(store, error);
	if (status < 0)
		clickhouse_known_forget(store);
	buffer_release(&store->added);
	buffer_init(&store->added);
	return status;
}

/* Appends "toFixedString(unhex('...'), 16)": an identity whose bytes behind those of the file are all `rest`. */
static void append_identity(struct buffer *sql, const uint8_t *identity, uint8_t rest)
{
	buffer_append_string(sql, "toFixedString(unhex('");
	for (size_t i = 0; i < STORE_IDENTITY_BYTES; i++)
		buffer_printf(sql, "%02X", i < STORE_FILE_BYTES ? identity[i] : rest);
	buffer_printf(sql, "'), %d)", STORE_IDENTITY_BYTES);
}

/* The server finds a range of identities by the table's order: it reads no other rows. */
int clickhouse_store_has(struct store *base, const struct store_recording *recording, struct error *error)
{
	const struct clickhouse_store *store = (struct clickhouse_store *)base;
	struct buffer sql;
	uint64_t count;
	buffer_init(&sql);
	buffer_append_string(&sql, "SELECT count() FROM (SELECT batch FROM profiles WHERE identity >= ");
	append_identity(&sql, recording->identity, 0);
	buffer_append_string(&sql, " AND identity <= ");
	append_identity(&sql, recording->identity, UINT8_MAX);
	buffer_append_string(&sql, " GROUP BY batch HAVING max(removed) = 0)");
	buffer_append_byte(&sql, 0);
	int status = buffer_error(&sql) < 0 ? clickhouse_fail(store, "read", ERROR_MEMORY, "out of memory", error)
					    : clickhouse_numbers(store, (const char *)sql.bytes, &count, 1, error);
	buffer_release(&sql);
	return status < 0 ? status : count > 0;
}
