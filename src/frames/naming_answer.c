#include "frames/naming_answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

enum { TEXT_MAX = 1 << 20, LOCATION_FRAMES_MAX = 1 << 12, FUNCTION_TEXTS = 5 };

struct head {
	uint32_t cause, detail, strings, functions, frames;
};

struct frame_record {
	uint32_t function;
	uint32_t file; /* a string */
	uint32_t line, discriminator, inlined;
};

/* --- writing --- */

/* Returns the number of a text, 0 for NULL. Stores an error in *status. */
static uint32_t string_of(struct naming_answer *answer, const char *text, int *status)
{
	size_t length = text ? strlen(text) : 0;
	int64_t id = strings_add(&answer->strings, text ? text : "", length < TEXT_MAX ? length : TEXT_MAX);
	if (id < 0)
		*status = (int)id;
	return id < 0 ? 0 : (uint32_t)id;
}

int64_t naming_answer_function(struct naming_answer *answer, const struct named_function *function)
{
	int status = 0;
	const struct function_identity record = { .name = string_of(answer, function->name, &status),
						  .key = string_of(answer, function->key, &status),
						  .linkage = string_of(answer, function->linkage, &status),
						  .file = string_of(answer, function->file, &status),
						  .note = string_of(answer, function->note, &status),
						  .line = function->line,
						  .scope = function->scope,
						  .is_static = function->is_static,
						  .role = function->role };
	struct buffer *records = &answer->functions;
	size_t count = records->size / sizeof(record);
	if (status < 0)
		return status;
	if (count > 0 && memcmp(records->bytes + records->size - sizeof(record), &record, sizeof(record)) == 0)
		return (int64_t)count - 1;
	buffer_append(records, &record, sizeof(record));
	return buffer_error(records) ? ERROR_MEMORY : (int64_t)count;
}

int naming_answer_frame(struct naming_answer *answer, const struct named_frame *frame)
{
	int status = 0;
	const struct frame_record record = { .function = frame->function,
					     .file = string_of(answer, frame->file, &status),
					     .line = frame->line,
					     .discriminator = frame->discriminator,
					     .inlined = frame->inlined };
	if (status < 0)
		return status;
	buffer_append(&answer->frames, &record, sizeof(record));
	return buffer_error(&answer->frames);
}

int naming_answer_plain(struct naming_answer *answer, const struct named_function *function)
{
	int64_t number = naming_answer_function(answer, function);
	const struct named_frame frame = { .function = (uint32_t)number };
	return number < 0 ? (int)number : naming_answer_frame(answer, &frame);
}

static int begin(struct naming_answer *answer)
{
	buffer_init(&answer->functions);
	buffer_init(&answer->frames);
	return strings_init(&answer->strings);
}

static void end(struct naming_answer *answer)
{
	strings_release(&answer->strings);
	buffer_release(&answer->functions);
	buffer_release(&answer->frames);
}

static int write_answer(struct naming_answer *answer, const struct frames_cause *causes, struct buffer *to)
{
	const struct frames_failure *failure = &answer->failure;
	struct head head = { .cause = failure->cause ? (uint32_t)(failure->cause - causes) : UINT32_MAX };
	int status = 0;
	if (failure->cause) { /* what was added before the failure is left out */
		end(answer);
		status = begin(answer);
		head.detail = status < 0 ? 0 : string_of(answer, failure->detail.message, &status);
	}
	head.strings = (uint32_t)answer->strings.count;
	head.functions = (uint32_t)(answer->functions.size / sizeof(struct function_identity));
	head.frames = (uint32_t)(answer->frames.size / sizeof(struct frame_record));
	buffer_append(to, &head, sizeof(head));
	for (uint32_t i = 0; i < head.strings; i++)
		buffer_append(to, strings_get(&answer->strings, i), answer->strings.lengths[i] + 1);
	buffer_append(to, answer->functions.bytes, answer->functions.size);
	buffer_append(to, answer->frames.bytes, answer->frames.size);
	return status < 0 ? status : buffer_error(to);
}

int naming_answer_make(const struct frames_request *request, struct buffer *bytes)
{
	struct naming_answer answer = { 0 };
	int status = begin(&answer);
	if (status == 0)
		status = request->provider->name_module(request, &answer);
	if (status == 0)
		status = write_answer(&answer, request->provider->causes, bytes);
	end(&answer);
	return status;
}

/* --- reading --- */

/* The parts of an answer, which point into its bytes. */
struct parts {
	struct head head;
	struct cursor strings;
	const uint8_t *functions, *frames; /* records; not aligned */
};

static struct function_identity function_at(const struct parts *parts, uint32_t i)
{
	struct function_identity record;
	memcpy(&record, parts->functions + i * sizeof(record), sizeof(record));
	return record;
}

static struct frame_record frame_at(const struct parts *parts, uint32_t i)
{
	struct frame_record record;
	memcpy(&record, parts->frames + i * sizeof(record), sizeof(record));
	return record;
}

/* Finds the parts. Returns whether they are all there, and nothing else. */
static bool split(struct parts *parts, const uint8_t *bytes, size_t size)
{
	struct cursor cursor = cursor_over(bytes, size);
	const uint8_t *head = cursor_bytes(&cursor, sizeof(parts->head));
	if (!head)
		return false;
	memcpy(&parts->head, head, sizeof(parts->head));
	if (parts->head.strings > 2 + FUNCTION_TEXTS * (uint64_t)parts->head.functions + parts->head.frames)
		return false; /* more texts than "", the detail, and the texts of all records */
	parts->strings = cursor;
	for (uint32_t i = 0; i < parts->head.strings && !cursor.failed; i++) {
		const char *text = cursor_string(&cursor);
		if (text && strnlen(text, TEXT_MAX + 1) > TEXT_MAX)
			return false;
	}
	parts->functions = cursor_bytes(&cursor, parts->head.functions * sizeof(struct function_identity));
	parts->frames = cursor_bytes(&cursor, parts->head.frames * sizeof(struct frame_record));
	return !cursor.failed && cursor_left(&cursor) == 0;
}

static bool functions_are_sound(const struct parts *parts)
{
	uint32_t strings = parts->head.strings;
	for (uint32_t i = 0; i < parts->head.functions; i++) {
		struct function_identity function = function_at(parts, i);
		if (function.name >= strings || function.key >= strings || function.linkage >= strings ||
		    function.file >= strings || function.note >= strings || function.is_static > 1 ||
		    function.role > ROLE_CREATE)
			return false;
	}
	return true;
}

/* Returns whether the frames belong to `count` locations. */
static bool frames_are_sound(const struct parts *parts, size_t count)
{
	size_t locations = 0, run = 0;
	for (uint32_t i = 0; i < parts->head.frames; i++) {
		struct frame_record frame = frame_at(parts, i);
		if (frame.function >= parts->head.functions || frame.file >= parts->head.strings || frame.inlined > 1 ||
		    ++run > LOCATION_FRAMES_MAX)
			return false;
		if (!frame.inlined) {
			locations++;
			run = 0;
		}
	}
	return locations == count && run == 0;
}

/* An answer while it is added to the profile. */
struct adding {
	const struct parts *parts;
	const struct frames_request *request;
	struct functions *functions;
	uint32_t *strings;      /* owned: by number in the answer, the string of the profile */
	uint32_t *function_ids; /* owned: ... and the function */
};

static int add_strings(struct adding *adding)
{
	struct cursor cursor = adding->parts->strings;
	for (uint32_t i = 0; i < adding->parts->head.strings; i++) {
		int64_t id = profile_add_string(adding->functions->profile, cursor_string(&cursor));
		if (id < 0)
			return (int)id;
		adding->strings[i] = (uint32_t)id;
	}
	return 0;
}

static int add_functions(struct adding *adding)
{
	const uint32_t *strings = adding->strings;
	for (uint32_t i = 0; i < adding->parts->head.functions; i++) {
		struct function_identity function = function_at(adding->parts, i);
		function.name = strings[function.name];
		function.key = strings[function.key];
		function.linkage = strings[function.linkage];
		function.file = strings[function.file];
		function.note = strings[function.note];
		int64_t id = functions_add(adding->functions, adding->request->module, &function);
		if (id < 0)
			return (int)id;
		adding->function_ids[i] = (uint32_t)id;
	}
	return 0;
}

static int add_frames(struct adding *adding)
{
	struct profile *profile = adding->functions->profile;
	const uint32_t *location = adding->request->locations;
	uint32_t first = (uint32_t)profile->frame_count;
	for (uint32_t i = 0; i < adding->parts->head.frames; i++) {
		struct frame_record record = frame_at(adding->parts, i);
		const struct profile_frame frame = { .function = adding->function_ids[record.function],
						     .file = adding->strings[record.file],
						     .line = record.line,
						     .discriminator = record.discriminator,
						     .inlined = record.inlined,
						     .kind = (uint8_t)adding->request->provider->kind };
		int64_t id = profile_add_frame(profile, &frame);
		if (id < 0)
			return (int)id;
		if (frame.inlined)
			continue;
		struct profile_location *named = &profile->locations[*location++];
		named->first_frame = first;
		named->frame_count = (uint32_t)id + 1 - first;
		first = (uint32_t)id + 1;
	}
	return 0;
}

static int add_parts(const struct parts *parts, const struct frames_request *request, struct functions *functions)
{
	struct adding adding = { parts, request, functions, NULL, NULL };
	adding.strings = calloc((size_t)parts->head.strings + 1, sizeof(*adding.strings));
	adding.function_ids = calloc((size_t)parts->head.functions + 1, sizeof(*adding.function_ids));
	int status = adding.strings && adding.function_ids ? add_strings(&adding) : ERROR_MEMORY;
	if (status == 0)
		status = add_functions(&adding);
	if (status == 0)
		status = add_frames(&adding);
	free(adding.strings);
	free(adding.function_ids);
	return status;
}

/* Sets the failure that the provider reported. Returns 0 or ERROR_CORRUPT. */
static int read_failure(struct parts *parts, const struct frames_provider *provider, struct frames_failure *failure)
{
	const char *detail = "";
	if (parts->head.cause >= provider->cause_count || parts->head.detail >= parts->head.strings)
		return ERROR_CORRUPT;
	for (uint32_t i = 0; i <= parts->head.detail; i++)
		detail = cursor_string(&parts->strings);
	error_set(&failure->detail, ERROR_FORMAT, "%s", detail);
	failure->cause = &provider->causes[parts->head.cause];
	return 0;
}

int naming_answer_read(const uint8_t *bytes, size_t size, const struct frames_request *request,
		       struct functions *functions, struct frames_failure *failure)
{
	struct parts parts;
	if (!split(&parts, bytes, size))
		return ERROR_CORRUPT;
	if (parts.head.cause != UINT32_MAX)
		return read_failure(&parts, request->provider, failure);
	if (!functions_are_sound(&parts) || !frames_are_sound(&parts, request->count))
		return ERROR_CORRUPT;
	return add_parts(&parts, request, functions);
}
