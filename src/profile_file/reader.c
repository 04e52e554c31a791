/*
 * A file is read in three passes: first the block headers, which show where it ends; then every table except the
 * hits, in file order; then the hits (load_hits.c).
 */
#include "profile_file/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/huge_pages.h"
#include "base/memory_size.h"
#include "profile/findings.h"
#include "profile/tail_calls.h"
#include "profile_file/column.h"
#include "profile_file/load.h"
#include "profile_file/process_users.h"
#include "profile_file/tables.h"

/* --- the file header --- */

bool reader_is_profile(const void *start, size_t bytes)
{
	return bytes >= FORMAT_MAGIC_BYTES && memcmp(start, FORMAT_MAGIC, FORMAT_MAGIC_BYTES) == 0;
}

bool reader_begins_profile(const void *start, size_t bytes)
{
	const size_t fixed = 4; /* the rest of the mark is what a transfer as text changes */
	return bytes > 0 && memcmp(start, FORMAT_MAGIC, bytes < fixed ? bytes : fixed) == 0;
}

static int refuse_foreign(const struct source *source, const uint8_t *bytes, size_t size, struct error *error)
{
	if (size == 0)
		return error_set(error, ERROR_FORMAT, "%s is not a cpprof profile: it is empty", source->name);
	if (memcmp(bytes, FORMAT_MAGIC, size < FORMAT_MAGIC_BYTES ? size : FORMAT_MAGIC_BYTES) == 0)
		return error_set(error, ERROR_TRUNCATED, "%s is cut off within its first %zu bytes", source->name,
				 sizeof(struct format_file_header));
	if (reader_begins_profile(bytes, size))
		return error_set(error, ERROR_CORRUPT, "%s is damaged, as by a transfer as text", source->name);
	return error_set(error, ERROR_FORMAT, "%s is not a cpprof profile", source->name);
}

static int check_file_header(const struct load *load, struct buffer *buffer, struct error *error)
{
	const struct source *source = &load->source;
	struct format_file_header header;
	size_t size = source->size < sizeof(header) ? (size_t)source->size : sizeof(header);
	int code;
	const uint8_t *bytes = source_read(source, 0, size, buffer, &code);
	if (!bytes)
		return code == ERROR_SYSTEM
			       ? error_set_errno(error, "cannot read %s", source->name)
			       : error_set(error, code, "cannot read %s: %s", source->name, error_text(code));
	if (size < sizeof(header) || memcmp(bytes, FORMAT_MAGIC, FORMAT_MAGIC_BYTES) != 0)
		return refuse_foreign(source, bytes, size, error);
	memcpy(&header, bytes, sizeof(header));
	if (!format_file_header_sound(&header))
		return error_set(error, ERROR_CORRUPT, "%s is damaged: its first %zu bytes are corrupt", source->name,
				 sizeof(header));
	if (header.major > FORMAT_MAJOR)
		return error_set(error, ERROR_VERSION,
				 "cannot read %s: a newer cpprof wrote it, in format %u (update cpprof)", source->name,
				 header.major);
	return 0;
}

/* --- block headers --- */

/* The bytes behind the end mark or the last whole block, and how many rows of hits they were the beginning of. */
struct cut {
	uint64_t bytes, hits;
};

/* Fills in `blocks` up to the end mark or the last whole block. Sets *cut to what is behind it. */
static int scan(struct load *load, struct buffer *buffer, struct cut *cut, struct error *error)
{
	uint64_t size = load->source.size;
	uint64_t offset = sizeof(struct format_file_header);
	while (size - offset >= sizeof(struct format_block_header)) {
		struct load_block block = { .offset = offset };
		int code;
		const uint8_t *bytes = source_read(&load->source, offset, sizeof(block.header), buffer, &code);
		if (!bytes)
			return load_block_error(load, &block, code, error);
		memcpy(&block.header, bytes, sizeof(block.header));
		if (!format_block_header_sound(&block.header))
			return load_block_error(load, &block, ERROR_CORRUPT, error);
		if (size - offset - sizeof(block.header) < block.header.stored_bytes) {
			cut->hits = block.header.type == BLOCK_HITS ? block.header.rows : 0;
			break;
		}
		if (ARRAY_RESERVE(load->blocks, load->block_capacity, load->block_count + 1) < 0)
			return load_block_error(load, &block, ERROR_MEMORY, error);
		load->blocks[load->block_count++] = block;
		offset += sizeof(block.header) + block.header.stored_bytes;
		if (block.header.type == BLOCK_END)
			break;
	}
	cut->bytes = size - offset;
	return 0;
}

/* --- memory --- */

/* Bytes of a string besides its text: its address, its length, its NUL and its part of the hash table. */
enum { STRING_BYTES = 64 };

/* Counts a block's rows in `load->rows`. A block that read_table will refuse is not counted. */
static void count_rows(struct load *load, const struct format_block_header *header)
{
	if (header->type >= BLOCK_TYPE_COUNT || header->rows > FORMAT_ROWS_MAX)
		return;
	unsigned rule = format_tables[header->type].rule;
	uint64_t *rows = &load->rows[header->type];
	if (rule == TABLE_APPEND)
		*rows += header->rows;
	else if ((rule == TABLE_REPLACE || header->type == BLOCK_HIT_LABELS) && header->first <= UINT32_MAX)
		*rows = header->first + header->rows > *rows ? header->first + header->rows : *rows;
}

/* Blocks of a few bytes can describe millions of rows. Returns ERROR_LIMIT if the tables, or what must be decompressed to
 * read them, exceed the limit. */
static int check_memory(struct load *load, struct error *error)
{
	uint64_t raw_bytes = 0, bytes = 0;
	for (size_t i = 0; i < load->block_count; i++) {
		raw_bytes += load->blocks[i].header.raw_bytes;
		if (load->blocks[i].header.type == BLOCK_STRINGS)
			bytes += load->blocks[i].header.raw_bytes;
		count_rows(load, &load->blocks[i].header);
	}
	bytes += load->rows[BLOCK_STRINGS] * STRING_BYTES;
	for (size_t i = 0; i < BLOCK_TYPE_COUNT; i++)
		if (format_tables[i].items)
			bytes += load->rows[i] * format_tables[i].item_bytes;
	/* Nodes that are inserted for tail calls are at most about as many again, and all get new numbers. */
	if (load->rows[BLOCK_TAIL_CALLS] > 0)
		bytes += load->rows[BLOCK_NODES] * (2 * sizeof(struct profile_node) + sizeof(uint32_t));
	bytes = bytes > raw_bytes ? bytes : raw_bytes;
	if (load->memory == 0 || bytes <= load->memory)
		return 0;
	char needed[MEMORY_SIZE_TEXT_BYTES], limit[MEMORY_SIZE_TEXT_BYTES];
	return error_set(error, ERROR_LIMIT,
			 "cannot read %s: its tables take %s of memory, more than the limit of %s "
			 "(--memory SIZE raises it)",
			 load->source.name, memory_size_text(bytes, needed), memory_size_text(load->memory, limit));
}

/* --- tables --- */

/* Makes room for `count` items in total, and at once for all that the file's headers describe. New items are 0, which is right
 * for every field without a column. */
static int grow(const struct load *load, const struct table *table, size_t count)
{
	struct profile *profile = load->profile;
	uint64_t all = load->rows[table_type(table)] + table->skipped;
	size_t had = table_count(table, profile);
	if (count <= had)
		return 0;
	if (count >= PROFILE_NONE && table_type(table) != BLOCK_HIT_LABELS) /* hits have no ids */
		return ERROR_CORRUPT;
	size_t capacity;
	memcpy(&capacity, (char *)profile + table->capacity, sizeof(capacity));
	if (array_reserve((char *)profile + table->items, &capacity, count > all ? count : all, table->item_bytes) < 0)
		return ERROR_MEMORY;
	memcpy((char *)profile + table->capacity, &capacity, sizeof(capacity));
	if (had == 0)
		huge_pages_advise(table_items(table, profile), capacity * table->item_bytes);
	memset(table_items(table, profile) + had * table->item_bytes, 0, (count - had) * table->item_bytes);
	memcpy((char *)profile + table->count, &count, sizeof(count));
	return 0;
}

static int read_table(const struct load *load, const struct format_block_header *header, struct cursor *cursor)
{
	struct profile *profile = load->profile;
	const struct table *table = &format_tables[header->type];
	size_t had = table_count(table, profile);
	bool fits = table->rule == TABLE_APPEND    ? header->first == had
		    : table->rule == TABLE_REPLACE ? header->first <= had
						   : header->first <= had && header->rows <= had - header->first;
	if (!fits)
		return ERROR_CORRUPT;
	int code = grow(load, table, header->first + header->rows);
	if (code < 0)
		return code;
	if (header->type == BLOCK_LOCATIONS)
		for (size_t i = had; i < profile->location_count; i++)
			profile->locations[i].first_frame = PROFILE_NONE;
	char *rows = table_items(table, profile) + header->first * table->item_bytes;
	for (size_t c = 0; c < table->column_count; c++) {
		struct column_range range;
		if (c + table->later >= table->column_count && cursor_left(cursor) == 0)
			break;
		if (!column_decode(cursor, header->rows, &table->columns[c], rows, table->item_bytes, &range))
			return ERROR_CORRUPT;
	}
	return 0;
}

static int read_strings(struct profile *profile, const struct format_block_header *header, struct cursor *cursor)
{
	static const struct table_column length_column = { .size = sizeof(uint64_t), .kind = COLUMN_VALUE };
	struct column_range range;
	if (header->first != profile->strings.count)
		return ERROR_CORRUPT;
	uint64_t *lengths = malloc(header->rows * sizeof(*lengths));
	if (!lengths)
		return ERROR_MEMORY;
	int code = 0;
	if (!column_decode(cursor, header->rows, &length_column, (char *)lengths, sizeof(*lengths), &range))
		code = ERROR_CORRUPT;
	for (uint32_t i = 0; i < header->rows && code == 0; i++) {
		const uint8_t *text = cursor_bytes(cursor, lengths[i]);
		if (!text || memchr(text, 0, lengths[i])) {
			code = ERROR_CORRUPT;
			break;
		}
		int64_t id = strings_add(&profile->strings, (const char *)text, lengths[i]);
		if (id != (int64_t)(header->first + i))
			code = id < 0 ? (int)id : ERROR_CORRUPT;
	}
	free(lengths);
	return code;
}

static int read_block(struct load *load, const struct load_block *block, struct load_buffers *buffers)
{
	int code;
	const struct format_block_header *header = &block->header;
	const uint8_t *payload = load_payload(load, block, buffers, &code);
	if (!payload)
		return code;
	if (header->type == BLOCK_END) {
		load->profile->ended = true;
		return 0;
	}
	if (header->rows == 0 || header->rows > FORMAT_ROWS_MAX)
		return ERROR_CORRUPT;
	if (header->type == BLOCK_HIT_LABELS) {
		if (header->rows > load->hits_before || header->first > load->hits_before - header->rows)
			return ERROR_CORRUPT;
		/* The hits are not read yet. Hits without a row in these blocks get the empty set. */
		code = grow(load, &format_tables[BLOCK_HIT_LABELS], header->first + header->rows);
		if (code < 0)
			return code;
	}
	struct cursor cursor = cursor_over(payload, header->raw_bytes);
	return header->type == BLOCK_STRINGS ? read_strings(load->profile, header, &cursor)
					     : read_table(load, header, &cursor);
}

static bool is_known(const struct load_block *block)
{
	return block->header.type < BLOCK_TYPE_COUNT;
}

static int read_tables(struct load *load, struct load_buffers *buffers, uint64_t *unknown, struct error *error)
{
	for (size_t i = 0; i < load->block_count; i++) {
		const struct load_block *block = &load->blocks[i];
		int code = 0;
		if (!is_known(block))
			++*unknown;
		else if (block->header.type != BLOCK_HITS)
			code = read_block(load, block, buffers);
		else if (block->header.rows == 0 || block->header.rows > FORMAT_ROWS_MAX)
			code = ERROR_CORRUPT;
		else
			load->hits_before += block->header.rows;
		if (code < 0)
			return load_block_error(load, block, code, error);
	}
	return 0;
}

/* --- the whole file --- */

static void add_findings(struct profile *profile, const struct cut *cut, uint64_t unknown_blocks)
{
	const double ns_per_s = 1e9;
	uint64_t read_ns = profile->end_ns > profile->start_ns ? profile->end_ns - profile->start_ns : 0;
	if (!profile->ended)
		finding_add(profile, FINDING_RECORDING_CUT, 0, "the recording is incomplete: it ends after %.1f s%s",
			    (double)read_ns / ns_per_s,
			    profile->symbolized ? "" : ", without the names that the recorder adds at its end");
	if (cut->hits > 0)
		finding_add(profile, FINDING_BYTES_SKIPPED, cut->bytes,
			    "skipped # trailing {byte|bytes} of an incomplete block, which had %" PRIu64 " sample%s",
			    cut->hits, cut->hits == 1 ? "" : "s");
	else if (cut->bytes > 0)
		finding_add(profile, FINDING_BYTES_SKIPPED, cut->bytes,
			    "skipped # trailing {byte|bytes} of an incomplete block");
	if (unknown_blocks > 0)
		finding_add(profile, FINDING_BLOCKS_SKIPPED, unknown_blocks,
			    "skipped {# block|# blocks} of unknown kinds (a newer cpprof reads them)");
}

int reader_complete(struct profile *profile, const char *name, uint64_t memory, struct error *error)
{
	int code = tail_calls_insert(profile, memory);
	char limit[MEMORY_SIZE_TEXT_BYTES];
	if (code == ERROR_LIMIT && memory > 0)
		return error_set(error, code,
				 "cannot read %s: its tail calls take more memory than the limit of %s "
				 "(--memory SIZE raises it)",
				 name, memory_size_text(memory, limit));
	if (code == 0)
		code = findings_convert_notes(profile);
	return code == 0 ? 0 : error_set(error, code, "cannot read %s: %s", name, error_text(code));
}

static int load_all(struct load *load, struct load_buffers *buffers, struct error *error)
{
	struct cut cut = { 0 };
	uint64_t unknown_blocks = 0;
	int code = check_file_header(load, &buffers->stored, error);
	if (code == 0)
		code = scan(load, &buffers->stored, &cut, error);
	if (code == 0)
		code = check_memory(load, error);
	if (code == 0)
		code = read_tables(load, buffers, &unknown_blocks, error);
	uint64_t last_ns = 0;
	load->sums = load->sums && load->profile->symbolized; /* names may depend on the times of hits */
	if (code == 0)
		code = load_hits(load, &last_ns, error);
	if (code < 0)
		return code;
	/* A recorder that was killed did not write its end: it is the time of the last hit. */
	if (!load->profile->ended && load->profile->end_ns < last_ns)
		load->profile->end_ns = last_ns;
	if (profile_check_tables(load->profile) < 0)
		return error_set(error, ERROR_CORRUPT, "%s is damaged: its tables do not fit together",
				 load->source.name);
	code = reader_complete(load->profile, load->source.name, load->memory, error);
	if (code < 0)
		return code;
	add_findings(load->profile, &cut, unknown_blocks);
	code = load->profile->findings_error;
	return code == 0 ? 0 : error_set(error, code, "cannot read %s: %s", load->source.name, error_text(code));
}

/* Reads the profile and releases load->source. */
static struct profile *load_source(struct load *load, struct error *error)
{
	struct load_buffers buffers;
	int code = load_buffers_init(&buffers);
	load->profile = code == 0 ? profile_new() : NULL;
	if (!load->profile)
		code = error_set(error, ERROR_MEMORY, "cannot read %s: out of memory", load->source.name);
	if (code == 0)
		code = load_all(load, &buffers, error);
	load_buffers_release(&buffers);
	free(load->blocks);
	source_release(&load->source);
	if (code == 0)
		return load->profile;
	profile_free(load->profile);
	return NULL;
}

static struct profile *load_file(const char *path, uint64_t memory, bool sums, struct error *error)
{
	struct load load = { .memory = memory, .sums = sums };
	if (source_open(&load.source, path, error) < 0)
		return NULL;
	uint32_t owner = load.source.owner;
	struct profile *profile = load_source(&load, error);
	if (profile)
		process_users_limit(profile, owner);
	return profile;
}

struct profile *reader_load(const char *path, uint64_t memory, struct error *error)
{
	return load_file(path, memory, false, error);
}

struct profile *reader_load_sums(const char *path, uint64_t memory, struct error *error)
{
	return load_file(path, memory, true, error);
}

struct profile *reader_load_bytes(const void *bytes, size_t size, const char *name, uint64_t memory,
				  struct error *error)
{
	struct load load = { .memory = memory };
	source_open_bytes(&load.source, bytes, size, name);
	struct profile *profile = load_source(&load, error);
	if (profile)
		profile_set_users(profile, 0); /* no file, hence no owner */
	return profile;
}
