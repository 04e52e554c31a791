#include "collect/perf_data/file.h"

#include <string.h>

#include "base/array.h"

/* Numbers of tools/perf/util/header.h. */
enum { BUILD_IDS = 2, HOST = 3, RELEASE = 4, PROCESSOR = 6, CPUS = 7, COMMAND = 11, EVENTS = 12 };

static int add_string(struct perf_data_file *file, const char *text, size_t length, uint32_t *id)
{
	int64_t added = strings_add(&file->strings, text, length);
	if (added < 0)
		return (int)added;
	*id = (uint32_t)added;
	return 0;
}

/* u32 size with padding, text, NUL. */
static const char *read_text(struct cursor *in, size_t *length)
{
	uint32_t size = cursor_u32(in);
	const char *text = (const char *)cursor_bytes(in, size);
	*length = text ? strnlen(text, size) : 0;
	return text;
}

static int take_text(struct perf_data_file *file, struct cursor *in, uint32_t *id)
{
	size_t length;
	const char *text = read_text(in, &length);
	return text ? add_string(file, text, length, id) : ERROR_CORRUPT;
}

/* u32 count, then the words of the command. */
static int take_command(struct perf_data_file *file, struct cursor *in)
{
	enum { LINE_BYTES = 4096 };
	char line[LINE_BYTES];
	size_t used = 0;
	uint32_t count = cursor_u32(in);
	for (uint32_t i = 0; i < count && !in->failed; i++) {
		size_t length;
		const char *word = read_text(in, &length);
		if (!word || used + length + 1 >= LINE_BYTES)
			break;
		if (used > 0)
			line[used++] = ' ';
		memcpy(line + used, word, length);
		used += length;
	}
	return in->failed ? ERROR_CORRUPT : add_string(file, line, used, &file->command);
}

/* u32 count, u32 size of attributes; of each: attributes, u32 count of ids, name, ids. */
static int take_events(struct perf_data_file *file, struct cursor *in)
{
	uint32_t count = cursor_u32(in), attr_bytes = cursor_u32(in);
	for (uint32_t i = 0; i < count && !in->failed; i++) {
		cursor_bytes(in, attr_bytes);
		uint32_t ids = cursor_u32(in);
		size_t length;
		const char *name = read_text(in, &length);
		if (name && i < file->event_count && add_string(file, name, length, &file->events[i].name) < 0)
			return ERROR_MEMORY;
		if (ids > cursor_left(in) / sizeof(uint64_t))
			return ERROR_CORRUPT;
		cursor_bytes(in, ids * sizeof(uint64_t));
	}
	return in->failed ? ERROR_CORRUPT : 0;
}

int perf_feature_take_build_id(struct perf_data_file *file, struct cursor *in)
{
	/* header: type u32, misc u16, size u16 | pid u32 | build-id 20 bytes, u8 size, 3 spare | path, NULs */
	enum { HAS_SIZE = 1 << 15, FIXED_BYTES = 36, SPARE_BYTES = 3 };
	struct perf_data_build_id found = { .size = PERF_DATA_BUILD_ID_BYTES };
	cursor_u32(in);
	uint16_t misc = cursor_u16(in), size = cursor_u16(in);
	cursor_u32(in);
	const uint8_t *bytes = cursor_bytes(in, PERF_DATA_BUILD_ID_BYTES);
	uint8_t id_size = cursor_u8(in);
	cursor_bytes(in, SPARE_BYTES);
	const char *path = size < FIXED_BYTES ? NULL : (const char *)cursor_bytes(in, size - FIXED_BYTES);
	if (!path || in->failed || ((misc & HAS_SIZE) && id_size > PERF_DATA_BUILD_ID_BYTES))
		return ERROR_CORRUPT;
	if (misc & HAS_SIZE)
		found.size = id_size;
	memcpy(found.bytes, bytes, PERF_DATA_BUILD_ID_BYTES);
	if (add_string(file, path, strnlen(path, size - FIXED_BYTES), &found.path) < 0 ||
	    ARRAY_RESERVE(file->build_ids, file->build_id_capacity, file->build_id_count + 1) < 0)
		return ERROR_MEMORY;
	file->build_ids[file->build_id_count++] = found;
	return 0;
}

static int take_build_ids(struct perf_data_file *file, struct cursor *in)
{
	int result = 0;
	while (result == 0 && cursor_left(in) > 0)
		result = perf_feature_take_build_id(file, in);
	return result;
}

int perf_feature_take(struct perf_data_file *file, unsigned feature, struct cursor *in)
{
	switch (feature) {
	case BUILD_IDS:
		return take_build_ids(file, in);
	case HOST:
		return take_text(file, in, &file->host);
	case RELEASE:
		return take_text(file, in, &file->release);
	case PROCESSOR:
		return take_text(file, in, &file->processor);
	case CPUS:
		file->cpus = cursor_u32(in);
		return in->failed ? ERROR_CORRUPT : 0;
	case COMMAND:
		return take_command(file, in);
	case EVENTS:
		return take_events(file, in);
	default:
		return 0;
	}
}
