#include "frames/jail/additions.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/hash_map.h"

enum { TEXT_MAX = 1 << 20, LOCATION_FRAMES_MAX = 1 << 12 };

/* --- writing --- */

static void write_u32(struct buffer *to, uint32_t value)
{
	buffer_append(to, &value, sizeof(value));
}

static void write_text(struct buffer *to, const char *text)
{
	size_t length = strlen(text), size = length < TEXT_MAX ? length : TEXT_MAX;
	write_u32(to, (uint32_t)size);
	buffer_append(to, text, size);
}

struct writer {
	const struct profile *profile;
	struct hash_map numbers; /* string of the profile -> its number in the answer */
	struct buffer strings, rest;
	uint32_t string_count;
	int status;
};

/* Writes the number of a string in the answer. */
static void write_string(struct writer *writer, uint32_t string)
{
	uint32_t number = hash_map_get(&writer->numbers, string);
	if (number == HASH_MAP_NONE) {
		number = writer->string_count++;
		write_text(&writer->strings, profile_string(writer->profile, string));
		if (hash_map_put(&writer->numbers, string, number) < 0)
			writer->status = ERROR_MEMORY;
	}
	write_u32(&writer->rest, number);
}

static void write_function(struct writer *writer, const struct profile_function *function)
{
	write_string(writer, function->name);
	write_string(writer, function->linkage);
	write_string(writer, function->file);
	write_u32(&writer->rest, function->line);
	buffer_append_byte(&writer->rest, function->role);
}

static bool has_changed(const struct profile_function *now, const struct profile_function *before)
{
	return now->name != before->name || now->linkage != before->linkage || now->file != before->file ||
	       now->line != before->line || now->role != before->role;
}

static void write_functions(struct writer *writer, const struct additions_before *before, uint32_t module)
{
	const struct profile *profile = writer->profile;
	struct buffer *to = &writer->rest;
	size_t at = to->size;
	uint32_t changed = 0;
	write_u32(to, 0);
	for (size_t i = 0; i < before->copied_count; i++) {
		if (profile->functions[i].module != module || !has_changed(&profile->functions[i], &before->copied[i]))
			continue;
		write_u32(to, (uint32_t)i);
		write_function(writer, &profile->functions[i]);
		changed++;
	}
	if (buffer_error(to) == 0)
		memcpy(to->bytes + at, &changed, sizeof(changed));
	write_u32(to, (uint32_t)(profile->function_count - before->function_count));
	for (size_t i = before->function_count; i < profile->function_count; i++)
		write_function(writer, &profile->functions[i]);
}

static void write_frames(struct writer *writer, const struct additions_before *before,
			 const struct additions_request *request)
{
	const struct profile *profile = writer->profile;
	struct buffer *to = &writer->rest;
	write_u32(to, (uint32_t)(profile->frame_count - before->frame_count));
	for (size_t i = before->frame_count; i < profile->frame_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];
		uint32_t function = frame->function;
		if (function >= before->copied_count)
			function -= (uint32_t)(before->function_count - before->copied_count);
		write_u32(to, function);
		write_string(writer, frame->file);
		write_u32(to, frame->line);
		write_u32(to, frame->discriminator);
		buffer_append_byte(to, frame->inlined);
	}
	write_u32(to, (uint32_t)request->count);
	for (size_t i = 0; i < request->count; i++) {
		const struct profile_location *location = &profile->locations[request->locations[i]];
		write_u32(to, location->first_frame - (uint32_t)before->frame_count);
		write_u32(to, location->frame_count);
	}
}

static void write_notes(struct writer *writer, const struct additions_before *before)
{
	const struct profile *profile = writer->profile;
	write_u32(&writer->rest, (uint32_t)(profile->note_count - before->note_count));
	for (size_t i = before->note_count; i < profile->note_count; i++)
		write_string(writer, profile->notes[i].value);
}

void additions_write(struct buffer *answer, const struct profile *profile, const struct additions_before *before,
		     const struct additions_request *request, int status, const struct frames_failure *failure)
{
	struct writer writer = { .profile = profile };
	const struct frames_cause *causes = request->provider->causes;
	hash_map_init(&writer.numbers);
	buffer_init(&writer.strings);
	buffer_init(&writer.rest);
	if (status == 0 && !failure->cause) {
		write_functions(&writer, before, request->module);
		write_frames(&writer, before, request);
		write_notes(&writer, before);
	}
	int error = writer.status < 0 || buffer_error(&writer.strings) || buffer_error(&writer.rest) ? ERROR_MEMORY : 0;
	write_u32(answer, (uint32_t)(error < 0 ? error : status));
	write_u32(answer, failure->cause ? (uint32_t)(failure->cause - causes) : UINT32_MAX);
	write_text(answer, failure->cause ? failure->detail.message : "");
	if (error == 0 && status == 0 && !failure->cause) {
		write_u32(answer, writer.string_count);
		buffer_append(answer, writer.strings.bytes, writer.strings.size);
		buffer_append(answer, writer.rest.bytes, writer.rest.size);
	}
	hash_map_release(&writer.numbers);
	buffer_release(&writer.strings);
	buffer_release(&writer.rest);
}

/* --- reading --- */

struct reader {
	struct cursor cursor;
	struct profile *profile;
	const struct additions_request *request;
	size_t copied;
	bool adds; /* false: the first pass, which only checks */
	uint32_t string_count, function_count, frame_count;
	uint32_t *strings; /* owned: number in the answer -> string of the profile */
	size_t first_function, first_frame;
	bool wrong;
};

static const char *read_text(struct reader *reader, uint32_t *size)
{
	*size = cursor_u32(&reader->cursor);
	const uint8_t *bytes = *size <= TEXT_MAX ? cursor_bytes(&reader->cursor, *size) : NULL;
	if (!bytes || memchr(bytes, 0, *size))
		reader->wrong = true;
	return (const char *)bytes;
}

/* Reads a number of things of at least `bytes` each, which must be there. */
static uint32_t read_count(struct reader *reader, size_t bytes)
{
	uint32_t count = cursor_u32(&reader->cursor);
	if (count > cursor_left(&reader->cursor) / bytes)
		reader->wrong = true;
	return reader->wrong ? 0 : count;
}

static int read_strings(struct reader *reader)
{
	int64_t id = 0;
	reader->string_count = read_count(reader, sizeof(uint32_t));
	if (reader->adds) {
		reader->strings = calloc(reader->string_count ? reader->string_count : 1, sizeof(*reader->strings));
		if (!reader->strings)
			return ERROR_MEMORY;
	}
	for (uint32_t i = 0; i < reader->string_count && !reader->wrong && id >= 0; i++) {
		uint32_t size;
		const char *text = read_text(reader, &size);
		if (!reader->adds || reader->wrong)
			continue;
		id = strings_add(&reader->profile->strings, text, size);
		reader->strings[i] = id >= 0 ? (uint32_t)id : 0;
	}
	return id < 0 ? (int)id : 0;
}

static uint32_t read_string(struct reader *reader)
{
	uint32_t number = cursor_u32(&reader->cursor);
	if (number >= reader->string_count)
		reader->wrong = true;
	return reader->adds && !reader->wrong ? reader->strings[number] : 0;
}

static struct profile_function read_function(struct reader *reader)
{
	struct profile_function function = { .module = reader->request->module };
	function.name = read_string(reader);
	function.linkage = read_string(reader);
	function.file = read_string(reader);
	function.line = cursor_u32(&reader->cursor);
	function.role = cursor_u8(&reader->cursor);
	reader->wrong = reader->wrong || function.role > ROLE_CREATE;
	return function;
}

/* Returns whether a function that the profile had is one of the module. */
static bool is_known(const struct reader *reader, uint32_t function)
{
	return function < reader->copied && reader->profile->functions[function].module == reader->request->module;
}

static int read_functions(struct reader *reader)
{
	enum { FUNCTION_BYTES = 4 * 4 + 1 };
	struct profile *profile = reader->profile;
	int64_t id = 0;
	uint32_t changed = read_count(reader, FUNCTION_BYTES + sizeof(uint32_t));
	for (uint32_t i = 0; i < changed && !reader->wrong; i++) {
		uint32_t number = cursor_u32(&reader->cursor);
		struct profile_function function = read_function(reader);
		reader->wrong = reader->wrong || !is_known(reader, number);
		if (!reader->adds || reader->wrong)
			continue;
		function.group = profile->functions[number].group;
		profile->functions[number] = function;
	}
	reader->function_count = read_count(reader, FUNCTION_BYTES);
	reader->first_function = profile->function_count;
	for (uint32_t i = 0; i < reader->function_count && !reader->wrong && id >= 0; i++) {
		struct profile_function function = read_function(reader);
		if (reader->adds && !reader->wrong)
			id = profile_add_function(profile, &function);
	}
	return id < 0 ? (int)id : 0;
}

static int read_frames(struct reader *reader)
{
	enum { FRAME_BYTES = 4 * 4 + 1 };
	struct profile *profile = reader->profile;
	int64_t id = 0;
	reader->frame_count = read_count(reader, FRAME_BYTES);
	reader->first_frame = profile->frame_count;
	for (uint32_t i = 0; i < reader->frame_count && !reader->wrong && id >= 0; i++) {
		uint32_t function = cursor_u32(&reader->cursor);
		struct profile_frame frame = { .kind = (uint8_t)reader->request->provider->kind };
		frame.file = read_string(reader);
		frame.line = cursor_u32(&reader->cursor);
		frame.discriminator = cursor_u32(&reader->cursor);
		uint8_t inlined = cursor_u8(&reader->cursor);
		bool is_new = function >= reader->copied && function - reader->copied < reader->function_count;
		if (inlined > 1 || (!is_new && !is_known(reader, function)))
			reader->wrong = true;
		frame.inlined = inlined;
		frame.function = is_new ? (uint32_t)(reader->first_function + function - reader->copied) : function;
		if (reader->adds && !reader->wrong)
			id = profile_add_frame(profile, &frame);
	}
	return id < 0 ? (int)id : 0;
}

static void read_locations(struct reader *reader)
{
	if (cursor_u32(&reader->cursor) != reader->request->count)
		reader->wrong = true;
	for (size_t i = 0; i < reader->request->count && !reader->wrong; i++) {
		struct profile_location *location = &reader->profile->locations[reader->request->locations[i]];
		uint32_t first = cursor_u32(&reader->cursor), count = cursor_u32(&reader->cursor);
		if (reader->cursor.failed || count == 0 || count > LOCATION_FRAMES_MAX || first > reader->frame_count ||
		    count > reader->frame_count - first)
			reader->wrong = true;
		if (!reader->adds || reader->wrong)
			continue;
		location->first_frame = (uint32_t)(reader->first_frame + first);
		location->frame_count = count;
	}
}

static int read_notes(struct reader *reader)
{
	struct profile *profile = reader->profile;
	uint32_t count = read_count(reader, sizeof(uint32_t));
	int64_t id = 0;
	for (uint32_t i = 0; i < count && !reader->wrong && id >= 0; i++) {
		uint32_t value = read_string(reader);
		if (reader->adds && !reader->wrong)
			id = profile_add_note(profile, PROFILE_NOTE_NESTED, profile_string(profile, value));
	}
	return id < 0 ? (int)id : 0;
}

/* Reads an answer once. The first pass checks it, the second adds it. */
static int read_answer(struct reader *reader)
{
	int status = read_strings(reader);
	if (status == 0)
		status = read_functions(reader);
	if (status == 0)
		status = read_frames(reader);
	if (status == 0)
		read_locations(reader);
	if (status == 0)
		status = read_notes(reader);
	free(reader->strings);
	reader->strings = NULL;
	if (status == 0 && (reader->wrong || reader->cursor.failed || cursor_left(&reader->cursor) != 0))
		status = ERROR_CORRUPT;
	return status;
}

int additions_read(const uint8_t *answer, size_t size, struct profile *profile, size_t copied,
		   const struct additions_request *request, struct frames_failure *failure)
{
	struct reader reader = {
		.cursor = cursor_over(answer, size), .profile = profile, .request = request, .copied = copied
	};
	uint32_t detail_size;
	int status = (int)cursor_u32(&reader.cursor);
	uint32_t cause = cursor_u32(&reader.cursor);
	const char *detail = read_text(&reader, &detail_size);
	bool failed = cause != UINT32_MAX;
	if (reader.wrong || reader.cursor.failed || status > 0 || (failed && cause >= request->provider->cause_count))
		return ERROR_CORRUPT;
	if (failed)
		error_set(&failure->detail, ERROR_FORMAT, "%.*s", (int)detail_size, detail);
	if (failed)
		failure->cause = &request->provider->causes[cause];
	if (failed || status < 0)
		return status;
	struct reader start = reader;
	status = read_answer(&reader);
	if (status < 0)
		return status;
	start.adds = true;
	return read_answer(&start);
}
