/* Adds a recording to a store on SQLite: all parts of a file in one transaction. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/compare.h"
#include "store/batch.h"
#include "store/hash.h"
#include "store/sqlite.h"

static const char VERB[] = "write";

enum table { MODULES, FUNCTIONS, LOCATIONS, STACKS, TABLES };

struct adder {
	struct sqlite_store *store;
	const struct store_recording *recording;
	struct batch *batch;
	struct error *error;
	sqlite3_stmt *find[TABLES], *insert[TABLES];
	sqlite3_stmt *insert_frame;
	int64_t *ids[TABLES]; /* of the store, by ids of the recording; 0: not known yet. Owned */
	int64_t profile;      /* id of the new row */
	int64_t first_series; /* id of series 0 */
};

static const char *const finds[TABLES] = {
	"SELECT id FROM modules WHERE hash = ?",
	"SELECT id FROM functions WHERE hash = ?",
	"SELECT id FROM locations WHERE hash = ?",
	"SELECT id FROM stacks WHERE hash = ?",
};
static const char *const inserts[TABLES] = {
	"INSERT INTO modules(hash, path, kind, build_id) VALUES(?, ?, ?, ?)",
	"INSERT INTO functions(hash, name, linkage, module, file, line, role, category) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
	"INSERT INTO locations(hash, module, address, by_frames) VALUES(?, ?, ?, ?)",
	"INSERT INTO stacks(hash, parent, location) VALUES(?, ?, ?)",
};

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
	sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

static void bind_string(const struct adder *adder, sqlite3_stmt *statement, int at, uint32_t string)
{
	bind_text(statement, at, profile_string(adder->batch->profile, string));
}

/* Returns the id of the row with that hash, 0 if there is none, or a negative error. */
static int64_t find(const struct adder *adder, enum table table, uint64_t hash)
{
	sqlite3_stmt *statement = adder->find[table];
	sqlite3_bind_int64(statement, 1, (int64_t)hash);
	int step = sqlite3_step(statement);
	int64_t id = step == SQLITE_ROW    ? sqlite3_column_int64(statement, 0)
		     : step == SQLITE_DONE ? 0
					   : sqlite_fail(adder->store, "read", adder->error);
	sqlite3_reset(statement);
	return id;
}

/* Inserts the row whose other values are bound. Returns its id or a negative error. */
static int64_t insert(const struct adder *adder, enum table table, uint64_t hash)
{
	sqlite3_bind_int64(adder->insert[table], 1, (int64_t)hash);
	int status = sqlite_run(adder->store, adder->insert[table], VERB, adder->error);
	return status < 0 ? status : sqlite3_last_insert_rowid(adder->store->db);
}

/* --- names --- */

static int64_t add_module(struct adder *adder, uint32_t id)
{
	int64_t *known = &adder->ids[MODULES][id];
	uint64_t hash = adder->batch->modules[id];
	if (*known)
		return *known;
	*known = find(adder, MODULES, hash);
	if (*known)
		return *known;
	const struct profile_module *module = &adder->batch->profile->modules[id];
	sqlite3_stmt *statement = adder->insert[MODULES];
	bind_string(adder, statement, 2, module->path);
	sqlite3_bind_int(statement, 3, module->kind);
	sqlite3_bind_blob(statement, 4, module->build_id, module->build_id_bytes, SQLITE_STATIC);
	return *known = insert(adder, MODULES, hash);
}

static int64_t add_function(struct adder *adder, uint32_t id)
{
	int64_t *known = &adder->ids[FUNCTIONS][id];
	uint64_t hash = adder->batch->functions[id];
	if (*known)
		return *known;
	*known = find(adder, FUNCTIONS, hash);
	if (*known)
		return *known;
	const struct profile_function *function = &adder->batch->profile->functions[id];
	int64_t module = function->module == PROFILE_NONE ? 0 : add_module(adder, function->module);
	if (module < 0)
		return module;
	sqlite3_stmt *statement = adder->insert[FUNCTIONS];
	bind_string(adder, statement, 2, function->name);
	bind_string(adder, statement, 3, function->linkage);
	sqlite3_bind_int64(statement, 4, module);
	bind_string(adder, statement, 5, function->file);
	sqlite3_bind_int64(statement, 6, function->line);
	sqlite3_bind_int(statement, 7, function->role);
	bind_string(adder, statement, 8, function->group);
	return *known = insert(adder, FUNCTIONS, hash);
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
	int64_t *known = &adder->ids[LOCATIONS][id];
	uint64_t hash = adder->batch->locations[id];
	if (*known)
		return *known;
	*known = find(adder, LOCATIONS, hash);
	if (*known)
		return *known;
	int64_t module = add_module(adder, location->module);
	if (module < 0)
		return module;
	sqlite3_stmt *statement = adder->insert[LOCATIONS];
	sqlite3_bind_int64(statement, 2, module);
	sqlite3_bind_int64(statement, 3, (int64_t)location->address);
	sqlite3_bind_int(statement, 4, marks);
	*known = insert(adder, LOCATIONS, hash);
	for (uint32_t i = 0; *known > 0 && location->first_frame != PROFILE_NONE && i < location->frame_count; i++) {
		int status = add_frame(adder, *known, i, &profile->frames[location->first_frame + i]);
		if (status < 0)
			return status;
	}
	return *known;
}

static int add_stacks(struct adder *adder)
{
	const struct batch *batch = adder->batch;
	for (size_t i = 1; i < batch->profile->node_count; i++) {
		const struct profile_node *node = &batch->profile->nodes[i];
		if (!batch->nodes[i])
			continue;
		int64_t id = find(adder, STACKS, batch->nodes[i]);
		int64_t location = id ? 0 : add_location(adder, batch->node_locations[i]);
		if (id == 0 && location > 0) {
			sqlite3_bind_int64(adder->insert[STACKS], 2, adder->ids[STACKS][node->parent]);
			sqlite3_bind_int64(adder->insert[STACKS], 3, location);
			id = insert(adder, STACKS, batch->nodes[i]);
		}
		if (id < 0 || location < 0)
			return (int)(id < 0 ? id : location);
		adder->ids[STACKS][i] = id;
	}
	return 0;
}

/* --- the recording, its series and hits --- */

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

static int add_series(struct adder *adder)
{
	const struct batch *batch = adder->batch;
	sqlite3_stmt *statement = sqlite_prepare(
		adder->store, "INSERT INTO series(profile, resource, number, thread, labels) VALUES(?, ?, ?, ?, ?)",
		adder->error);
	int status = statement ? 0 : adder->error->code;
	for (size_t i = 0; i < batch->series_count && status == 0; i++) {
		const struct batch_series *series = &batch->series[i];
		sqlite3_bind_int64(statement, 1, adder->profile);
		bind_string(adder, statement, 2, batch->profile->resources[series->resource].name);
		sqlite3_bind_int64(statement, 3, series->resource);
		sqlite3_bind_int64(statement, 4, series->thread == PROFILE_NONE ? -1 : (int64_t)series->thread);
		sqlite3_bind_int64(statement, 5, series->labels);
		status = sqlite_run(adder->store, statement, VERB, adder->error);
		if (i == 0)
			adder->first_series = sqlite3_last_insert_rowid(adder->store->db);
	}
	sqlite3_finalize(statement);
	return status;
}

static int compare_hits(const void *left, const void *right, void *context)
{
	const struct batch_hit *a = left, *b = right;
	const int64_t *stacks = context;
	return COMPARE(a->series, b->series) ?: COMPARE(a->bucket, b->bucket) ?:
	       COMPARE(stacks[a->node], stacks[b->node]) ?: COMPARE(a->hits, b->hits);
}

/* Rows come in the order of the table, so that its pages fill up. */
static int add_hits(struct adder *adder)
{
	struct batch *batch = adder->batch;
	const int64_t *stacks = adder->ids[STACKS];
	sqlite3_stmt *statement = sqlite_prepare(adder->store, "INSERT INTO hits VALUES(?, ?, ?, ?, ?)", adder->error);
	int status = statement ? 0 : adder->error->code;
	qsort_r(batch->hits, batch->hit_count, sizeof(*batch->hits), compare_hits, adder->ids[STACKS]);
	for (size_t i = 0; i < batch->hit_count && status == 0; i++) {
		const struct batch_hit *hit = &batch->hits[i];
		sqlite3_bind_int64(statement, 1, adder->first_series + hit->series);
		sqlite3_bind_int64(statement, 2, hit->bucket);
		sqlite3_bind_int64(statement, 3, stacks[hit->node]);
		sqlite3_bind_int64(statement, 4, (int64_t)hit->hits);
		sqlite3_bind_int64(statement, 5, (int64_t)hit->samples);
		status = sqlite_run(adder->store, statement, VERB, adder->error);
	}
	sqlite3_finalize(statement);
	return status;
}

static int add_touches(struct adder *adder)
{
	const struct batch *batch = adder->batch;
	sqlite3_stmt *statement =
		sqlite_prepare(adder->store, "INSERT INTO touches VALUES(?, ?, ?, ?, ?, ?)", adder->error);
	int status = statement ? 0 : adder->error->code;
	for (size_t i = 0; i < batch->touch_count && status == 0; i++) {
		const struct batch_touch *touch = &batch->touches[i];
		sqlite3_bind_int64(statement, 1, adder->first_series + touch->series);
		sqlite3_bind_int64(statement, 2, touch->bucket);
		sqlite3_bind_int64(statement, 3, adder->ids[STACKS][touch->node]);
		bind_string(adder, statement, 4, touch->mapping);
		sqlite3_bind_int64(statement, 5, (int64_t)touch->address);
		sqlite3_bind_int64(statement, 6, (int64_t)touch->hits);
		status = sqlite_run(adder->store, statement, VERB, adder->error);
	}
	sqlite3_finalize(statement);
	return status;
}

/* --- all --- */

static int begin(struct adder *adder)
{
	const struct profile *profile = adder->batch->profile;
	const size_t counts[TABLES] = { profile->module_count, profile->function_count,
					batch_location_count(adder->batch), profile->node_count };
	for (int i = 0; i < TABLES; i++) {
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
	return adder->insert_frame ? 0 : adder->error->code;
}

static void end(struct adder *adder)
{
	for (int i = 0; i < TABLES; i++) {
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
		status = add_series(adder);
	if (status == 0)
		status = add_hits(adder);
	if (status == 0)
		status = add_touches(adder);
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
	return sqlite_end((struct sqlite_store *)base, status, VERB, error);
}
