/* Adds a recording to a store on SQLite: all parts of a file in one transaction. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/hash.h"
#include "store/row_blocks.h"
#include "store/sqlite.h"

static const char VERB[] = "write";

struct adder {
	struct sqlite_store *store;
	const struct store_recording *recording;
	struct batch *batch;
	struct error *error;
	sqlite3_stmt *find[SQLITE_TABLES], *insert[SQLITE_TABLES];
	sqlite3_stmt *insert_frame, *insert_block;
	int64_t *ids[SQLITE_TABLES]; /* of the store, by ids of the recording; 0: not known yet. Owned */
	int64_t profile;             /* id of the new row */
};

static const char *const finds[SQLITE_TABLES] = {
	[SQLITE_MODULES] = "SELECT id FROM modules WHERE hash = ?",
	[SQLITE_FUNCTIONS] = "SELECT id FROM functions WHERE hash = ?",
	[SQLITE_LOCATIONS] = "SELECT id FROM locations WHERE hash = ?",
	[SQLITE_STACKS] = "SELECT id FROM stacks WHERE parent = ?1 >> 32 & 0xffffffff AND location = ?1 & 0xffffffff",
};
static const char *const inserts[SQLITE_TABLES] = {
	[SQLITE_MODULES] = "INSERT INTO modules(hash, path, kind, build_id) VALUES(?, ?, ?, ?)",
	[SQLITE_FUNCTIONS] = ("INSERT INTO functions(hash, name, linkage, module, file, line, role, category) "
			      "VALUES(?, ?, ?, ?, ?, ?, ?, ?)"),
	[SQLITE_LOCATIONS] = "INSERT INTO locations(hash, module, address, by_frames) VALUES(?, ?, ?, ?)",
	[SQLITE_STACKS] = "INSERT INTO stacks(parent, location) VALUES(?1 >> 32 & 0xffffffff, ?1 & 0xffffffff)",
};

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
	sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

static void bind_string(const struct adder *adder, sqlite3_stmt *statement, int at, uint32_t string)
{
	bind_text(statement, at, profile_string(adder->batch->profile, string));
}

/* Keeps an id for the next recording. Returns it, or a negative error. */
static int64_t know(const struct adder *adder, enum sqlite_table table, uint64_t key, int64_t id)
{
	if (id > SQLITE_ID_MOST)
		return error_set(adder->error, ERROR_NO_SPACE,
				 "cannot write store '%s': it has too many call paths (cpprof store prune)",
				 adder->store->path);
	if (hash_map_put(&adder->store->known[table].ids, key, (uint32_t)id) < 0)
		return error_memory(adder->error);
	return id;
}

/* Returns the id of the row with that key, 0 if there is none, or a negative error. */
static int64_t find(const struct adder *adder, enum sqlite_table table, uint64_t key)
{
	const struct sqlite_known *known = &adder->store->known[table];
	uint32_t found = hash_map_get(&known->ids, key);
	if (found != HASH_MAP_NONE || known->is_whole)
		return found == HASH_MAP_NONE ? 0 : found;
	sqlite3_stmt *statement = adder->find[table];
	sqlite3_bind_int64(statement, 1, (int64_t)key);
	int step = sqlite3_step(statement);
	int64_t id = step == SQLITE_ROW    ? sqlite3_column_int64(statement, 0)
		     : step == SQLITE_DONE ? 0
					   : sqlite_fail(adder->store, "read", adder->error);
	sqlite3_reset(statement);
	if (step == SQLITE_ROW && id <= 0)
		return error_set(adder->error, ERROR_CORRUPT,
				 "cannot write store '%s': it is damaged: a row has no number", adder->store->path);
	return id > 0 ? know(adder, table, key, id) : id;
}

/* Inserts the row whose other values are bound. Returns its id or a negative error. */
static int64_t insert(const struct adder *adder, enum sqlite_table table, uint64_t key)
{
	sqlite3_bind_int64(adder->insert[table], 1, (int64_t)key);
	int status = sqlite_run(adder->store, adder->insert[table], VERB, adder->error);
	return status < 0 ? status : know(adder, table, key, sqlite3_last_insert_rowid(adder->store->db));
}

/* --- names --- */

static int64_t add_module(struct adder *adder, uint32_t id)
{
	int64_t *known = &adder->ids[SQLITE_MODULES][id];
	uint64_t hash = adder->batch->modules[id];
	if (*known)
		return *known;
	*known = find(adder, SQLITE_MODULES, hash);
	if (*known)
		return *known;
	const struct profile_module *module = &adder->batch->profile->modules[id];
	sqlite3_stmt *statement = adder->insert[SQLITE_MODULES];
	bind_string(adder, statement, 2, module->path);
	sqlite3_bind_int(statement, 3, module->kind);
	sqlite3_bind_blob(statement, 4, module->build_id, module->build_id_bytes, SQLITE_STATIC);
	return *known = insert(adder, SQLITE_MODULES, hash);
}

static int64_t add_function(struct adder *adder, uint32_t id)
{
	int64_t *known = &adder->ids[SQLITE_FUNCTIONS][id];
	uint64_t hash = adder->batch->functions[id];
	if (*known)
		return *known;
	*known = find(adder, SQLITE_FUNCTIONS, hash);
	if (*known)
		return *known;
	const struct profile_function *function = &adder->batch->profile->functions[id];
	int64_t module = function->module == PROFILE_NONE ? 0 : add_module(adder, function->module);
	if (module < 0)
		return module;
	sqlite3_stmt *statement = adder->insert[SQLITE_FUNCTIONS];
	bind_string(adder, statement, 2, function->name);
	bind_string(adder, statement, 3, function->linkage);
	sqlite3_bind_int64(statement, 4, module);
	bind_string(adder, statement, 5, function->file);
	sqlite3_bind_int64(statement, 6, function->line);
	sqlite3_bind_int(statement, 7, function->role);
	bind_string(adder, statement, 8, function->group);
	return *known = insert(adder, SQLITE_FUNCTIONS, hash);
}

static int add_frame(struct adder *adder, int64_t location, uint32_t depth, const struct profile_frame *frame)
{
	int64_t function = add_function(adder, frame->function);
	if (function < 0)
		return (int)function;
	sqlite3_stmt *statement = adder->insert_frame;
	sqlite3_bind_int64(statement, 1, location);
	sqlite3_bind_int64(statement, 2, depth);
	sqlite3_bind_int64(statement, 3, function);
	if (adder->batch->profile->functions[frame->function].file == frame->file)
		sqlite3_bind_null(statement, 4);
	else
		bind_string(adder, statement, 4, frame->file);
	sqlite3_bind_int64(statement, 5, frame->line);
	sqlite3_bind_int64(statement, 6, frame->discriminator);
	sqlite3_bind_int(statement, 7, frame->inlined);
	sqlite3_bind_int(statement, 8, frame->kind);
	return sqlite_run(adder->store, statement, VERB, adder->error);
}

static int64_t add_location(struct adder *adder, uint32_t id)
{
	const struct profile *profile = adder->batch->profile;
	uint8_t marks;
	const struct profile_location *location = batch_location(adder->batch, id, &marks);
	int64_t *known = &adder->ids[SQLITE_LOCATIONS][id];
	uint64_t hash = adder->batch->locations[id];
	if (*known)
		return *known;
	*known = find(adder, SQLITE_LOCATIONS, hash);
	if (*known)
		return *known;
	int64_t module = add_module(adder, location->module);
	if (module < 0)
		return module;
	sqlite3_stmt *statement = adder->insert[SQLITE_LOCATIONS];
	sqlite3_bind_int64(statement, 2, module);
	sqlite3_bind_int64(statement, 3, (int64_t)location->address);
	sqlite3_bind_int(statement, 4, marks);
	*known = insert(adder, SQLITE_LOCATIONS, hash);
	for (uint32_t i = 0; *known > 0 && location->first_frame != PROFILE_NONE && i < location->frame_count; i++) {
		int status = add_frame(adder, *known, i, &profile->frames[location->first_frame + i]);
		if (status < 0)
			return status;
	}
	return *known;
}

/* Callers come first. */
static int add_stacks(struct adder *adder)
{
	const struct batch *batch = adder->batch;
	int64_t *ids = adder->ids[SQLITE_STACKS];
	for (size_t i = 1; i < batch->profile->node_count; i++) {
		if (!batch->nodes[i])
			continue;
		int64_t location = add_location(adder, batch->node_locations[i]);
		if (location < 0)
			return (int)location;
		uint64_t key = (uint64_t)ids[batch->profile->nodes[i].parent] << 32 | (uint64_t)location;
		ids[i] = find(adder, SQLITE_STACKS, key);
		if (ids[i] == 0)
			ids[i] = insert(adder, SQLITE_STACKS, key);
		if (ids[i] < 0)
			return (int)ids[i];
	}
	return 0;
}

/* --- the recording --- */

static int run_once(const struct adder *adder, sqlite3_stmt *statement)
{
	int status = sqlite_run(adder->store, statement, VERB, adder->error);
	sqlite3_finalize(statement);
	return status;
}

static int add_profile(struct adder *adder)
{
	const struct batch *batch = adder->batch;
	const struct store_recording *recording = adder->recording;
	const char *command = profile_note(batch->profile, "command"),
		   *version = profile_note(batch->profile, "cpprof");
	sqlite3_stmt *statement = sqlite_prepare(
		adder->store,
		"INSERT INTO profiles(identity, service, host, start, end, first_bucket, added, samples, lost, ended, "
		"command, version, description) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		adder->error);
	if (!statement)
		return adder->error->code;
	int at = 0;
	sqlite3_bind_blob(statement, ++at, recording->identity, sizeof(recording->identity), SQLITE_STATIC);
	bind_text(statement, ++at, recording->service);
	bind_text(statement, ++at, recording->host);
	sqlite3_bind_int64(statement, ++at, batch->start_unix_ns);
	sqlite3_bind_int64(statement, ++at, batch->end_unix_ns);
	sqlite3_bind_int64(statement, ++at, batch->first_bucket);
	sqlite3_bind_int64(statement, ++at, (int64_t)time(NULL) * STORE_NS_PER_S);
	sqlite3_bind_int64(statement, ++at, (int64_t)batch->samples);
	sqlite3_bind_int64(statement, ++at, (int64_t)batch->profile->lost);
	sqlite3_bind_int(statement, ++at, batch->profile->ended);
	bind_text(statement, ++at, command ? command : "");
	bind_text(statement, ++at, version ? version : "");
	sqlite3_bind_blob64(statement, ++at, batch->description.bytes, batch->description.size, SQLITE_STATIC);
	int status = run_once(adder, statement);
	adder->profile = sqlite3_last_insert_rowid(adder->store->db);
	return status;
}

static int add_labels(const struct adder *adder)
{
	const struct store_labels *labels = &adder->recording->labels;
	for (size_t i = 0; i < labels->count; i++) {
		sqlite3_stmt *statement =
			sqlite_prepare(adder->store, "INSERT INTO labels VALUES(?, ?, ?)", adder->error);
		if (!statement)
			return adder->error->code;
		sqlite3_bind_int64(statement, 1, adder->profile);
		bind_text(statement, 2, labels->items[i].key);
		bind_text(statement, 3, labels->items[i].value);
		int status = run_once(adder, statement);
		if (status < 0)
			return status;
	}
	return 0;
}

static int insert_block(void *context, const struct row_block *block)
{
	const struct adder *adder = context;
	sqlite3_stmt *statement = adder->insert_block;
	sqlite3_bind_int64(statement, 1, adder->profile);
	sqlite3_bind_int64(statement, 2, block->resource);
	sqlite3_bind_int64(statement, 3, block->first);
	sqlite3_bind_int64(statement, 4, block->last);
	sqlite3_bind_int64(statement, 5, (int64_t)block->rows);
	sqlite3_bind_blob64(statement, 6, block->bytes, block->size, SQLITE_STATIC);
	return sqlite_run(adder->store, statement, VERB, adder->error);
}

static int add_rows(struct adder *adder, enum format_block_type type, const char *table, size_t count)
{
	const struct row_blocks blocks = { .batch = adder->batch,
					   .stacks = adder->ids[SQLITE_STACKS],
					   .take = insert_block,
					   .context = adder,
					   .error = adder->error };
	char sql[128];
	if (count == 0)
		return 0;
	snprintf(sql, sizeof(sql),
		 "INSERT INTO %s(profile, resource, first, last, rows, block) VALUES(?, ?, ?, ?, ?, ?)", table);
	adder->insert_block = sqlite_prepare(adder->store, sql, adder->error);
	int status = adder->insert_block ? row_blocks_make(&blocks, type) : adder->error->code;
	sqlite3_finalize(adder->insert_block);
	return status;
}

/* --- all --- */

static int begin(struct adder *adder)
{
	const struct profile *profile = adder->batch->profile;
	const size_t counts[SQLITE_TABLES] = { profile->module_count, profile->function_count,
					       batch_location_count(adder->batch), profile->node_count };
	for (int i = 0; i < SQLITE_TABLES; i++) {
		adder->ids[i] = calloc(counts[i] + 1, sizeof(*adder->ids[i]));
		if (!adder->ids[i])
			return error_set(adder->error, ERROR_MEMORY, "cannot write store '%s': out of memory",
					 adder->store->path);
		adder->find[i] = sqlite_prepare(adder->store, finds[i], adder->error);
		adder->insert[i] = adder->find[i] ? sqlite_prepare(adder->store, inserts[i], adder->error) : NULL;
		if (!adder->insert[i])
			return adder->error->code;
	}
	adder->insert_frame =
		sqlite_prepare(adder->store, "INSERT INTO frames VALUES(?, ?, ?, ?, ?, ?, ?, ?)", adder->error);
	return adder->insert_frame ? sqlite_known_begin(adder->store, counts, adder->error) : adder->error->code;
}

static void end(struct adder *adder)
{
	for (int i = 0; i < SQLITE_TABLES; i++) {
		free(adder->ids[i]);
		sqlite3_finalize(adder->find[i]);
		sqlite3_finalize(adder->insert[i]);
	}
	sqlite3_finalize(adder->insert_frame);
}

static int add_all(struct adder *adder)
{
	int status = begin(adder);
	if (status == 0)
		status = add_profile(adder);
	if (status == 0)
		status = add_labels(adder);
	if (status == 0)
		status = add_stacks(adder);
	if (status == 0)
		status = add_rows(adder, BLOCK_HITS, "hits", adder->batch->hit_count);
	if (status == 0)
		status = add_rows(adder, BLOCK_TOUCHES, "touches", adder->batch->touch_count);
	end(adder);
	return status;
}

int sqlite_store_has(struct store *base, const struct store_recording *recording, struct error *error)
{
	const struct sqlite_store *store = (struct sqlite_store *)base;
	sqlite3_stmt *statement = sqlite_prepare(store, "SELECT 1 FROM profiles WHERE identity BETWEEN ? AND ?", error);
	if (!statement)
		return error->code;
	uint8_t ends[2][STORE_IDENTITY_BYTES];
	memset(ends[0], 0, sizeof(ends[0]));
	memset(ends[1], UINT8_MAX, sizeof(ends[1]));
	for (int i = 0; i < 2; i++) {
		memcpy(ends[i], recording->identity, STORE_FILE_BYTES);
		sqlite3_bind_blob(statement, i + 1, ends[i], sizeof(ends[i]), SQLITE_STATIC);
	}
	int step = sqlite3_step(statement);
	int status = step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : sqlite_fail(store, "read", error);
	sqlite3_finalize(statement);
	return status;
}

/* Begins the transaction. Returns whether another program has added the file, or a negative error. */
static int begin_file(struct adder *adder)
{
	int status = sqlite_execute(adder->store, "BEGIN IMMEDIATE", VERB, adder->error);
	return status < 0 ? status : sqlite_store_has(&adder->store->store, adder->recording, adder->error);
}

/* Everything of the first part that needs no lock is computed before the transaction begins. */
int sqlite_store_add(struct store *base, const struct store_recording *recording, struct error *error)
{
	struct sqlite_store *store = (struct sqlite_store *)base;
	struct batch batch;
	struct adder adder = { .store = store, .recording = recording, .batch = &batch, .error = error };
	int status = batch_init(&batch, recording, store->settings.bucket_ns, error);
	int there = status == 0 && sqlite3_get_autocommit(store->db) ? begin_file(&adder) : status;
	if (there == 0)
		status = add_all(&adder);
	batch_release(&batch);
	return there < 0 ? there : status < 0 ? status : !there;
}

int sqlite_store_end(struct store *base, int status, struct error *error)
{
	struct sqlite_store *store = (struct sqlite_store *)base;
	status = sqlite_end(store, status, VERB, error);
	if (status < 0)
		sqlite_known_forget(store);
	return status;
}
