/* Reads a selection of a store on SQLite into a profile. Call paths and names are looked up when
 * a hit first needs them. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "store/assemble.h"
#include "store/batch.h"
#include "store/rows.h"
#include "store/sqlite.h"

enum lookup { MODULE, FUNCTION, LOCATION, FRAMES, STACK, HITS, TOUCHES, LABELS, SOURCES, LOOKUPS };

static const char *const lookups[LOOKUPS] = {
	[MODULE] = "SELECT path, kind, build_id FROM modules WHERE id = ?",
	[FUNCTION] = "SELECT name, linkage, module, file, line, role, category FROM functions WHERE id = ?",
	[LOCATION] = "SELECT module, address, by_frames FROM locations WHERE id = ?",
	[FRAMES] = "SELECT function, file, line, discriminator, inlined, kind FROM frames WHERE location = ? ORDER BY "
		   "depth",
	[STACK] = "SELECT parent, location FROM stacks WHERE id = ?",
	[HITS] = "SELECT resource, block FROM hits WHERE profile = ? AND last >= ? AND first < ? ORDER BY id",
	[TOUCHES] = "SELECT resource, block FROM touches WHERE profile = ? AND last >= ? AND first < ? ORDER BY id",
	[LABELS] = "SELECT key, value FROM labels WHERE profile = ? ORDER BY key",
	/* the same, behind the labels that a selection with sources adds: the last one of a key counts */
	[SOURCES] = "SELECT 'service' AS key, service AS value, 0 AS rank FROM profiles WHERE id = ?1 UNION ALL "
		    "SELECT 'host', host, 0 FROM profiles WHERE id = ?1 UNION ALL "
		    "SELECT key, value, 1 FROM labels WHERE profile = ?1 ORDER BY rank, key",
};

struct selector {
	const struct sqlite_store *store;
	struct assemble assemble;
	struct rows_unpacker unpacker;
	struct error *error;
	sqlite3_stmt *statements[LOOKUPS];
};

/* Returns the statement with its first value, ready for sqlite3_step. */
static sqlite3_stmt *begin(const struct selector *selector, enum lookup lookup, int64_t id)
{
	sqlite3_stmt *statement = selector->statements[lookup];
	sqlite3_reset(statement);
	sqlite3_bind_int64(statement, 1, id);
	return statement;
}

/* Steps to the next row. Returns 1, 0 if there are no more, or a negative error. */
static int next(const struct selector *selector, sqlite3_stmt *statement)
{
	int step = sqlite3_step(statement);
	if (step == SQLITE_ROW)
		return 1;
	int status = step == SQLITE_DONE ? 0 : sqlite_fail(selector->store, "read", selector->error);
	sqlite3_reset(statement);
	return status;
}

/* Reads the one row with this id. Returns as next. */
static int find(const struct selector *selector, enum lookup lookup, int64_t id, sqlite3_stmt **row)
{
	*row = begin(selector, lookup, id);
	return next(selector, *row);
}

/* Returns a text of the current row. NULL is "". */
static const char *text_of(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);
	return text ? text : "";
}

/* --- names --- */

static int read_module(void *context, int64_t id, struct assembled_module *module)
{
	sqlite3_stmt *row;
	int got = find(context, MODULE, id, &row);
	if (got > 0)
		*module = (struct assembled_module){ .path = text_of(row, 0),
						     .kind = sqlite3_column_int64(row, 1),
						     .build_id = sqlite3_column_blob(row, 2),
						     .build_id_bytes = (size_t)sqlite3_column_bytes(row, 2) };
	return got;
}

static int read_function(void *context, int64_t id, struct assembled_function *function)
{
	sqlite3_stmt *row;
	int got = find(context, FUNCTION, id, &row);
	if (got > 0)
		*function = (struct assembled_function){ .name = text_of(row, 0),
							 .linkage = text_of(row, 1),
							 .module = sqlite3_column_int64(row, 2),
							 .file = text_of(row, 3),
							 .line = sqlite3_column_int64(row, 4),
							 .role = sqlite3_column_int64(row, 5),
							 .group = text_of(row, 6) };
	return got;
}

static int read_location(void *context, int64_t id, struct assembled_location *location)
{
	sqlite3_stmt *row;
	int got = find(context, LOCATION, id, &row);
	if (got > 0)
		*location = (struct assembled_location){ .module = sqlite3_column_int64(row, 0),
							 .address = (uint64_t)sqlite3_column_int64(row, 1),
							 .marks = sqlite3_column_int64(row, 2) };
	return got;
}

/* The rows of a location come from one statement: the calls of depth 1 and more take its next ones. */
static int read_frame(void *context, int64_t location, size_t depth, struct assembled_frame *frame)
{
	const struct selector *selector = context;
	sqlite3_stmt *row = depth == 0 ? begin(selector, FRAMES, location) : selector->statements[FRAMES];
	int got = next(selector, row);
	if (got > 0)
		*frame = (struct assembled_frame){ .function = sqlite3_column_int64(row, 0),
						   .file = (const char *)sqlite3_column_text(row, 1),
						   .line = sqlite3_column_int64(row, 2),
						   .discriminator = sqlite3_column_int64(row, 3),
						   .inlined = sqlite3_column_int(row, 4) != 0,
						   .kind = sqlite3_column_int64(row, 5) };
	return got;
}

static int read_stack(void *context, int64_t id, struct assembled_stack *stack)
{
	const struct selector *selector = context;
	sqlite3_stmt *row;
	int got = find(selector, STACK, id, &row);
	if (got <= 0)
		return got;
	*stack = (struct assembled_stack){ .parent = sqlite3_column_int64(row, 0),
					   .location = sqlite3_column_int64(row, 1) };
	if (stack->parent < 0 || stack->parent >= id)
		return assemble_corrupt(&selector->assemble, "a call path is circular");
	return got;
}

/* --- hits --- */

/* A recording whose rows are read. */
struct reading {
	struct selector *selector;
	size_t recording;
	int64_t first, end; /* buckets */
	bool is_touches;
	int64_t resource; /* of the present block */
};

static int add_row(const struct reading *reading, const struct packed_row *row)
{
	struct assemble *assemble = &reading->selector->assemble;
	struct assembled_row values = { .recording = reading->recording,
					.resource = reading->resource,
					.thread = row->thread == PROFILE_NONE ? -1 : (int64_t)row->thread,
					.labels = row->labels,
					.bucket = (int64_t)(row->bucket_after - 1),
					.hits = (int64_t)row->amount };
	if (values.bucket < reading->first || values.bucket >= reading->end ||
	    !assemble_chooses(assemble, values.recording, values.resource, values.labels))
		return 0;
	int64_t node = assemble_stack(assemble, (int64_t)row->stack);
	if (node < 0)
		return (int)node;
	values.node = (uint32_t)node;
	if (reading->is_touches) {
		values.mapping = reading->selector->unpacker.texts[row->mapping];
		values.address = (int64_t)row->address;
		return assemble_touch(assemble, &values);
	}
	values.samples = row->size ? values.hits : 0;
	if (values.samples > UINT32_MAX)
		return assemble_corrupt(assemble, "a row of hits is out of range");
	if (row->size && __builtin_mul_overflow(row->amount, row->size, &values.hits))
		return assemble_corrupt(assemble, "a row of hits is out of range");
	return assemble_hit(assemble, &values);
}

static int read_block(const struct reading *reading, const void *block, size_t bytes)
{
	struct rows_unpacker *unpacker = &reading->selector->unpacker;
	enum format_block_type type = reading->is_touches ? BLOCK_TOUCHES : BLOCK_HITS;
	int64_t count = rows_unpack(unpacker, type, block, bytes);
	int status = 0;
	if (count == ERROR_MEMORY)
		return assemble_fail(&reading->selector->assemble, ERROR_MEMORY);
	if (count < 0)
		return assemble_corrupt(&reading->selector->assemble, "a block of rows cannot be read");
	for (int64_t i = 0; i < count && status == 0; i++)
		status = add_row(reading, &unpacker->rows[i]);
	return status;
}

static int read_rows(struct selector *selector, enum lookup lookup, int64_t profile, size_t recording)
{
	const struct assemble *assemble = &selector->assemble;
	struct reading reading = { .selector = selector, .recording = recording, .is_touches = lookup == TOUCHES };
	int status;
	assemble_buckets(assemble, recording, &reading.first, &reading.end);
	sqlite3_stmt *row = begin(selector, lookup, profile);
	sqlite3_bind_int64(row, 2, reading.first);
	sqlite3_bind_int64(row, 3, reading.end);
	while ((status = next(selector, row)) > 0) {
		reading.resource = sqlite3_column_int64(row, 0);
		if (!assemble_needs(assemble, recording, reading.resource))
			continue;
		status = read_block(&reading, sqlite3_column_blob(row, 1), (size_t)sqlite3_column_bytes(row, 1));
		if (status < 0)
			return status;
	}
	return status;
}

/* --- recordings --- */

/* Reads the labels of a recording into `items`, whose texts the caller frees. Returns 0 or a negative error. */
static int read_labels(struct selector *selector, int64_t profile, struct store_label **items, size_t *count)
{
	size_t capacity = 0;
	int status;
	bool has_sources = selector->assemble.selection->has_sources;
	sqlite3_stmt *row = begin(selector, has_sources ? SOURCES : LABELS, profile);
	while ((status = next(selector, row)) > 0) {
		const char *key = (const char *)sqlite3_column_text(row, 0);
		const char *value = (const char *)sqlite3_column_text(row, 1);
		if (!key || !*key || !value)
			return assemble_corrupt(&selector->assemble, "a label is empty");
		struct store_label label = { .key = strdup(key), .value = strdup(value) };
		if (!label.key || !label.value || ARRAY_RESERVE(*items, capacity, *count + 1) < 0) {
			free((char *)label.key);
			free((char *)label.value);
			return error_set(selector->error, ERROR_MEMORY, "cannot read store '%s': out of memory",
					 selector->store->path);
		}
		(*items)[(*count)++] = label;
	}
	return status;
}

static int read_recording(struct selector *selector, sqlite3_stmt *row)
{
	struct store_label *labels = NULL;
	size_t count = 0;
	int64_t profile = sqlite3_column_int64(row, 0);
	int status = read_labels(selector, profile, &labels, &count);
	const struct assembled_recording recording = {
		.description = sqlite3_column_blob(row, 1),
		.description_bytes = (size_t)sqlite3_column_bytes(row, 1),
		.start_unix_ns = sqlite3_column_int64(row, 2),
		.end_unix_ns = sqlite3_column_int64(row, 3),
		.first_bucket = sqlite3_column_int64(row, 4),
		.ended = sqlite3_column_int(row, 5) != 0,
		.labels = { .items = labels, .count = count },
		.name = selector->store->path,
	};
	int64_t number = status == 0 ? assemble_recording(&selector->assemble, &recording) : status;
	status = number < 0 ? (int)number : read_rows(selector, HITS, profile, (size_t)number);
	if (status == 0 && !selector->assemble.selection->is_sum)
		status = read_rows(selector, TOUCHES, profile, (size_t)number);
	for (size_t i = 0; i < count; i++) {
		free((char *)labels[i].key);
		free((char *)labels[i].value);
	}
	free(labels);
	return status;
}

static int read_recordings(struct selector *selector, const struct store_selection *selection)
{
	sqlite3_stmt *row =
		sqlite_prepare(selector->store,
			       "SELECT id, description, start, end, first_bucket, ended FROM profiles WHERE (?1 IS "
			       "NULL OR service = ?1) "
			       "AND (?2 IS NULL OR host = ?2) AND start < ?4 AND end >= ?3 ORDER BY start, id",
			       selector->error);
	int status = row ? 1 : selector->error->code;
	if (row) {
		sqlite3_bind_text(row, 1, selection->service, -1, SQLITE_STATIC);
		sqlite3_bind_text(row, 2, selection->host, -1, SQLITE_STATIC);
		sqlite3_bind_int64(row, 3, selection->from_unix_ns);
		sqlite3_bind_int64(row, 4, selection->to_unix_ns);
	}
	while (status > 0 && (status = next(selector, row)) > 0) {
		int read = read_recording(selector, row);
		status = read < 0 ? read : 1;
	}
	sqlite3_finalize(row);
	return status == 0 ? assemble_check_found(&selector->assemble, selector->store->path) : status;
}

static int select_all(struct selector *selector, const struct store_selection *selection,
		      const struct assemble_source *source)
{
	int status = assemble_init(&selector->assemble, selection, selector->store->settings.bucket_ns, source,
				   selector->error);
	if (rows_unpacker_init(&selector->unpacker) < 0 && status == 0)
		status = assemble_fail(&selector->assemble, ERROR_MEMORY);
	for (int i = 0; i < LOOKUPS && status == 0; i++) {
		selector->statements[i] = sqlite_prepare(selector->store, lookups[i], selector->error);
		status = selector->statements[i] ? 0 : selector->error->code;
	}
	/* One transaction, so that a writer changes nothing meanwhile. */
	if (status == 0)
		status = sqlite_execute(selector->store, "BEGIN", "read", selector->error);
	if (status == 0)
		status = read_recordings(selector, selection);
	for (int i = 0; i < LOOKUPS; i++)
		sqlite3_finalize(selector->statements[i]);
	rows_unpacker_release(&selector->unpacker);
	sqlite3_exec(selector->store->db, "ROLLBACK", NULL, NULL, NULL);
	return status;
}

static struct profile *select_once(struct sqlite_store *store, const struct store_selection *selection,
				   struct error *error)
{
	struct error own = { 0 };
	struct selector selector = { .store = store, .error = error ? error : &own };
	const struct assemble_source source = { .context = &selector,
						.module = read_module,
						.function = read_function,
						.location = read_location,
						.frame = read_frame,
						.stack = read_stack };
	int status = select_all(&selector, selection, &source);
	return assemble_finish(&selector.assemble, status);
}

struct profile *sqlite_store_select(struct store *base, const struct store_selection *selection, struct error *error)
{
	struct sqlite_store *store = (struct sqlite_store *)base;
	struct store_selection rounded = *selection;
	struct profile *profile = NULL;
	int attempts = 0, again = assemble_round(&rounded, store->settings.bucket_ns, error) < 0 ? 0 : 1;
	while (again > 0) {
		profile = select_once(store, &rounded, error);
		again = sqlite_read_again(store, &attempts, error);
		if (again != 0) {
			profile_free(profile);
			profile = NULL;
		}
	}
	return profile;
}
