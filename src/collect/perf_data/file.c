#include "collect/perf_data/file.h"
#include <inttypes.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/compare.h"
#include "base/cursor.h"
#include "base/quote.h"
#include "collect/perf_data/layout.h"

enum {
	FILE_HEADER_BYTES = 104,
	PIPE_HEADER_BYTES = 16,
	ATTR_LEAST_BYTES = 64,
	ATTR_MOST_BYTES = 4096,
	/* Records of perf itself (tools/perf/util/event.h). */
	HEADER_ATTR = 64,
	HEADER_BUILD_ID = 67,
	AUXTRACE = 71,
	EVENT_UPDATE = 78,
	HEADER_FEATURE = 80,
	COMPRESSED = 81,
	COMPRESSED_PADDED = 83,
	UPDATES_NAME = 2, /* what an EVENT_UPDATE changes */
};
static const uint64_t FEATURE_MOST_BYTES = 64 * 1024 * 1024;
static const uint64_t UNPACKED_MOST_BYTES = UINT64_C(64) * 1024 * 1024 * 1024;

/* The state of the first pass over the records. */
struct scan {
	struct perf_data_file *file;
	struct error *error;
	ZSTD_DStream *stream;  /* NULL: no compressed record so far */
	struct buffer pending; /* unpacked bytes that are no whole record yet */
	uint64_t unpacked;     /* bytes in file->unpacked */
	uint8_t *window;       /* bytes of the file that were read last; owned */
	uint64_t window_start;
	size_t window_size;
};

static int fail(const struct perf_data_file *file, struct error *error, int code, const char *why)
{
	return error_set(error, code, "cannot read %s%s%s: %s", quote_mark(file->name), file->name,
			 quote_mark(file->name), why);
}

static const char ends_early[] = "the file ends early,";

/* The same for the place in the file where its data end, or are damaged. */
static int fail_at(const struct perf_data_file *file, struct error *error, uint64_t offset, int code, const char *why)
{
	char what[160];
	snprintf(what, sizeof(what), "%s at byte %" PRIu64 "%s", why, offset,
		 code == ERROR_TRUNCATED ? " (was perf record ended by a signal, or the copy cut?)" : "");
	return fail(file, error, code, what);
}

static int fail_errno(const struct perf_data_file *file, struct error *error)
{
	return error_set_errno(error, "cannot read %s%s%s", quote_mark(file->name), file->name, quote_mark(file->name));
}

/* Returns where the file ends, at an offset or before it. */
static uint64_t end_of(int fd, uint64_t offset)
{
	struct stat status;
	bool is_before = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (uint64_t)status.st_size < offset;
	return is_before ? (uint64_t)status.st_size : offset;
}

/* Reads exactly `size` bytes. */
static int read_at(const struct perf_data_file *file, int fd, uint64_t offset, void *bytes, size_t size,
		   struct error *error)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = offset > INT64_MAX - size
				      ? 0
				      : pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno(file, error);
		if (got == 0)
			return fail_at(file, error, end_of(fd, offset + done), ERROR_TRUNCATED, ends_early);
		done += (size_t)got;
	}
	return 0;
}

/* --- events --- */

static int add_event(struct perf_data_file *file, const uint8_t *bytes, size_t size, struct error *error)
{
	struct perf_data_event event = { 0 };
	if (size < ATTR_LEAST_BYTES)
		return fail(file, error, ERROR_CORRUPT, "the description of an event is damaged");
	memcpy(&event.attr, bytes, size < sizeof(event.attr) ? size : sizeof(event.attr));
	if (ARRAY_RESERVE(file->events, file->event_capacity, file->event_count + 1) < 0)
		return fail(file, error, ERROR_MEMORY, "out of memory");
	file->events[file->event_count++] = event;
	return 0;
}

/* Gives ids to the last event. */
static int add_ids(struct perf_data_file *file, struct cursor *in, struct error *error)
{
	while (cursor_left(in) >= sizeof(uint64_t))
		if (hash_map_put(&file->event_by_id, cursor_u64(in), (uint32_t)(file->event_count - 1)) < 0)
			return fail(file, error, ERROR_MEMORY, "out of memory");
	return 0;
}

/* Returns the index of the event of a record, or UINT32_MAX. All events of a file have their ids in the same place. */
static uint32_t event_of(const struct perf_data_file *file, const struct perf_event_header *record)
{
	uint64_t id;
	if (file->event_count == 0)
		return UINT32_MAX;
	if (perf_layout_id(&file->events[0].attr, record, &id)) {
		uint32_t found = hash_map_get(&file->event_by_id, id);
		if (found != HASH_MAP_NONE)
			return found;
		return file->event_count == 1 || record->type != PERF_RECORD_SAMPLE ? 0 : UINT32_MAX;
	}
	return 0;
}

/* --- records of perf itself --- */

/* header | attributes, which contain their size | ids... */
static int take_attributes(struct perf_data_file *file, const struct perf_event_header *record, struct error *error)
{
	struct cursor in = cursor_over(record + 1, record->size - sizeof(*record));
	uint32_t size = 0;
	if (cursor_left(&in) >= ATTR_LEAST_BYTES)
		memcpy(&size, in.next + sizeof(uint32_t), sizeof(size)); /* type u32, size u32, ... */
	const uint8_t *bytes = cursor_bytes(&in, size);
	int result = bytes ? add_event(file, bytes, size, error)
			   : fail(file, error, ERROR_CORRUPT, "the description of an event is damaged");
	return result == 0 ? add_ids(file, &in, error) : result;
}

/* header | kind u64 | id u64 | name */
static int take_update(struct perf_data_file *file, const struct perf_event_header *record)
{
	struct cursor in = cursor_over(record + 1, record->size - sizeof(*record));
	uint64_t kind = cursor_u64(&in), id = cursor_u64(&in);
	uint32_t event = in.failed || kind != UPDATES_NAME ? HASH_MAP_NONE : hash_map_get(&file->event_by_id, id);
	if (event == HASH_MAP_NONE)
		return 0;
	const char *name = (const char *)in.next;
	int64_t added = strings_add(&file->strings, name, strnlen(name, cursor_left(&in)));
	if (added < 0)
		return (int)added;
	file->events[event].name = (uint32_t)added;
	return 0;
}

static int take_own(struct perf_data_file *file, const struct perf_event_header *record, struct error *error)
{
	struct cursor in = cursor_over(record + 1, record->size - sizeof(*record));
	int result = 0;
	if (record->type == HEADER_ATTR)
		return take_attributes(file, record, error);
	if (record->type == EVENT_UPDATE)
		result = take_update(file, record);
	if (record->type == HEADER_BUILD_ID) {
		in = cursor_over(record, record->size);
		result = perf_feature_take_build_id(file, &in);
	}
	if (record->type == HEADER_FEATURE) {
		uint64_t feature = cursor_u64(&in);
		result = feature < PERF_FEATURES ? perf_feature_take(file, (unsigned)feature, &in) : 0;
	}
	return result < 0 ? fail(file, error, result, error_text(result)) : 0;
}

/* --- the first pass --- */

static int add_record(struct scan *scan, const struct perf_event_header *record, uint64_t offset, bool is_unpacked)
{
	struct perf_data_file *file = scan->file;
	struct perf_data_position position = {
		.offset = offset, .size = record->size, .event = event_of(file, record), .is_unpacked = is_unpacked
	};
	if (record->type >= HEADER_ATTR)
		return take_own(file, record, scan->error);
	if (position.event != UINT32_MAX) {
		struct perf_data_event *event = &file->events[position.event];
		uint64_t period = perf_layout_period(&event->attr, record);
		position.time_ns = perf_layout_time(&event->attr, record);
		bool is_sample = position.is_sample = record->type == PERF_RECORD_SAMPLE;
		if (is_sample && (event->samples == 0 || period < event->least_period))
			event->least_period = period;
		if (is_sample && period > event->most_period)
			event->most_period = period;
		event->samples += is_sample;
	}
	if (ARRAY_RESERVE(file->records, file->record_capacity, file->record_count + 1) < 0)
		return fail(file, scan->error, ERROR_MEMORY, "out of memory");
	file->records[file->record_count++] = position;
	return 0;
}

/* Takes the whole records of the pending bytes, and keeps the rest. */
static int take_pending(struct scan *scan)
{
	struct perf_data_file *file = scan->file;
	struct perf_event_header record;
	size_t used = 0;
	int result = buffer_error(&scan->pending) < 0 ? fail(file, scan->error, ERROR_MEMORY, "out of memory") : 0;
	while (result == 0 && scan->pending.size - used >= sizeof(record)) {
		memcpy(&record, scan->pending.bytes + used, sizeof(record));
		if (record.size < sizeof(record))
			return fail(file, scan->error, ERROR_CORRUPT, "a compressed record is damaged");
		if (scan->pending.size - used < record.size)
			break;
		memcpy(file->buffer, scan->pending.bytes + used, record.size);
		result = add_record(scan, (const struct perf_event_header *)file->buffer, scan->unpacked, true);
		if (result == 0 && fwrite(file->buffer, record.size, 1, file->unpacked) != 1)
			result = error_set_errno(scan->error, "cannot write a temporary file");
		scan->unpacked += record.size;
		used += record.size;
	}
	if (scan->unpacked > UNPACKED_MOST_BYTES)
		return fail(file, scan->error, ERROR_LIMIT, "the compressed records have more than 64 GB");
	if (used > 0)
		memmove(scan->pending.bytes, scan->pending.bytes + used, scan->pending.size - used);
	scan->pending.size -= used;
	return result;
}

static int begin_unpacking(struct scan *scan)
{
	scan->stream = ZSTD_createDStream();
	if (!scan->stream)
		return fail(scan->file, scan->error, ERROR_MEMORY, "out of memory");
	scan->file->unpacked = tmpfile();
	return scan->file->unpacked ? 0 : error_set_errno(scan->error, "cannot make a temporary file");
}

/* The compressed records of a file are one zstd stream. Its content is records, which may begin
 * in one and end in another. */
static int unpack(struct scan *scan, const uint8_t *bytes, size_t size)
{
	enum { PART = 128 * 1024 };
	int result = scan->stream ? 0 : begin_unpacking(scan);
	uint8_t *copy = result == 0 ? malloc(size) : NULL;
	if (result == 0 && !copy)
		result = fail(scan->file, scan->error, ERROR_MEMORY, "out of memory");
	if (result < 0)
		return result;
	memcpy(copy, bytes, size); /* `bytes` are in the buffer of the file, which take_pending uses */
	ZSTD_inBuffer in = { .src = copy, .size = size };
	bool is_full = true;
	while (result == 0 && (in.pos < in.size || is_full)) {
		uint8_t *room = buffer_extend(&scan->pending, PART);
		ZSTD_outBuffer out = { .dst = room, .size = PART };
		size_t status = room ? ZSTD_decompressStream(scan->stream, &out, &in) : 0;
		if (room && ZSTD_isError(status))
			result = fail(scan->file, scan->error, ERROR_CORRUPT, "a compressed record is damaged");
		is_full = out.pos == out.size;
		if (room)
			scan->pending.size -= PART - out.pos;
		if (result == 0)
			result = take_pending(scan);
	}
	free(copy);
	return result;
}

/* A compressed record is padded if its first 8 bytes are the size of its data. */
static int take_compressed(struct scan *scan, const struct perf_event_header *record)
{
	struct cursor in = cursor_over(record + 1, record->size - sizeof(*record));
	uint64_t size = record->type == COMPRESSED_PADDED ? cursor_u64(&in) : cursor_left(&in);
	const uint8_t *bytes = size > cursor_left(&in) ? NULL : cursor_bytes(&in, (size_t)size);
	return bytes && size > 0 ? unpack(scan, bytes, (size_t)size)
				 : fail(scan->file, scan->error, ERROR_CORRUPT, "a compressed record is damaged");
}

/* Copies the bytes at `offset` that the input has, at most `size`, through a window of the file.
 * Returns their number or a negative error. */
static int64_t read_ahead(struct scan *scan, uint64_t offset, void *bytes, size_t size)
{
	enum { WINDOW_BYTES = 1 << 20 };
	bool is_inside = offset >= scan->window_start && offset - scan->window_start <= scan->window_size &&
			 scan->window_size - (offset - scan->window_start) >= size;
	if (!scan->window)
		scan->window = malloc(WINDOW_BYTES);
	if (!scan->window)
		return fail(scan->file, scan->error, ERROR_MEMORY, "out of memory");
	if (!is_inside) {
		ssize_t got;
		do
			got = offset > INT64_MAX ? 0 : pread(scan->file->fd, scan->window, WINDOW_BYTES, (off_t)offset);
		while (got < 0 && errno == EINTR);
		if (got < 0)
			return fail_errno(scan->file, scan->error);
		scan->window_start = offset;
		scan->window_size = (size_t)got;
	}
	size_t left = scan->window_size - (size_t)(offset - scan->window_start);
	size = size < left ? size : left;
	memcpy(bytes, scan->window + (offset - scan->window_start), size);
	return (int64_t)size;
}

/* Reads the record at `offset` into the buffer of the file. Returns its size, 0 at the end of
 * the input, or a negative error. */
static int64_t read_record(struct scan *scan, uint64_t offset, uint64_t end)
{
	struct perf_data_file *file = scan->file;
	struct perf_event_header *record = (struct perf_event_header *)file->buffer;
	int64_t got = read_ahead(scan, offset, record, sizeof(*record));
	if (got < 0 || (got == 0 && end == UINT64_MAX))
		return got;
	if (got == sizeof(*record)) {
		if (record->size < sizeof(*record) || record->size > end - offset)
			return fail_at(file, scan->error, offset, ERROR_CORRUPT, "a record has an impossible size,");
		got = read_ahead(scan, offset, record, record->size);
		if (got < 0 || got == record->size)
			return got;
	}
	return fail_at(file, scan->error, offset, ERROR_TRUNCATED, ends_early);
}

/* Reads the records of [offset, end); UINT64_MAX: up to the end of the input. */
static int scan_records(struct scan *scan, uint64_t offset, uint64_t end)
{
	struct perf_data_file *file = scan->file;
	const struct perf_event_header *record = (const struct perf_event_header *)file->buffer;
	int64_t size = 0;
	int result = 0;
	while (result == 0 && offset < end && (size = read_record(scan, offset, end)) > 0) {
		uint64_t data = 0; /* that follows the record, without being one */
		offset += (uint64_t)size;
		if (record->type == AUXTRACE && (size_t)size >= sizeof(*record) + sizeof(data))
			memcpy(&data, record + 1, sizeof(data));
		if (data > end - offset)
			return fail_at(file, scan->error, offset, ERROR_CORRUPT, "a record has an impossible size,");
		if (record->type == COMPRESSED || record->type == COMPRESSED_PADDED)
			result = take_compressed(scan, record);
		else
			result = add_record(scan, record, offset - (uint64_t)size, false);
		offset += data;
	}
	if (result == 0 && size < 0)
		result = (int)size;
	file->is_cut = scan->pending.size > 0;
	if (result == 0 && file->unpacked && fflush(file->unpacked) != 0)
		result = error_set_errno(scan->error, "cannot write a temporary file");
	return result;
}

static int by_time(const void *left, const void *right)
{
	const struct perf_data_position *a = left, *b = right;
	return COMPARE(a->time_ns, b->time_ns) ?: a->is_unpacked - b->is_unpacked ?: COMPARE(a->offset, b->offset);
}

/* --- the header --- */

struct section {
	uint64_t offset, size;
};

static struct section read_section(struct cursor *in)
{
	uint64_t offset = cursor_u64(in);
	return (struct section){ offset, cursor_u64(in) };
}

/* Returns the bytes of a section, which the caller frees, or NULL. */
static uint8_t *load_section(const struct perf_data_file *file, struct section at, struct error *error)
{
	if (at.size > FEATURE_MOST_BYTES) {
		fail(file, error, ERROR_LIMIT, "a part of its header has more than 64 MB");
		return NULL;
	}
	uint8_t *bytes = malloc((size_t)at.size + 1);
	if (!bytes)
		fail(file, error, ERROR_MEMORY, "out of memory");
	else if (read_at(file, file->fd, at.offset, bytes, (size_t)at.size, error) == 0)
		return bytes;
	free(bytes);
	return NULL;
}

static int load_ids(struct perf_data_file *file, struct section at, struct error *error)
{
	uint8_t *bytes = load_section(file, at, error);
	if (!bytes)
		return error->code;
	struct cursor in = cursor_over(bytes, (size_t)at.size);
	int result = add_ids(file, &in, error);
	free(bytes);
	return result;
}

/* Entries of `entry_bytes`: attributes, then the section of the event's ids. */
static int load_events(struct perf_data_file *file, struct section at, uint64_t entry_bytes, struct error *error)
{
	if (entry_bytes < ATTR_LEAST_BYTES + sizeof(struct section) || entry_bytes > ATTR_MOST_BYTES)
		return fail(file, error, ERROR_CORRUPT, "the description of its events is damaged");
	uint8_t *bytes = load_section(file, at, error);
	if (!bytes)
		return error->code;
	struct cursor in = cursor_over(bytes, (size_t)at.size);
	int result = 0;
	while (result == 0 && cursor_left(&in) >= entry_bytes) {
		const size_t attr_bytes = (size_t)entry_bytes - sizeof(struct section);
		const uint8_t *attr = cursor_bytes(&in, attr_bytes);
		struct section ids = read_section(&in);
		result = add_event(file, attr, attr_bytes, error);
		if (result == 0)
			result = load_ids(file, ids, error);
	}
	free(bytes);
	return result;
}

/* The sections of the features follow the records, one for each bit. */
static int load_features(struct perf_data_file *file, const uint8_t *bits, uint64_t offset, struct error *error)
{
	int result = 0;
	for (unsigned i = 0; result == 0 && i < PERF_FEATURES; i++) {
		uint8_t words[sizeof(struct section)];
		if (!(bits[i / 8] & (1U << i % 8)))
			continue;
		result = read_at(file, file->fd, offset, words, sizeof(words), error);
		offset += sizeof(words);
		struct cursor in = cursor_over(words, sizeof(words));
		const struct section at = read_section(&in);
		uint8_t *bytes = result == 0 ? load_section(file, at, error) : NULL;
		if (!bytes)
			return error->code;
		in = cursor_over(bytes, (size_t)at.size);
		int taken = perf_feature_take(file, i, &in);
		if (taken < 0)
			result = fail(file, error, taken, "a part of its header is damaged");
		free(bytes);
	}
	return result;
}

/* magic | size u64 | size of an entry u64 | sections: events, records, unused | 256 bits */
static int read_header(struct perf_data_file *file, struct section *records, struct error *error)
{
	uint8_t bytes[FILE_HEADER_BYTES];
	int result = read_at(file, file->fd, 0, bytes, PIPE_HEADER_BYTES, error);
	struct cursor in = cursor_over(bytes, sizeof(bytes));
	cursor_u64(&in);
	uint64_t size = result == 0 ? cursor_u64(&in) : 0;
	if (result == 0 && memcmp(bytes, "2ELIFREP", 8) == 0)
		return fail(file, error, ERROR_UNSUPPORTED, "it is from a machine with the other byte order");
	if (result == 0 && memcmp(bytes, "PERFILE2", 8) != 0)
		return fail(file, error, ERROR_FORMAT, "it is no perf.data file");
	*records = (struct section){ .offset = PIPE_HEADER_BYTES, .size = UINT64_MAX - PIPE_HEADER_BYTES };
	if (result < 0 || size == PIPE_HEADER_BYTES)
		return result;
	if (size < FILE_HEADER_BYTES)
		return fail(file, error, ERROR_CORRUPT, "its header is damaged");
	result = read_at(file, file->fd, 0, bytes, sizeof(bytes), error);
	uint64_t entry_bytes = cursor_u64(&in);
	struct section events = read_section(&in);
	*records = read_section(&in);
	read_section(&in);
	if (result == 0 && records->size == 0)
		return fail(file, error, ERROR_TRUNCATED, "perf record has not finished it");
	if (result == 0 && records->size > INT64_MAX - records->offset)
		return fail(file, error, ERROR_CORRUPT, "its header is damaged");
	if (result == 0)
		result = load_events(file, events, entry_bytes, error);
	return result < 0 ? result : load_features(file, in.next, records->offset + records->size, error);
}

/* --- open and close --- */

/* Copies input that cannot be read at any position, such as a pipe. */
static int copy_input(struct perf_data_file *file, FILE *in, struct error *error)
{
	enum { PART = 64 * 1024 };
	size_t got = 0;
	file->spool = tmpfile();
	if (!file->spool)
		return error_set_errno(error, "cannot make a temporary file");
	while ((got = fread(file->buffer, 1, PART, in)) > 0)
		if (fwrite(file->buffer, 1, got, file->spool) != got)
			return error_set_errno(error, "cannot write a temporary file");
	if (ferror(in))
		return fail_errno(file, error);
	if (fflush(file->spool) != 0)
		return error_set_errno(error, "cannot write a temporary file");
	file->fd = fileno(file->spool);
	return 0;
}

static int open_input(struct perf_data_file *file, FILE *in, struct error *error)
{
	struct stat status;
	file->fd = fileno(in);
	if (file->fd >= 0 && fstat(file->fd, &status) == 0 && S_ISREG(status.st_mode)) {
		file->modified_s = status.st_mtime;
		return 0;
	}
	return copy_input(file, in, error);
}

int perf_data_open(struct perf_data_file *file, FILE *in, const char *name, struct error *error)
{
	*file = (struct perf_data_file){ .fd = -1, .name = name };
	hash_map_init(&file->event_by_id);
	struct scan scan = { .file = file, .error = error };
	struct section records = { 0 };
	buffer_init(&scan.pending);
	file->buffer = malloc(PERF_DATA_RECORD_MOST);
	int result = strings_init(&file->strings);
	if (result < 0 || !file->buffer)
		result = fail(file, error, ERROR_MEMORY, "out of memory");
	if (result == 0)
		result = open_input(file, in, error);
	if (result == 0)
		result = read_header(file, &records, error);
	if (result == 0)
		result = scan_records(&scan, records.offset,
				      records.size > INT64_MAX ? UINT64_MAX : records.offset + records.size);
	if (result == 0 && file->record_count > 0)
		qsort(file->records, file->record_count, sizeof(*file->records), by_time);
	ZSTD_freeDStream(scan.stream);
	free(scan.window);
	buffer_release(&scan.pending);
	if (result < 0)
		perf_data_close(file);
	return result;
}

void perf_data_close(struct perf_data_file *file)
{
	if (file->spool)
		fclose(file->spool);
	if (file->unpacked)
		fclose(file->unpacked);
	hash_map_release(&file->event_by_id);
	strings_release(&file->strings);
	free(file->events);
	free(file->records);
	free(file->build_ids);
	free(file->buffer);
	*file = (struct perf_data_file){ .fd = -1 };
}

const struct perf_event_header *perf_data_record(struct perf_data_file *file, size_t index, struct error *error)
{
	const struct perf_data_position *position = &file->records[index];
	struct perf_event_header *record = (struct perf_event_header *)file->buffer;
	int fd = position->is_unpacked ? fileno(file->unpacked) : file->fd;
	if (read_at(file, fd, position->offset, record, position->size, error) < 0)
		return NULL;
	if (record->size != position->size) { /* the file has changed since */
		fail(file, error, ERROR_CORRUPT, "it changes while it is read");
		return NULL;
	}
	return record;
}

const struct perf_data_build_id *perf_data_build_id(const struct perf_data_file *file, const char *path)
{
	for (size_t i = 0; i < file->build_id_count; i++)
		if (strcmp(perf_data_string(file, file->build_ids[i].path), path) == 0)
			return &file->build_ids[i];
	return NULL;
}
