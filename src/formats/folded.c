/*
 * Folded stacks: one call path per line, outermost frame first, followed by its hits.
 *
 *     main;uniquify_db;qsort 12
 *
 * The count follows the last blank, so names may contain blanks. A ';' in a name is written as ':'. Empty lines are
 * skipped, and so are lines that begin with '#', unless they end in a digit and no blank follows the '#'.
 *
 * Import: lines are usually sorted, so a line shares its first frames with the previous one. Their nodes are reused,
 * and only the other frames are looked up.
 *
 * Export: one line per distinct path at which samples end, sorted by the bytes of the path, with the bare names of
 * functions. A path without frames is "[no stack]", a name of blanks is "[blank]", and a '#' that would begin a
 * comment is "[#]".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/quote.h"
#include "formats/format.h"
#include "formats/import_stream.h"
#include "formats/input.h"

/* The largest count of a line: no program runs that long. */
static const uint64_t COUNT_LIMIT = UINT64_C(1) << 48;

/* A frame of the previous line. */
struct open_frame {
	size_t end; /* offset of the ';' behind it, or length of the stack */
	uint32_t node;
};

struct import {
	struct profile *profile;
	uint32_t *location_of; /* per string id: the location with that name, or PROFILE_NONE */
	size_t location_capacity;
	struct open_frame *frames;
	size_t frame_count;
	size_t frame_capacity;
	char *stack; /* the stack of the previous line, `stack_length` bytes */
	size_t stack_length;
	size_t stack_capacity;
	uint64_t total;
	bool is_open;     /* the last line does not end in a line feed */
	const char *name; /* name of the input; `line` is the current line number */
	uint64_t line;
	struct error *error;
};

static int out_of_memory(const struct import *import)
{
	return error_set(import->error, ERROR_MEMORY, "cannot read %s%s%s: out of memory", quote_mark(import->name),
			 import->name, quote_mark(import->name));
}

/* --- names --- */

/* Makes function, frame and location for a new name. */
static int64_t make_location(struct import *import, uint32_t name, bool is_main)
{
	struct profile *profile = import->profile;
	struct profile_function function = { .name = name, .role = is_main ? ROLE_MAIN : ROLE_NONE };
	int64_t function_id = profile_add_function(profile, &function);
	if (function_id < 0)
		return function_id;
	struct profile_frame frame = { .function = (uint32_t)function_id };
	int64_t frame_id = profile_add_frame(profile, &frame);
	int64_t location = frame_id < 0 ? frame_id : profile_add_location(profile, 0, name);
	if (location >= 0) {
		profile->locations[location].first_frame = (uint32_t)frame_id;
		profile->locations[location].frame_count = 1;
	}
	return location;
}

static int64_t location_of(struct import *import, const char *name, size_t length)
{
	int64_t id = strings_add(&import->profile->strings, name, length);
	if (id < 0)
		return id;
	size_t had = import->location_capacity;
	if (ARRAY_RESERVE(import->location_of, import->location_capacity, (size_t)id + 1) < 0)
		return ERROR_MEMORY;
	for (size_t i = had; i < import->location_capacity; i++)
		import->location_of[i] = PROFILE_NONE;
	if (import->location_of[id] != PROFILE_NONE)
		return import->location_of[id];
	int64_t location = make_location(import, (uint32_t)id, length == 4 && memcmp(name, "main", 4) == 0);
	if (location >= 0)
		import->location_of[id] = (uint32_t)location;
	return location;
}

/* --- lines --- */

static size_t common_length(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t limit = a_length < b_length ? a_length : b_length;
	size_t common = 0;
	uint64_t a_word, b_word;
	for (; limit - common >= sizeof(a_word); common += sizeof(a_word)) {
		memcpy(&a_word, a + common, sizeof(a_word));
		memcpy(&b_word, b + common, sizeof(b_word));
		if (a_word != b_word)
			break;
	}
	while (common < limit && a[common] == b[common])
		common++;
	return common;
}

/* Drops the frames that the new stack does not share. */
static void close_frames(struct import *import, const char *stack, size_t length)
{
	size_t common = common_length(import->stack, import->stack_length, stack, length);
	while (import->frame_count > 0) {
		size_t end = import->frames[import->frame_count - 1].end;
		if (end <= common && (end == length || stack[end] == ';'))
			break;
		import->frame_count--;
	}
}

/* Returns the node of a stack, or a negative error. */
static int64_t node_of(struct import *import, const char *stack, size_t length)
{
	close_frames(import, stack, length);
	size_t open = import->frame_count;
	uint32_t node = open ? import->frames[open - 1].node : PROFILE_ROOT;
	size_t next = open ? import->frames[open - 1].end + 1 : 0;
	while (next <= length) {
		const char *separator = memchr(stack + next, ';', length - next);
		size_t end = separator ? (size_t)(separator - stack) : length;
		int64_t location = location_of(import, stack + next, end - next);
		int64_t child = location < 0 ? location : profile_add_node(import->profile, node, (uint32_t)location);
		if (child < 0)
			return child;
		if (ARRAY_RESERVE(import->frames, import->frame_capacity, import->frame_count + 1) < 0)
			return ERROR_MEMORY;
		node = (uint32_t)child;
		import->frames[import->frame_count++] = (struct open_frame){ .end = end, .node = node };
		next = end + 1;
	}
	if (ARRAY_RESERVE(import->stack, import->stack_capacity, length) < 0)
		return ERROR_MEMORY;
	memcpy(import->stack, stack, length);
	import->stack_length = length;
	return node;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int refuse_line(const struct import *import, const char *what)
{
	return error_set(import->error, ERROR_FORMAT, "%s:%llu: expected 'a;b;c COUNT'%s", import->name,
			 (unsigned long long)import->line, what);
}

/* Splits "a;b;c 12" into the length of the stack and the count. */
static int split(const struct import *import, const char *line, size_t length, size_t *stack_length, uint64_t *count)
{
	size_t digits = length;
	while (digits > 0 && !is_blank(line[digits - 1]))
		digits--;
	size_t end = digits;
	while (end > 0 && is_blank(line[end - 1]))
		end--;
	if (end == 0 || digits == length)
		return refuse_line(import, "");
	*count = 0;
	for (size_t i = digits; i < length; i++) {
		if (line[i] == '.' && i > digits)
			return refuse_line(import, ", and COUNT is a whole number");
		if (line[i] < '0' || line[i] > '9')
			return refuse_line(import, "");
		*count = *count * 10 + (uint64_t)(line[i] - '0');
		if (*count > COUNT_LIMIT)
			return refuse_line(import, ", and COUNT is at most 2^48");
	}
	*stack_length = end;
	return 0;
}

/* A '#' begins a comment or the name of a root. With the name of a root, the line ends in a count. */
static bool is_comment(const char *line, size_t length)
{
	return line[0] == '#' && (length == 1 || is_blank(line[1]) || line[length - 1] < '0' || line[length - 1] > '9');
}

static int import_line(void *context, char *line, size_t length)
{
	struct import *import = context;
	bool is_open = line[length - 1] != '\n';
	while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r' || is_blank(line[length - 1])))
		length--;
	if (length == 0 || is_comment(line, length))
		return 0;
	import->is_open = is_open;
	if (memchr(line, 0, length))
		return refuse_line(import, ", not binary data");
	size_t stack_length = 0;
	uint64_t count = 0;
	int code = split(import, line, length, &stack_length, &count);
	if (code < 0 || count == 0)
		return code;
	import->total += count;
	if (import->total > PROFILE_HITS_MOST)
		return error_set(import->error, ERROR_LIMIT, "%s:%llu: the counts add up to more than 2^62",
				 import->name, (unsigned long long)import->line);
	int64_t node = node_of(import, line, stack_length);
	if (node < 0 || profile_add_hit(import->profile, 0, PROFILE_NONE, (uint32_t)node, 0, count) < 0)
		return out_of_memory(import);
	return 0;
}

/* --- the rest of the profile --- */

static int describe(struct profile *profile)
{
	enum { NAME, TITLE, UNIT, BACKEND, PROCESS, PATH, TEXTS };
	static const char *const texts[TEXTS] = { "samples", "Samples", "sample", "import", "imported", "[imported]" };
	uint32_t ids[TEXTS];
	for (size_t i = 0; i < TEXTS; i++) {
		int64_t added = profile_add_string(profile, texts[i]);
		if (added < 0)
			return ERROR_MEMORY;
		ids[i] = (uint32_t)added;
	}
	struct profile_resource resource = { .name = ids[NAME],
					     .title = ids[TITLE],
					     .unit = ids[UNIT],
					     .backend = ids[BACKEND],
					     .kind = RESOURCE_MERGED,
					     .interval = 1 };
	struct profile_process process = { .name = ids[PROCESS] };
	struct profile_module module = { .path = ids[PATH], .kind = MODULE_NAMES };
	if (profile_add_resource(profile, &resource) < 0 || profile_add_process(profile, &process) < 0 ||
	    profile_add_module(profile, &module) < 0)
		return ERROR_MEMORY;
	profile->symbolized = true;
	profile->ended = true;
	return 0;
}

/* Tools end each line. Where the last one does not end, it may have been cut within its count. */
static int note_open_line(struct import *import)
{
	static const char note[] = "the file does not end in a line feed: if it was cut, its last count is too small "
				   "and others are missing";
	int64_t text = import->is_open ? profile_add_string(import->profile, note) : 0;
	if (text < 0)
		return out_of_memory(import);
	import->profile->resources[0].note = (uint32_t)text;
	return 0;
}

static struct profile *folded_import(FILE *in, const char *name, const char *image, struct error *error)
{
	(void)image; /* names need no image */
	struct import import = { .profile = profile_new(), .name = name, .error = error };
	int code;
	if (!import.profile || describe(import.profile) < 0)
		code = out_of_memory(&import);
	else
		code = input_lines_read(in, name, &import.line, import_line, &import, error);
	if (code == 0)
		code = note_open_line(&import);
	free(import.location_of);
	free(import.frames);
	free(import.stack);
	if (code == 0)
		return import.profile;
	profile_free(import.profile);
	return NULL;
}

/* --- export --- */

struct line {
	size_t text; /* offset in `texts` */
	uint64_t hits;
};

struct export
{
	const struct call_paths *paths;
	struct buffer texts; /* the paths of the lines, each with its NUL */
	struct line *lines;
	size_t line_count;
	uint32_t *frames; /* room for the longest path */
};

/* Appends a name. One that consists of blanks becomes "[blank]", because readers ignore blanks before the count. */
static void append_name(struct buffer *texts, const char *name)
{
	if (name[0] && !name[strspn(name, " \t\r\n")])
		name = "[blank]";
	for (;;) {
		size_t plain = strcspn(name, ";\r\n");
		buffer_append(texts, name, plain);
		name += plain;
		if (!*name)
			return;
		buffer_append_byte(texts, *name++ == ';' ? ':' : ' ');
	}
}

static void append_path(struct export *export, uint32_t path)
{
	const struct call_paths *paths = export->paths;
	size_t length = call_paths_frames(paths, path, export->frames);
	if (length == 0)
		buffer_append_string(&export->texts, "[no stack]");
	for (size_t i = 0; i < length; i++) {
		if (i > 0)
			buffer_append_byte(&export->texts, ';');
		const char *name = paths->frames[export->frames[i]].function;
		/* "# x 5" would be a comment. */
		bool is_mark = i == 0 && name[0] == '#' && (name[1] ? strchr(" \t\r\n", name[1]) != NULL : length == 1);
		if (is_mark)
			buffer_append_string(&export->texts, "[#]");
		append_name(&export->texts, name + is_mark);
	}
	buffer_append_byte(&export->texts, 0);
}

static int make_lines(struct export *export)
{
	const struct call_paths *paths = export->paths;
	export->frames = malloc((paths->depth + 1) * sizeof(*export->frames));
	export->lines = malloc((paths->count + 1) * sizeof(*export->lines));
	if (!export->frames || !export->lines)
		return ERROR_MEMORY;
	for (uint32_t i = 0; i < paths->count; i++) {
		uint64_t hits = call_paths_values(paths, i)[0];
		if (hits == 0)
			continue;
		export->lines[export->line_count++] = (struct line){ .text = export->texts.size, .hits = hits };
		append_path(export, i);
	}
	return buffer_error(&export->texts);
}

static int compare_lines(const void *left, const void *right, void *texts)
{
	const struct line *a = left, *b = right;
	return strcmp((const char *)texts + a->text, (const char *)texts + b->text);
}

/*
 * Adds up the hits of equal lines: functions with one bare name, and names that are written alike,
 * are merged. A sum above COUNT_LIMIT takes several lines.
 */
static void write_lines(const struct export *export, struct sink *out)
{
	const char *texts = (const char *)export->texts.bytes;
	for (size_t i = 0, next; i < export->line_count && !sink_failed(out); i = next) {
		const char *text = texts + export->lines[i].text;
		uint64_t hits = 0;
		for (next = i; next < export->line_count && strcmp(texts + export->lines[next].text, text) == 0; next++)
			hits += export->lines[next].hits;
		for (uint64_t part; hits > 0; hits -= part) {
			part = hits < COUNT_LIMIT ? hits : COUNT_LIMIT;
			sink_printf(out, "%s %" PRIu64 "\n", text, part);
		}
	}
}

static int folded_export(const struct format_input *input, struct sink *out, struct error *error)
{
	struct export export = { .paths = input->paths };
	buffer_init(&export.texts);
	int code = make_lines(&export);
	if (code == 0) {
		qsort_r(export.lines, export.line_count, sizeof(*export.lines), compare_lines, export.texts.bytes);
		write_lines(&export, out);
	}
	buffer_release(&export.texts);
	free(export.lines);
	free(export.frames);
	return code < 0 ? error_set(error, code, "cannot export: %s", error_text(code)) : 0;
}

/* The first line that is neither empty nor a comment ends in a count, or there is none. A line
 * that is longer than the bytes that can be seen must be text. */
static bool folded_recognise(const unsigned char *start, size_t bytes)
{
	for (size_t at = 0, length; at < bytes; at += length + 1) {
		const char *line = (const char *)start + at;
		const char *end = memchr(line, '\n', bytes - at);
		length = end ? (size_t)(end - line) : bytes - at;
		size_t kept = length;
		if (memchr(line, 0, length))
			return false;
		while (kept > 0 && (line[kept - 1] == '\r' || is_blank(line[kept - 1])))
			kept--;
		if (kept == 0 || is_comment(line, kept))
			continue;
		if (!end && bytes >= IMPORT_STREAM_START_BYTES)
			return true;
		size_t number = kept;
		while (number > 0 && strchr("0123456789.", line[number - 1]))
			number--;
		return number < kept && number > 1 && is_blank(line[number - 1]);
	}
	return true;
}

const struct format format_folded = {
	.name = "folded",
	.title = "folded stacks",
	.ending = "folded",
	.summary = "one line per call path, 'main;f;g 12', as flame graph tools read and write",
	.options = FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION,
	.paths = FORMAT_BY_FUNCTION,
	.is_unmarked = true,
	.recognise = folded_recognise,
	.import = folded_import,
	.export = folded_export,
};
