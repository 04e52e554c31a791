/*
 * heaptrack's recording, as heaptrack and heaptrack_interpret write it: lines whose first letter
 * states their kind. Numbers are hexadecimal. Indexes count from 1, and 0 is none; the indexes
 * of allocations count from 0.
 *
 *     v 10400 3                          versions of heaptrack and of the file
 *     X ./prog 12                        the command
 *     s 6 _start                         a string: its length (since file version 3) and its text
 *     i 55ad479bf2ab 1 16 15 6 17 15 7   an address: module; function, file and line of each frame, innermost first; without debug
 *                                        information one function, or none. Addresses differ in each run, and the file does not
 *                                        have the module's own, so that code without a function is named after its module
 *     t 9 8                              a call path: its innermost address, and the path that called it
 *     a b 9                              allocations: bytes of each, and their path
 *     + 1                                one of these was made
 *     - 1                                ... or freed
 *     c 17                               milliseconds since the start, of the lines below
 *
 * Allocations of one time and kind are one hit. The time between two stamps doubles with every
 * STAMP_HITS hits, so that the length of a run does not bound the memory that its profile needs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "formats/format.h"
#include "formats/import_tree.h"
#include "formats/input.h"
#include "formats/input_text.h"

enum { VERSION_MOST = 3, VERSION_SIZED = 3, STAMP_HITS = 1 << 20, UNKNOWN_BYTES = 80 };

/* Allocations of one size and path. */
struct allocations {
	uint64_t bytes;        /* of each */
	uint64_t made, living; /* since the last stamp; at present */
	uint32_t node;
};

struct reader {
	struct import_tree tree;
	uint64_t line, version;
	uint32_t *strings, *locations, *nodes; /* by index - 1: ids in the profile */
	size_t string_count, string_capacity, location_count, location_capacity, node_count, node_capacity;
	struct allocations *allocations;
	size_t allocations_count, allocations_capacity;
	uint32_t *changed; /* indexes of allocations that were made since the last stamp */
	size_t changed_count, changed_capacity;
	struct import_frame *frames; /* of the address that is read */
	size_t frame_count, frame_capacity;
	uint64_t now_ms, stamp_ms, step_ms;
	size_t stamp_hits;             /* hits when the step was set */
	uint32_t count, bytes, leaked; /* resources */
};

static int refuse(const struct reader *reader, const char *what)
{
	return error_set(reader->tree.error, ERROR_FORMAT,
			 "%s:%" PRIu64 ": expected %s, as heaptrack_interpret writes it", reader->tree.name,
			 reader->line, what);
}

/* Reads a number behind a blank. Returns what follows it, or NULL. */
static const char *read_number(const char *text, uint64_t most, uint64_t *number)
{
	return *text == ' ' ? input_text_hex(text + 1, most, number) : NULL;
}

/* Appends an id to one of the tables. Returns 0 or a negative error. */
static int append_id(const struct reader *reader, uint32_t **ids, size_t *capacity, size_t *count, int64_t id)
{
	if (id < 0)
		return (int)id;
	if (ARRAY_RESERVE(*ids, *capacity, *count + 1) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	(*ids)[(*count)++] = (uint32_t)id;
	return 0;
}

/* --- tables --- */

static int read_string(struct reader *reader, const char *text, size_t length)
{
	const char *start = *text == ' ' ? text + 1 : NULL;
	uint64_t size = start ? length - 1 : 0;
	if (reader->version >= VERSION_SIZED) {
		const char *next = read_number(text, length, &size);
		start = next && *next == ' ' ? next + 1 : NULL;
		if (!start || (uint64_t)(text + length - start) != size)
			return refuse(reader, "a string of the length before it");
	}
	if (!start)
		return refuse(reader, "a string");
	int64_t id = strings_add(&reader->tree.profile->strings, start, size);
	return append_id(reader, &reader->strings, &reader->string_capacity, &reader->string_count,
			 id < 0 ? import_tree_fail(&reader->tree, (int)id) : id);
}

static const char *string_at(const struct reader *reader, uint64_t index)
{
	return index ? profile_string(reader->tree.profile, reader->strings[index - 1]) : "";
}

/* Reads a function, a file and a line, or a function alone. Code without a function has the name
 * `unknown`. Returns what follows, or NULL. */
static const char *read_frame(const struct reader *reader, const char *text, const char *unknown,
			      struct import_frame *frame)
{
	uint64_t function, file = 0, line = 0;
	text = read_number(text, reader->string_count, &function);
	if (text && *text) {
		text = read_number(text, reader->string_count, &file);
		text = text ? read_number(text, UINT32_MAX, &line) : NULL;
	}
	if (!text)
		return NULL;
	const char *name = function ? string_at(reader, function) : unknown;
	*frame = (struct import_frame){ .function = name,
					.function_bytes = strlen(name),
					.file = string_at(reader, file),
					.line = (uint32_t)line };
	return text;
}

static int read_address(struct reader *reader, const char *text)
{
	char unknown[UNKNOWN_BYTES];
	uint64_t address, module_index;
	const char *next = read_number(text, UINT64_MAX, &address);
	next = next ? read_number(next, reader->string_count, &module_index) : NULL;
	if (!next)
		return refuse(reader, "an address and the index of its module");
	const char *path = string_at(reader, module_index);
	snprintf(unknown, sizeof(unknown), path[0] ? "[unknown in %.60s]" : "[unknown code]", path_basename(path));
	reader->frame_count = 0;
	do {
		if (ARRAY_RESERVE(reader->frames, reader->frame_capacity, reader->frame_count + 1) < 0)
			return import_tree_fail(&reader->tree, ERROR_MEMORY);
		struct import_frame *frame = &reader->frames[reader->frame_count++];
		*frame = (struct import_frame){ .function = unknown, .function_bytes = strlen(unknown) };
		if (*next && !(next = read_frame(reader, next, unknown, frame)))
			return refuse(reader, "a function, a file and a line");
		frame->kind = input_text_kind(path);
	} while (*next);
	int64_t module = import_tree_module(&reader->tree, path);
	int64_t location =
		module < 0 ? module
			   : import_tree_location(&reader->tree, (uint32_t)module, reader->frames, reader->frame_count);
	return append_id(reader, &reader->locations, &reader->location_capacity, &reader->location_count, location);
}

static int read_path(struct reader *reader, const char *text)
{
	uint64_t location, parent;
	text = read_number(text, reader->location_count, &location);
	text = text ? read_number(text, reader->node_count, &parent) : NULL;
	if (!text || *text || location == 0)
		return refuse(reader, "the indexes of an address and of a path above");
	int64_t node = profile_add_node(reader->tree.profile, parent ? reader->nodes[parent - 1] : PROFILE_ROOT,
					reader->locations[location - 1]);
	return append_id(reader, &reader->nodes, &reader->node_capacity, &reader->node_count,
			 node < 0 ? import_tree_fail(&reader->tree, (int)node) : node);
}

static int read_allocations(struct reader *reader, const char *text)
{
	uint64_t bytes, path;
	text = read_number(text, PROFILE_HITS_MOST, &bytes);
	text = text ? read_number(text, reader->node_count, &path) : NULL;
	if (!text || *text)
		return refuse(reader, "a number of bytes and the index of a path");
	if (ARRAY_RESERVE(reader->allocations, reader->allocations_capacity, reader->allocations_count + 1) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	reader->allocations[reader->allocations_count++] =
		(struct allocations){ .bytes = bytes, .node = path ? reader->nodes[path - 1] : PROFILE_ROOT };
	return 0;
}

/* --- allocations --- */

/* Adds the hits of a number of allocations: one each, or their bytes. Sums beyond the limit are refused. */
static int add_hits(struct reader *reader, const struct allocations *row, uint32_t resource, uint64_t count)
{
	uint64_t amount = count;
	if (resource != reader->count && __builtin_mul_overflow(count, row->bytes, &amount))
		amount = UINT64_MAX;
	return import_tree_hit(&reader->tree, IMPORT_START_NS + reader->stamp_ms * 1000000, PROFILE_NONE, row->node,
			       resource, amount);
}

static int end_stamp(struct reader *reader)
{
	int code = 0;
	for (size_t i = 0; code == 0 && i < reader->changed_count; i++) {
		struct allocations *row = &reader->allocations[reader->changed[i]];
		code = add_hits(reader, row, reader->count, row->made);
		if (code == 0)
			code = add_hits(reader, row, reader->bytes, row->made);
		row->made = 0;
	}
	reader->changed_count = 0;
	reader->stamp_ms = reader->now_ms;
	if (reader->tree.profile->hit_count - reader->stamp_hits >= STAMP_HITS) {
		reader->stamp_hits = reader->tree.profile->hit_count;
		reader->step_ms *= 2;
	}
	return code;
}

static int read_time(struct reader *reader, const char *text)
{
	uint64_t ms;
	text = read_number(text, UINT32_MAX, &ms); /* 49 days */
	if (!text || *text)
		return refuse(reader, "a time in ms");
	reader->now_ms = ms > reader->now_ms ? ms : reader->now_ms;
	return reader->now_ms - reader->stamp_ms >= reader->step_ms ? end_stamp(reader) : 0;
}

static int read_event(struct reader *reader, const char *text, bool is_made)
{
	uint64_t index;
	text = read_number(text, UINT32_MAX, &index);
	if (!text || *text || index >= reader->allocations_count)
		return refuse(reader, "the index of an allocation above");
	struct allocations *row = &reader->allocations[index];
	if (!is_made) {
		row->living -= row->living > 0; /* it may have been made before heaptrack was attached */
		return 0;
	}
	row->living++;
	if (row->made++ > 0)
		return 0;
	return append_id(reader, &reader->changed, &reader->changed_capacity, &reader->changed_count, (int64_t)index);
}

/* --- the file --- */

static int read_version(struct reader *reader, const char *text)
{
	uint64_t tool;
	if (reader->version != 0)
		return refuse(reader, "one recording");
	text = read_number(text, UINT64_MAX, &tool);
	text = text ? read_number(text, UINT32_MAX, &reader->version) : NULL;
	if (!text || *text || reader->version == 0)
		return refuse(reader, "the versions of heaptrack and of the file");
	if (reader->version > VERSION_MOST)
		return error_set(reader->tree.error, ERROR_VERSION,
				 "%s:%" PRIu64 ": version %" PRIu64 " of heaptrack's files is too new (%d is read)",
				 reader->tree.name, reader->line, reader->version, VERSION_MOST);
	return 0;
}

static int add_command(struct reader *reader, const char *text)
{
	bool is_first = *text == ' ' && !profile_note(reader->tree.profile, "command");
	return is_first ? import_tree_command(&reader->tree, text + 1) : 0;
}

static int read_line(void *context, char *line, size_t length)
{
	struct reader *reader = context;
	if (line[length - 1] != '\n')
		return refuse(reader, "a whole line");
	length = input_text_end(line, length);
	if (memchr(line, 0, length))
		return refuse(reader, "text");
	if (reader->version == 0 && line[0] != 'v')
		return refuse(reader, "the versions of heaptrack and of the file");
	switch (line[0]) {
	case 'v':
		return read_version(reader, line + 1);
	case 's':
		return read_string(reader, line + 1, length - 1);
	case 'i':
		return read_address(reader, line + 1);
	case 't':
		return read_path(reader, line + 1);
	case 'a':
		return read_allocations(reader, line + 1);
	case '+':
	case '-':
		return read_event(reader, line + 1, line[0] == '+');
	case 'c':
		return read_time(reader, line + 1);
	case 'X':
		return add_command(reader, line + 1);
	case 'R': /* resident memory */
	case 'I': /* the machine */
	case 'A': /* heaptrack was attached */
	case 'S': /* a pattern for leaks that are not shown */
	case '#':
	case 0:
		return 0;
	case 'x':
	case 'm':
		return error_set(reader->tree.error, ERROR_FORMAT,
				 "%s:%" PRIu64 ": the recording is raw, without names of functions (pass it through "
				 "heaptrack_interpret)",
				 reader->tree.name, reader->line);
	default:
		return refuse(reader, "a line");
	}
}

static int add_resources(struct reader *reader)
{
	int code = import_tree_counted(&reader->tree, "allocs", "allocation", &reader->count);
	if (code == 0)
		code = import_tree_counted(&reader->tree, "alloc-bytes", "byte", &reader->bytes);
	return code == 0 ? import_tree_counted(&reader->tree, "leaked-bytes", "byte", &reader->leaked) : code;
}

/* Adds the hits of the last time and of the memory that was not freed. */
static int finish(struct reader *reader)
{
	struct profile *profile = reader->tree.profile;
	if (reader->version == 0)
		return refuse(reader, "the versions of heaptrack and of the file");
	int code = end_stamp(reader);
	for (size_t i = 0; code == 0 && i < reader->allocations_count; i++)
		code = add_hits(reader, &reader->allocations[i], reader->leaked, reader->allocations[i].living);
	profile->start_ns = IMPORT_START_NS;
	profile->end_ns = IMPORT_START_NS + (reader->now_ms + 1) * 1000000;
	return code;
}

static struct profile *heaptrack_import(FILE *in, const char *name, const char *image, struct error *error)
{
	(void)image; /* names need no image */
	struct reader reader = { .step_ms = 1 };
	int code = import_tree_open(&reader.tree, name, error);
	if (code == 0)
		code = add_resources(&reader);
	if (code == 0)
		code = input_lines_read(in, name, &reader.line, read_line, &reader, error);
	if (code == 0)
		code = finish(&reader);
	free(reader.strings);
	free(reader.locations);
	free(reader.nodes);
	free(reader.allocations);
	free(reader.changed);
	free(reader.frames);
	return import_tree_close(&reader.tree, code);
}

/* The first line has two versions. */
static bool heaptrack_recognise(const unsigned char *start, size_t bytes)
{
	enum { LINE_BYTES = 40 };
	char line[LINE_BYTES];
	const unsigned char *end = memchr(start, '\n', bytes < LINE_BYTES ? bytes : LINE_BYTES);
	if (!end || start[0] != 'v')
		return false;
	uint64_t tool, file;
	size_t length = (size_t)(end - start);
	memcpy(line, start, length);
	line[length] = 0;
	const char *next = read_number(line + 1, UINT64_MAX, &tool);
	next = next ? read_number(next, UINT32_MAX, &file) : NULL;
	return next && (!*next || *next == '\r');
}

const struct format format_heaptrack = {
	.name = "heaptrack",
	.title = "heaptrack's recording",
	.ending = "heaptrack",
	.summary = "the recording of heaptrack: allocations, their bytes and leaks by call path",
	.has_several = true,
	.recognise = heaptrack_recognise,
	.import = heaptrack_import,
};
