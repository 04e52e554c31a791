#include "store/clickhouse_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "store/hash.h"

enum { ROUNDS_MOST = 1 << 16 };

static const struct {
	const char *sql, *types;
} tables[NAMES_TABLES] = {
	[NAMES_STACKS] = { "SELECT hash, parent, locations FROM stacks WHERE hash IN ids", "qqQ" },
	[NAMES_LOCATIONS] = { "SELECT hash, module, address, by_frames, functions, files, lines, discriminators, kinds "
			      "FROM "
			      "locations WHERE hash IN ids",
			      "qqqbQSDDB" },
	[NAMES_FUNCTIONS] = { "SELECT hash, name, linkage, module, file, line, role, category FROM functions WHERE "
			      "hash IN ids",
			      "qssqsdbs" },
	[NAMES_MODULES] = { "SELECT hash, path, kind, build_id FROM modules WHERE hash IN ids", "qsbs" },
};

void clickhouse_names_init(struct clickhouse_names *names, const struct clickhouse_store *store, struct error *error)
{
	*names = (struct clickhouse_names){ .store = store, .error = error };
	buffer_init(&names->texts);
	hash_map_init(&names->stacks);
	for (int i = 0; i < NAMES_TABLES; i++) {
		buffer_init(&names->tables[i].bytes);
		hash_map_init(&names->tables[i].by_hash);
		hash_map_init(&names->tables[i].wanted);
	}
}

void clickhouse_names_release(struct clickhouse_names *names)
{
	buffer_release(&names->texts);
	hash_map_release(&names->stacks);
	free(names->stack_rows);
	for (int i = 0; i < NAMES_TABLES; i++) {
		buffer_release(&names->tables[i].bytes);
		hash_map_release(&names->tables[i].by_hash);
		hash_map_release(&names->tables[i].wanted);
		free(names->tables[i].starts);
		free(names->tables[i].pending);
	}
}

static int out_of_memory(const struct clickhouse_names *names)
{
	return clickhouse_fail(names->store, "read", ERROR_MEMORY, error_text(ERROR_MEMORY), names->error);
}

static int damaged(const struct clickhouse_names *names, const char *what)
{
	return error_set(names->error, ERROR_CORRUPT, "cannot read the store: it is damaged: %s", what);
}

/* --- reading --- */

static int request(struct clickhouse_names *names, enum clickhouse_names_table table, uint64_t hash)
{
	struct clickhouse_names_rows *rows = &names->tables[table];
	if (hash == 0 || hash_map_get(&rows->wanted, hash) != HASH_MAP_NONE)
		return 0;
	if (hash_map_put(&rows->wanted, hash, 0) < 0 ||
	    ARRAY_RESERVE(rows->pending, rows->pending_capacity, rows->pending_count + 1) < 0)
		return out_of_memory(names);
	rows->pending[rows->pending_count++] = hash;
	return 0;
}

int clickhouse_names_request(struct clickhouse_names *names, uint64_t stack)
{
	return request(names, NAMES_STACKS, stack);
}

static int add_stack(struct clickhouse_names *names, uint64_t hash, uint64_t parent, uint64_t location)
{
	if (hash_map_get(&names->stacks, hash) != HASH_MAP_NONE)
		return 0;
	if (ARRAY_RESERVE(names->stack_rows, names->stack_capacity, names->stack_count + 1) < 0 ||
	    hash_map_put(&names->stacks, hash, (uint32_t)names->stack_count) < 0)
		return out_of_memory(names);
	names->stack_rows[names->stack_count++] =
		(struct assembled_stack){ .parent = (int64_t)parent, .location = (int64_t)location };
	return request(names, NAMES_LOCATIONS, location);
}

/* Adds a row of stacks, and all stacks between it and its parent: their hashes follow from those of their locations. */
static int take_stack(struct clickhouse_names *names, const struct clickhouse_value *row)
{
	uint64_t hash = row[1].number;
	int status = request(names, NAMES_STACKS, hash);
	if (row[2].count == 0 || row[2].count > CLICKHOUSE_PIECE_FRAMES)
		return damaged(names, "a call path is too long or empty");
	for (size_t i = 0; i < row[2].count && status == 0; i++) {
		uint64_t location = clickhouse_element(&row[2], sizeof(uint64_t), i), parent = hash;
		hash = store_hash_stack(parent, location);
		status = add_stack(names, hash, parent, location);
	}
	return status == 0 && hash != row[0].number ? damaged(names, "a call path is another one") : status;
}

static int take_location(struct clickhouse_names *names, const struct clickhouse_value *row)
{
	size_t count = row[4].count;
	int status = request(names, NAMES_MODULES, row[1].number);
	for (int i = 5; i < 9; i++)
		if (row[i].count != count)
			return damaged(names, "a location is incomplete");
	for (size_t i = 0; i < count && status == 0; i++)
		status = request(names, NAMES_FUNCTIONS, clickhouse_element(&row[4], sizeof(uint64_t), i));
	return status;
}

/* Finds what a row needs. */
static int follow(struct clickhouse_names *names, const struct clickhouse_value *row)
{
	switch (names->reading) {
	case NAMES_STACKS:
		return take_stack(names, row);
	case NAMES_LOCATIONS:
		return take_location(names, row);
	case NAMES_FUNCTIONS:
		return request(names, NAMES_MODULES, row[3].number);
	default:
		return 0;
	}
}

static size_t row_bytes(const char *types, const struct clickhouse_value *row, struct buffer *bytes)
{
	size_t before = bytes->size;
	for (size_t i = 0; types[i]; i++) {
		if (types[i] == 'q')
			clickhouse_put_u64(bytes, row[i].number);
		else if (types[i] == 'd')
			clickhouse_put_u32(bytes, (uint32_t)row[i].number);
		else if (types[i] == 'b')
			clickhouse_put_u8(bytes, (uint8_t)row[i].number);
		else if (types[i] == 's')
			clickhouse_put_bytes(bytes, row[i].bytes, row[i].size);
		else {
			clickhouse_put_count(bytes, row[i].count);
			buffer_append(bytes, row[i].bytes, row[i].size);
		}
	}
	return bytes->size - before;
}

static int take_row(void *context, const struct clickhouse_value *row)
{
	struct clickhouse_names *names = context;
	struct clickhouse_names_rows *rows = &names->tables[names->reading];
	if (hash_map_get(&rows->wanted, row[0].number) == HASH_MAP_NONE)
		return damaged(names, "the server's answer has a row that was not asked for");
	if (hash_map_get(&rows->by_hash, row[0].number) != HASH_MAP_NONE)
		return 0; /* a copy */
	if (ARRAY_RESERVE(rows->starts, rows->capacity, rows->count + 1) < 0 ||
	    hash_map_put(&rows->by_hash, row[0].number, (uint32_t)rows->count) < 0)
		return out_of_memory(names);
	rows->starts[rows->count++] = rows->bytes.size;
	if (names->reading != NAMES_STACKS)
		row_bytes(tables[names->reading].types, row, &rows->bytes);
	return buffer_error(&rows->bytes) < 0 ? out_of_memory(names) : follow(names, row);
}

static int read_pending(struct clickhouse_names *names, enum clickhouse_names_table table)
{
	struct clickhouse_names_rows *rows = &names->tables[table];
	uint64_t *ids = rows->pending;
	const struct clickhouse_query query = { .sql = tables[table].sql,
						.types = tables[table].types,
						.ids = ids,
						.id_count = rows->pending_count,
						.take = take_row,
						.context = names };
	rows->pending = NULL;
	rows->pending_count = rows->pending_capacity = 0;
	names->reading = table;
	int status = clickhouse_select(names->store, &query, names->error);
	free(ids);
	return status;
}

int clickhouse_names_read(struct clickhouse_names *names)
{
	int status = 0;
	for (int table = 0; table < NAMES_TABLES; table++)
		for (int round = 0; status == 0 && names->tables[table].pending_count > 0; round++)
			status = round == ROUNDS_MOST ? damaged(names, "a call path is circular")
						      : read_pending(names, (enum clickhouse_names_table)table);
	return status;
}

/* --- look-ups --- */

/* Reads the row of a hash. Returns as struct assemble_source. */
static int find(const struct clickhouse_names *names, enum clickhouse_names_table table, int64_t hash,
		struct clickhouse_value *row)
{
	const struct clickhouse_names_rows *rows = &names->tables[table];
	uint32_t number = hash_map_get(&rows->by_hash, (uint64_t)hash);
	if (number == HASH_MAP_NONE)
		return 0;
	size_t start = rows->starts[number];
	int64_t length =
		clickhouse_read_row(tables[table].types, rows->bytes.bytes + start, rows->bytes.size - start, row);
	return length > 0 ? 1 : damaged(names, "a row is incomplete");
}

/* Copies texts of a row with their NULs. Returns 0 or a negative error. */
static int copy_texts(struct clickhouse_names *names, const struct clickhouse_value *row, const char **const *texts,
		      const size_t *columns, size_t count)
{
	size_t offset = 0;
	buffer_clear(&names->texts);
	for (size_t i = 0; i < count; i++) {
		const struct clickhouse_value *value = &row[columns[i]];
		if (value->size > 0 && memchr(value->bytes, 0, value->size))
			return damaged(names, "a name has a NUL");
		buffer_append(&names->texts, value->bytes, value->size);
		buffer_append_byte(&names->texts, 0);
	}
	if (buffer_error(&names->texts) < 0)
		return out_of_memory(names);
	for (size_t i = 0; i < count; i++) {
		*texts[i] = (const char *)names->texts.bytes + offset;
		offset += row[columns[i]].size + 1;
	}
	return 0;
}

static int find_module(void *context, int64_t id, struct assembled_module *module)
{
	struct clickhouse_names *names = context;
	struct clickhouse_value row[CLICKHOUSE_VALUES_MOST];
	int got = find(names, NAMES_MODULES, id, row);
	if (got <= 0)
		return got;
	*module = (struct assembled_module){ .kind = (int64_t)row[2].number,
					     .build_id = row[3].bytes,
					     .build_id_bytes = row[3].size };
	const char **const texts[] = { &module->path };
	int status = copy_texts(names, row, texts, (const size_t[]){ 1 }, 1);
	return status < 0 ? status : 1;
}

static int find_function(void *context, int64_t id, struct assembled_function *function)
{
	struct clickhouse_names *names = context;
	struct clickhouse_value row[CLICKHOUSE_VALUES_MOST];
	int got = find(names, NAMES_FUNCTIONS, id, row);
	if (got <= 0)
		return got;
	*function = (struct assembled_function){ .module = (int64_t)row[3].number,
						 .line = (int64_t)row[5].number,
						 .role = (int64_t)row[6].number };
	const char **const texts[] = { &function->name, &function->linkage, &function->file, &function->group };
	int status = copy_texts(names, row, texts, (const size_t[]){ 1, 2, 4, 7 }, 4);
	return status < 0 ? status : 1;
}

static int find_location(void *context, int64_t id, struct assembled_location *location)
{
	struct clickhouse_value row[CLICKHOUSE_VALUES_MOST];
	int got = find(context, NAMES_LOCATIONS, id, row);
	if (got > 0)
		*location = (struct assembled_location){ .module = (int64_t)row[1].number,
							 .address = row[2].number,
							 .marks = (int64_t)row[3].number };
	return got;
}

static int find_frame(void *context, int64_t location, size_t depth, struct assembled_frame *frame)
{
	struct clickhouse_names *names = context;
	struct clickhouse_value row[CLICKHOUSE_VALUES_MOST], file = { 0 };
	int got = find(names, NAMES_LOCATIONS, location, row);
	if (got <= 0 || depth >= row[4].count)
		return got < 0 ? got : 0;
	size_t at = 0;
	for (size_t i = 0; i <= depth; i++)
		if (!clickhouse_next_text(&row[5], &at, &file.bytes, &file.size))
			return damaged(names, "a location is incomplete");
	uint64_t kind = clickhouse_element(&row[8], sizeof(uint8_t), depth);
	*frame = (struct assembled_frame){ .function = (int64_t)clickhouse_element(&row[4], sizeof(uint64_t), depth),
					   .line = (int64_t)clickhouse_element(&row[6], sizeof(uint32_t), depth),
					   .discriminator =
						   (int64_t)clickhouse_element(&row[7], sizeof(uint32_t), depth),
					   .kind = (int64_t)(kind >> 1),
					   .inlined = kind & 1 };
	const char **const texts[] = { &frame->file };
	int status = copy_texts(names, &file, texts, (const size_t[]){ 0 }, 1);
	return status < 0 ? status : 1;
}

static int find_stack(void *context, int64_t id, struct assembled_stack *stack)
{
	const struct clickhouse_names *names = context;
	uint32_t number = hash_map_get(&names->stacks, (uint64_t)id);
	if (number == HASH_MAP_NONE)
		return 0;
	*stack = names->stack_rows[number];
	return 1;
}

void clickhouse_names_source(struct clickhouse_names *names, struct assemble_source *source)
{
	*source = (struct assemble_source){ .context = names,
					    .module = find_module,
					    .function = find_function,
					    .location = find_location,
					    .frame = find_frame,
					    .stack = find_stack };
}
