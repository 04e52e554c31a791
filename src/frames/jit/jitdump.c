#include "frames/jit/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/jitdump.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/hash_map.h"
#include "frames/addresses_below.h"
#include "frames/jit/code_lines.h"
#include "frames/jit/dump_reader.h"

enum {
	HEADER_BYTES = sizeof(struct jitdump_header),
	RECORD_BYTES = sizeof(struct jitdump_record),
	LOAD_BYTES = sizeof(struct jitdump_load),
	MOVE_BYTES = sizeof(struct jitdump_move),
	LINES_BYTES = sizeof(struct jitdump_entries)
};

/* Code that was loaded; positions of its records in the file. */
struct code {
	uint64_t address; /* when it was loaded, to which its lines are relative */
	uint64_t load_at, load_bytes;
	uint64_t lines_at, lines_bytes;     /* 0: none */
	uint64_t inlined_at, inlined_bytes; /* 0: none */
};

enum { NO_CODE = UINT32_MAX };

/* The code that an address has, as far as the file was read. */
struct choice {
	uint32_t code;
	uint64_t moved_by; /* its present address minus its address at its load */
	uint64_t time;     /* of its load or move */
};

struct reading {
	struct dump_reader reader;
	const uint64_t *addresses, *times;
	size_t count;
	struct choice *choices;
	struct code *codes;
	size_t code_count, code_capacity;
	struct hash_map by_index;
	struct code next; /* the records that precede a load */
};

void jitdump_release(struct jitdump *dump)
{
	free(dump->found);
	free(dump->frames);
	buffer_release(&dump->texts);
}

/* Returns the flags of a header, or -1 if it is none. */
static int64_t read_header(struct dump_reader *reader, uint64_t *bytes)
{
	size_t got;
	struct cursor cursor = cursor_over(dump_reader_at(reader, 0, HEADER_BYTES, &got), HEADER_BYTES);
	if (got < HEADER_BYTES || cursor_u32(&cursor) != JITDUMP_MAGIC)
		return -1;
	cursor_u32(&cursor); /* the version: all have this layout */
	*bytes = cursor_u32(&cursor);
	cursor.next = cursor.end - sizeof(uint64_t);
	uint64_t flags = cursor_u64(&cursor);
	return *bytes >= HEADER_BYTES ? (int64_t)(flags & INT64_MAX) : -1;
}

bool jitdump_is(int fd)
{
	struct dump_reader *reader = calloc(1, sizeof(*reader));
	uint64_t bytes;
	if (!reader)
		return false;
	reader->fd = fd;
	bool is = read_header(reader, &bytes) >= 0;
	free(reader);
	return is;
}

/* --- which code an address has --- */

/* Gives code to the addresses in its range. It replaces older code, but not the code of an earlier sample. Code may run some time before its
 * record is written: the first record counts also for samples before it. */
static void choose(struct reading *reading, uint32_t code, uint64_t start, uint64_t bytes, uint64_t time)
{
	size_t first = addresses_below(reading->addresses, reading->count, start);
	size_t last = bytes > UINT64_MAX - start ? reading->count
						 : addresses_below(reading->addresses, reading->count, start + bytes);
	for (size_t i = first; i < last; i++) {
		struct choice *choice = &reading->choices[i];
		bool is_later = reading->times && time > reading->times[i];
		if (choice->code != NO_CODE && (is_later || time < choice->time))
			continue;
		*choice = (struct choice){ .code = code, .time = time };
		choice->moved_by = start - reading->codes[code].address;
	}
}

static int take_load(struct reading *reading, uint64_t at, uint64_t bytes, uint64_t time, struct cursor *cursor)
{
	cursor_u64(cursor); /* process and thread */
	cursor_u64(cursor);
	struct code code = reading->next;
	code.address = cursor_u64(cursor);
	code.load_at = at;
	code.load_bytes = bytes;
	uint64_t size = cursor_u64(cursor), index = cursor_u64(cursor);
	reading->next = (struct code){ 0 };
	if (cursor->failed || reading->code_count == NO_CODE)
		return 0;
	if (ARRAY_RESERVE(reading->codes, reading->code_capacity, reading->code_count + 1) < 0 ||
	    hash_map_put(&reading->by_index, hash_u64(index), (uint32_t)reading->code_count) < 0)
		return ERROR_MEMORY;
	reading->codes[reading->code_count] = code;
	choose(reading, (uint32_t)reading->code_count++, code.address, size, time);
	return 0;
}

static void take_move(struct reading *reading, uint64_t time, struct cursor *cursor)
{
	cursor_u64(cursor); /* process and thread */
	cursor_u64(cursor);
	cursor_u64(cursor); /* the old address */
	uint64_t to = cursor_u64(cursor), size = cursor_u64(cursor), index = cursor_u64(cursor);
	uint32_t code = hash_map_get(&reading->by_index, hash_u64(index));
	if (!cursor->failed && code != HASH_MAP_NONE)
		choose(reading, code, to, size, time);
}

/* Takes the record at *at, and advances *at behind it. Returns 0 or ERROR_MEMORY, and sets *ended at the end of the file or where no record
 * can be. */
static int take_record(struct reading *reading, uint64_t *at, bool *ended)
{
	size_t got;
	const uint8_t *bytes = dump_reader_at(&reading->reader, *at, MOVE_BYTES, &got);
	struct cursor cursor = cursor_over(bytes, got);
	uint32_t id = cursor_u32(&cursor);
	uint64_t size = cursor_u32(&cursor), time = cursor_u64(&cursor), record = *at;
	*ended = cursor.failed || size < RECORD_BYTES;
	*at += size;
	if (*ended)
		return 0;
	if (size < got)
		cursor.end = bytes + size;
	switch (id) {
	case JITDUMP_LOAD:
		return take_load(reading, record, size, time, &cursor);
	case JITDUMP_MOVE:
		take_move(reading, time, &cursor);
		return 0;
	case JITDUMP_DEBUG_INFO:
		reading->next.lines_at = record;
		reading->next.lines_bytes = size;
		return 0;
	case JITDUMP_INLINED:
		reading->next.inlined_at = record;
		reading->next.inlined_bytes = size;
		return 0;
	default:
		return 0;
	}
}

static int choose_all(struct reading *reading)
{
	uint64_t at;
	int64_t flags = read_header(&reading->reader, &at);
	int status = 0;
	if (flags < 0)
		return 0;
	if (flags & JITDUMP_ARCH_TIME)
		reading->times = NULL;
	for (bool ended = false; !ended && status == 0;)
		status = take_record(reading, &at, &ended);
	return status;
}

/* --- its name and lines --- */

/* Appends the name of code, as a string. Names are cut where the window ends. */
static size_t append_name(struct reading *reading, const struct code *code, struct jitdump *dump)
{
	size_t got, at = dump->texts.size;
	uint64_t most = code->load_bytes - LOAD_BYTES;
	if (most > DUMP_WINDOW_BYTES)
		most = DUMP_WINDOW_BYTES;
	const uint8_t *bytes = dump_reader_at(&reading->reader, code->load_at + LOAD_BYTES, (size_t)most, &got);
	buffer_append(&dump->texts, bytes, strnlen((const char *)bytes, got));
	buffer_append_byte(&dump->texts, 0);
	return at;
}

static int describe(struct reading *reading, size_t number, struct jitdump *dump)
{
	const struct choice *choice = &reading->choices[number];
	struct jitdump_found *found = &dump->found[number];
	if (choice->code == NO_CODE)
		return 0;
	const struct code *code = &reading->codes[choice->code];
	uint64_t address = reading->addresses[number] - choice->moved_by;
	found->first = dump->frame_count;
	int status = 0;
	if (code->inlined_bytes > LINES_BYTES)
		status = code_inlined_at(&reading->reader, code->inlined_at, code->inlined_bytes, address, dump);
	found->count = dump->frame_count - found->first;
	if (status < 0 || found->count > 0)
		return status;
	if (ARRAY_RESERVE(dump->frames, dump->frame_capacity, dump->frame_count + 1) < 0)
		return ERROR_MEMORY;
	struct jitdump_frame frame = { .name = append_name(reading, code, dump) };
	if (code->lines_bytes > LINES_BYTES && buffer_error(&dump->texts) == 0)
		code_line_at(&reading->reader, code->lines_at, code->lines_bytes,
			     address + code_lines_shift((const char *)dump->texts.bytes + frame.name), &frame,
			     &dump->texts);
	dump->frames[dump->frame_count++] = frame;
	found->count = 1;
	return buffer_error(&dump->texts);
}

int jitdump_read(int fd, const uint64_t *addresses, const uint64_t *times, size_t count, struct jitdump *dump)
{
	*dump = (struct jitdump){ .found = calloc(count + 1, sizeof(*dump->found)) };
	buffer_init(&dump->texts);
	struct reading *reading = calloc(1, sizeof(*reading));
	struct choice *choices = malloc((count + 1) * sizeof(*choices));
	int status = dump->found && reading && choices ? 0 : ERROR_MEMORY;
	if (status == 0) {
		*reading = (struct reading){ .addresses = addresses, .times = times, .count = count };
		reading->reader.fd = fd;
		reading->choices = choices;
		hash_map_init(&reading->by_index);
		for (size_t i = 0; i < count; i++)
			choices[i].code = NO_CODE;
		status = choose_all(reading);
		for (size_t i = 0; i < count && status == 0; i++)
			status = describe(reading, i, dump);
	}
	int number = reading ? reading->reader.number : 0;
	if (reading) {
		hash_map_release(&reading->by_index);
		free(reading->codes);
	}
	free(reading);
	free(choices);
	if (status == 0 && number) {
		errno = number;
		return ERROR_SYSTEM;
	}
	return status;
}
