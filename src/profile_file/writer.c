/*
 * The writer's states:
 *
 *   writer_open -> open --writer_flush--> open --writer_finish--> finished
 *                  |  ^
 *                  |  `--cut_back-- a flush without room on the disk
 *                  `------- any other failure -------> failed (keeps its error)
 *
 * Invariants:
 *   1. The bytes on disk end with a whole block, or one write() is still in progress.
 *   2. A row is written after all rows that it refers to.
 *   3. `symbolized` is written only after every location's frames.
 *   4. A failed writer writes no more bytes.
 *   5. A flush for which the disk has no room leaves the file, and what the writer assumes about it, as before.
 */
#include "profile_file/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "profile_file/block.h"
#include "profile_file/column.h"
#include "profile_file/output.h"
#include "profile_file/tables.h"

enum {
	BLOCK_ROWS = 32768,            /* small enough for the caches of the decoding processor */
	STRINGS_BLOCK_BYTES = 1 << 20, /* a block of strings ends after this many bytes */
	RUN_GAP = 8,                   /* unchanged rows that take less room than the header of a new block */
};

/* The part of one table that is on disk. */
struct written {
	uint64_t rows;
	uint64_t *hashes; /* for tables whose rows change: a hash of each row as it was written */
	size_t hash_capacity;
	bool is_stale; /* the hashes are of rows that were not written */
};

struct writer {
	struct output *output;
	struct packer packer;
	uint64_t *column; /* the numbers of one column of one block */
	size_t column_capacity;
	struct written written[BLOCK_TYPE_COUNT];
	bool begun; /* the file header is written */
	bool finished;
	struct error failure; /* code 0: no failure so far */
};

static int fail(struct writer *writer, int code, struct error *error)
{
	if (writer->failure.code == 0)
		error_set(&writer->failure, code, "cannot write the profile: %s", error_text(code));
	if (error)
		*error = writer->failure;
	return writer->failure.code;
}

static int write_header(struct writer *writer)
{
	if (writer->begun)
		return 0;
	struct format_file_header header = format_file_header_make();
	int code = output_write(writer->output, &header, sizeof(header), &writer->failure);
	writer->begun = code == 0;
	return code;
}

struct writer *writer_to_memory(struct buffer *memory, struct error *error)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	if (writer && packer_init(&writer->packer, false) == 0)
		writer->output = output_to_memory(memory);
	if (writer && writer->output)
		return writer;
	writer_free(writer);
	error_set(error, ERROR_MEMORY, "out of memory");
	return NULL;
}

struct writer *writer_open(const char *path, struct error *error)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	if (!writer || packer_init(&writer->packer, true) < 0) {
		writer_free(writer);
		error_set(error, ERROR_MEMORY, "cannot write '%s': out of memory", path);
		return NULL;
	}
	writer->output = output_open(path, error);
	if (!writer->output) {
		writer_free(writer);
		return NULL;
	}
	/* Write the header now, which detects a full disk. A stream gets no bytes before the first flush. */
	if (!output_is_stream(writer->output) && write_header(writer) < 0) {
		fail(writer, writer->failure.code, error);
		writer_free(writer);
		return NULL;
	}
	return writer;
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	output_free(writer->output);
	packer_release(&writer->packer);
	for (size_t i = 0; i < BLOCK_TYPE_COUNT; i++)
		free(writer->written[i].hashes);
	free(writer->column);
	free(writer);
}

int writer_publish(struct writer *writer, struct error *error)
{
	return output_publish(writer->output, error);
}

uint64_t writer_size(const struct writer *writer)
{
	return output_size(writer->output);
}

/* Packs and writes the payload in packer.raw. */
static int write_block(struct writer *writer, unsigned type, size_t rows, uint64_t first)
{
	int code = packer_pack(&writer->packer, type, rows, first);
	if (code < 0)
		return code;
	return output_write(writer->output, writer->packer.whole.bytes, writer->packer.whole.size, &writer->failure);
}

/* --- tables --- */

/* Writes rows `from` to `to` - 1 of a table; `first` is the number of the first one on disk. */
static int write_rows(struct writer *writer, const struct table *table, const struct profile *profile, size_t from,
		      size_t to, uint64_t first)
{
	const char *items = table_items(table, profile);
	while (from < to) {
		size_t rows = to - from < BLOCK_ROWS ? to - from : BLOCK_ROWS;
		if (ARRAY_RESERVE(writer->column, writer->column_capacity, rows) < 0)
			return ERROR_MEMORY;
		for (size_t c = 0; c < table->column_count; c++) {
			const struct table_column *column = &table->columns[c];
			for (size_t i = 0; i < rows; i++)
				writer->column[i] = column_get(column, items + (from + i) * table->item_bytes);
			column_encode(&writer->packer.raw, writer->column, rows, column->kind == COLUMN_TIME);
		}
		int code = write_block(writer, table_type(table), rows, first);
		if (code < 0)
			return code;
		from += rows;
		first += rows;
	}
	return 0;
}

/* Writes the rows that the table gained since the last call. */
static int write_new(struct writer *writer, const struct table *table, const struct profile *profile)
{
	struct written *written = &writer->written[table_type(table)];
	if (written->rows < table->skipped)
		written->rows = table->skipped;
	size_t count = table_count(table, profile);
	int code = write_rows(writer, table, profile, written->rows, count, written->rows);
	if (code == 0)
		written->rows = count;
	return code;
}

static uint64_t row_hash(const struct table *table, const char *item)
{
	uint64_t hash = 0;
	for (size_t c = 0; c < table->column_count; c++)
		hash = hash_u64(hash + column_get(&table->columns[c], item) + UINT64_C(0x9e3779b97f4a7c15));
	return hash;
}

/* Writes the rows that are new or have changed, in runs of rows. */
static int write_changed(struct writer *writer, const struct table *table, const struct profile *profile)
{
	struct written *written = &writer->written[table_type(table)];
	const char *items = table_items(table, profile);
	size_t count = table_count(table, profile);
	if (ARRAY_RESERVE(written->hashes, written->hash_capacity, count) < 0)
		return ERROR_MEMORY;
	size_t from = 0;
	size_t to = 0; /* rows from ... to - 1 are to be written next */
	for (size_t i = 0; i < count; i++) {
		uint64_t hash = row_hash(table, items + i * table->item_bytes);
		if (!written->is_stale && i < written->rows && written->hashes[i] == hash)
			continue;
		written->hashes[i] = hash;
		if (to > from && i - to > RUN_GAP) {
			int code = write_rows(writer, table, profile, from, to, from);
			if (code < 0)
				return code;
			from = i;
		} else if (to == from) {
			from = i;
		}
		to = i + 1;
	}
	written->rows = count;
	int code = write_rows(writer, table, profile, from, to, from);
	if (code == 0)
		written->is_stale = false;
	return code;
}

/* Writes all rows of a table that the caller clears after each flush: hits, touches. */
static int write_passing(struct writer *writer, unsigned type, const struct profile *profile)
{
	const struct table *table = &format_tables[type];
	struct written *written = &writer->written[type];
	size_t count = table_count(table, profile);
	int code = write_rows(writer, table, profile, 0, count, written->rows);
	written->rows += count;
	return code;
}

static bool any_labels(const uint32_t *labels, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (labels[i] != PROFILE_NO_LABELS)
			return true;
	return false;
}

/* Writes the labels of the hits that were just written, block by block, and skips blocks without labels. */
static int write_hit_labels(struct writer *writer, const struct profile *profile)
{
	const struct table *table = &format_tables[BLOCK_HIT_LABELS];
	uint64_t before = writer->written[BLOCK_HITS].rows - profile->hit_count;
	size_t count = profile->hit_label_count;
	int code = 0;
	for (size_t from = 0; from < count && code == 0; from += BLOCK_ROWS) {
		size_t to = count - from < BLOCK_ROWS ? count : from + BLOCK_ROWS;
		if (any_labels(profile->hit_labels + from, to - from))
			code = write_rows(writer, table, profile, from, to, before + from);
	}
	return code;
}

/* --- strings --- */

static int write_strings(struct writer *writer, const struct profile *profile)
{
	const struct strings *strings = &profile->strings;
	struct written *written = &writer->written[BLOCK_STRINGS];
	size_t from = written->rows ? written->rows : 1;
	while (from < strings->count) {
		size_t rows = 0;
		size_t bytes = 0;
		while (rows < BLOCK_ROWS && from + rows < strings->count && bytes < STRINGS_BLOCK_BYTES)
			bytes += strings->lengths[from + rows++];
		if (ARRAY_RESERVE(writer->column, writer->column_capacity, rows) < 0)
			return ERROR_MEMORY;
		for (size_t i = 0; i < rows; i++)
			writer->column[i] = strings->lengths[from + i];
		column_encode(&writer->packer.raw, writer->column, rows, false);
		for (size_t i = 0; i < rows; i++)
			buffer_append(&writer->packer.raw, strings->texts[from + i], strings->lengths[from + i]);
		int code = write_block(writer, BLOCK_STRINGS, rows, from);
		if (code < 0)
			return code;
		from += rows;
		written->rows = from;
	}
	return 0;
}

/* --- flushes --- */

static int write_table(struct writer *writer, unsigned type, const struct profile *profile)
{
	const struct table *table = &format_tables[type];
	return table->rule == TABLE_REPLACE || type == BLOCK_TOTALS ? write_changed(writer, table, profile)
								    : write_new(writer, table, profile);
}

/* Most locations get their frames when the recording has ended, and interpreted functions have them from the beginning: then
 * the rows of the others change. */
static int write_location_frames(struct writer *writer, const struct profile *profile)
{
	const struct table *table = &format_tables[BLOCK_LOCATION_FRAMES];
	bool is_first = profile->symbolized && writer->written[BLOCK_LOCATION_FRAMES].rows == 0;
	return is_first ? write_new(writer, table, profile) : write_changed(writer, table, profile);
}

static int write_all_tables(struct writer *writer, const struct profile *profile, bool finish)
{
	static const uint8_t order[] = { BLOCK_NOTES,    BLOCK_RESOURCES, BLOCK_PROCESSES, BLOCK_THREADS,
					 BLOCK_MODULES,  BLOCK_LOCATIONS, BLOCK_NODES,     BLOCK_FUNCTIONS,
					 BLOCK_FRAMES,   BLOCK_CAUSES,    BLOCK_LABELS,    BLOCK_LABEL_SETS,
					 BLOCK_FINDINGS, BLOCK_TAIL_CALLS };
	int code = write_header(writer);
	if (code == 0 && !profile->symbolized)
		code = write_table(writer, BLOCK_TOTALS, profile);
	if (code == 0)
		code = write_strings(writer, profile);
	for (size_t i = 0; i < sizeof(order) && code == 0; i++)
		code = write_table(writer, order[i], profile);
	if (code == 0 && (profile->symbolized || finish || profile->frame_count > 0))
		code = write_location_frames(writer, profile);
	if (code == 0)
		code = write_passing(writer, BLOCK_HITS, profile);
	if (code == 0)
		code = write_hit_labels(writer, profile);
	if (code == 0)
		code = write_passing(writer, BLOCK_TOUCHES, profile);
	if (code == 0)
		code = write_table(writer, BLOCK_TOTALS, profile);
	return code;
}

/* The state of the file before a flush. */
struct place {
	uint64_t size;
	uint64_t rows[BLOCK_TYPE_COUNT];
	bool begun;
};

static struct place place_of(const struct writer *writer)
{
	struct place place = { .size = output_size(writer->output), .begun = writer->begun };
	for (size_t i = 0; i < BLOCK_TYPE_COUNT; i++)
		place.rows[i] = writer->written[i].rows;
	return place;
}

/* Removes what was written since. Returns false if the output cannot be cut. */
static bool cut_back(struct writer *writer, const struct place *place)
{
	if (!output_cut(writer->output, place->size))
		return false;
	for (size_t i = 0; i < BLOCK_TYPE_COUNT; i++) {
		writer->written[i].rows = place->rows[i];
		writer->written[i].is_stale = true;
	}
	writer->begun = place->begun;
	writer->failure = (struct error){ 0 };
	return true;
}

static int flush(struct writer *writer, const struct profile *profile, bool finish, struct error *error)
{
	if (writer->failure.code < 0)
		return fail(writer, writer->failure.code, error);
	if (writer->finished)
		return error_set(error, ERROR_USAGE, "the profile is finished already");
	const struct place place = place_of(writer);
	int code = write_all_tables(writer, profile, finish);
	if (code == ERROR_NO_SPACE && !finish) {
		fail(writer, code, error);
		return cut_back(writer, &place) ? code : fail(writer, code, error);
	}
	if (code == 0 && finish)
		code = write_block(writer, BLOCK_END, 0, 0);
	if (code == 0 && finish)
		code = output_close(writer->output, &writer->failure);
	writer->finished = finish;
	return code < 0 ? fail(writer, code, error) : 0;
}

bool writer_can_resume(const struct writer *writer)
{
	return writer->failure.code == 0 && !writer->finished;
}

int writer_flush(struct writer *writer, const struct profile *profile, struct error *error)
{
	return flush(writer, profile, false, error);
}

int writer_finish(struct writer *writer, const struct profile *profile, struct error *error)
{
	return flush(writer, profile, true, error);
}
