#include "frames/jit/code_lines.h"

#include <string.h>

#include "base/array.h"
#include "base/cursor.h"
#include "base/error.h"
#include "frames/jit/runtime_names.h"

enum { RECORD_BYTES = 16, ENTRY_BYTES = 16, TEXT_MOST = 4096, FRAMES_MOST = 1024 };

/* A record that is read part by part. */
struct record {
	struct dump_reader *reader;
	uint64_t at, end;
	bool failed;
};

static uint64_t read_number(struct record *record, size_t size)
{
	size_t got;
	uint64_t value = 0;
	if (record->failed || record->end - record->at < size) {
		record->failed = true;
		return 0;
	}
	const uint8_t *bytes = dump_reader_at(record->reader, record->at, size, &got);
	record->failed = got < size;
	if (!record->failed)
		memcpy(&value, bytes, size);
	record->at += size;
	return value;
}

/* Passes over a string of at most TEXT_MOST bytes. Returns it, valid until the next read, or NULL. */
static const char *read_text(struct record *record)
{
	size_t got;
	uint64_t left = record->end - record->at;
	size_t most = left < TEXT_MOST ? (size_t)left : TEXT_MOST;
	if (record->failed)
		return NULL;
	const uint8_t *bytes = dump_reader_at(record->reader, record->at, most, &got);
	const uint8_t *end = memchr(bytes, 0, got);
	record->failed = !end;
	if (!end)
		return NULL;
	record->at += (uint64_t)(end - bytes) + 1;
	return (const char *)bytes;
}

/* Begins to read a record, and sets the address of its code. Returns the number of entries. */
static uint64_t begin(struct record *record, uint64_t *code)
{
	record->at += RECORD_BYTES;
	*code = read_number(record, sizeof(uint64_t));
	return read_number(record, sizeof(uint64_t));
}

uint64_t code_lines_shift(const char *name)
{
	enum { ELF_HEADER_BYTES = 64 };
	return runtime_name_is_v8(name, strlen(name)) ? ELF_HEADER_BYTES : 0;
}

/* Goes on to the record's end, whatever its number of entries is, and ignores addresses before the code: V8 writes file names from memory that
 * it has freed (Node.js 20), and a zero in one splits an entry. */
void code_line_at(struct dump_reader *reader, uint64_t at, uint64_t bytes, uint64_t address,
		  struct jitdump_frame *frame, struct buffer *texts)
{
	static const char same[] = "\xff"; /* as the entry before */
	struct record record = { .reader = reader, .at = at, .end = at + bytes };
	char file[TEXT_MOST] = "", best[TEXT_MOST];
	uint64_t best_address = 0, code;
	bool is_found = false;
	begin(&record, &code);
	while (!record.failed) {
		uint64_t from = read_number(&record, sizeof(uint64_t));
		uint32_t line = (uint32_t)read_number(&record, sizeof(uint32_t));
		read_number(&record, sizeof(uint32_t)); /* discriminator */
		const char *text = read_text(&record);
		if (!text)
			break;
		if (strcmp(text, same) != 0)
			memcpy(file, text, strlen(text) + 1);
		if (from < code || from > address || (is_found && from < best_address) || line == 0 || line > INT32_MAX)
			continue;
		is_found = true;
		best_address = from;
		frame->line = line;
		memcpy(best, file, strlen(file) + 1);
	}
	if (!is_found)
		return;
	frame->file = texts->size;
	buffer_append(texts, best, strlen(best) + 1);
}

/* Passes over the frames of an entry. */
static void skip_frames(struct record *record, uint64_t depth)
{
	for (; depth > 0 && !record->failed; depth--) {
		read_number(record, sizeof(uint32_t));
		read_text(record);
		read_text(record);
	}
}

static int append_frame(struct record *record, struct jitdump *dump)
{
	struct jitdump_frame frame = { .line = (uint32_t)read_number(record, sizeof(uint32_t)), .is_whole = true };
	size_t *places[] = { &frame.name, &frame.file };
	for (int i = 0; i < 2; i++) {
		const char *text = read_text(record);
		*places[i] = dump->texts.size;
		buffer_append_string(&dump->texts, text ? text : "");
		buffer_append_byte(&dump->texts, 0);
	}
	if (record->failed)
		return 0;
	if (buffer_error(&dump->texts) < 0 ||
	    ARRAY_RESERVE(dump->frames, dump->frame_capacity, dump->frame_count + 1) < 0)
		return ERROR_MEMORY;
	if (frame.line > INT32_MAX || ((const char *)dump->texts.bytes)[frame.file] == 0)
		frame.line = 0;
	dump->frames[dump->frame_count++] = frame;
	return 0;
}

int code_inlined_at(struct dump_reader *reader, uint64_t at, uint64_t bytes, uint64_t address, struct jitdump *dump)
{
	struct record record = { .reader = reader, .at = at, .end = at + bytes };
	uint64_t best_at = 0, best_address = 0, best_depth = 0, code;
	for (uint64_t left = begin(&record, &code); left > 0 && !record.failed; left--) {
		uint64_t from = read_number(&record, sizeof(uint64_t));
		uint64_t depth = read_number(&record, sizeof(uint32_t));
		read_number(&record, sizeof(uint32_t));
		uint64_t frames_at = record.at;
		skip_frames(&record, depth);
		if (record.failed || from > address || (best_at && from < best_address) || depth > FRAMES_MOST)
			continue;
		best_at = frames_at;
		best_address = from;
		best_depth = depth;
	}
	record.at = best_at;
	record.failed = !best_at;
	int status = 0;
	for (; best_depth > 0 && status == 0 && !record.failed; best_depth--)
		status = append_frame(&record, dump);
	return status;
}
