/*
 * The text that `cpprof trace` prints: one line per event.
 *
 *     0.001234 1234/worker read-bytes 4096 bytes read = 4096 tenant=acme (main;parse;read)
 *
 * The words of a line have a fixed order, with one blank between: the time since the start in seconds; the thread's number and
 * name; the resource; the amount and its unit; for a system call its name, '=' and its result; for a page fault "at" and the
 * address; the labels; the call path. Functions are joined by ';', and only they contain blanks.
 *
 * Amounts are counted, but for clocks, whose events are samples: all of one interval. The name of a system call becomes the innermost function of its path, unless the path ends in a function of
 * that name. Addresses and results are left out. Lines about lost events add up to the profile's losses.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/plural.h"
#include "base/time_unit.h"
#include "formats/format.h"
#include "formats/import_tree.h"
#include "formats/input.h"
#include "formats/input_text.h"

enum { NAME_BYTES = 128 };

/* A part of a line. */
struct word {
	const char *text;
	size_t bytes;
};

struct traced {
	uint64_t time_ns, amount;
	uint32_t tid;
	struct word thread, resource, unit, syscall;
	const char *labels, *path; /* the path begins with '(' and ends the line with ')' */
};

struct reader {
	struct import_tree tree;
	uint64_t line;
	struct profile_label *labels; /* of the event that is read */
	size_t label_count, label_capacity;
};

static int refuse(const struct reader *reader, const char *what)
{
	return error_set(reader->tree.error, ERROR_FORMAT, "%s:%" PRIu64 ": expected %s, as 'cpprof trace' prints it",
			 reader->tree.name, reader->line, what);
}

/* --- a line --- */

/* Returns the word at the text, which ends before a blank or with the line, and sets the text behind that blank. */
static struct word next_word(const char **text)
{
	struct word word = { *text, strcspn(*text, " ") };
	*text += word.bytes + ((*text)[word.bytes] == ' ');
	return word;
}

static bool is_word(const struct word *word, const char *text)
{
	return word->bytes == strlen(text) && memcmp(word->text, text, word->bytes) == 0;
}

/* Reads "0.001234 ". Returns what follows, or NULL. */
static const char *read_time(const char *line, uint64_t *time_ns)
{
	const char *rest = strchr(line, '.') ? input_text_seconds(line, time_ns) : NULL;
	return rest && *rest == ' ' ? rest + 1 : NULL;
}

/* Reads a line about an event. Returns whether it is one. */
static bool read_event(const char *line, size_t length, struct traced *event)
{
	uint64_t tid;
	*event = (struct traced){ 0 };
	const char *text = read_time(line, &event->time_ns);
	const char *after = text ? input_text_number(text, UINT32_MAX, &tid) : NULL;
	if (!after || (*after != ' ' && *after != '/') || length == 0 || line[length - 1] != ')')
		return false;
	event->tid = (uint32_t)tid;
	text = after + 1;
	if (*after == '/')
		event->thread = next_word(&text);
	event->resource = next_word(&text);
	after = input_text_number(text, PROFILE_HITS_MOST, &event->amount);
	if (!after || *after != ' ' || event->resource.bytes == 0 || event->resource.bytes >= NAME_BYTES)
		return false;
	text = after + 1;
	event->unit = next_word(&text);
	/* "read = 4096 " */
	const char *behind = text;
	struct word name = next_word(&behind), equals = next_word(&behind), result = next_word(&behind);
	if (is_word(&equals, "=") && result.bytes > 0) {
		event->syscall = name;
		text = behind;
	}
	behind = text;
	struct word at = next_word(&behind), address = next_word(&behind);
	if (is_word(&at, "at") && address.bytes > 2 && memcmp(address.text, "0x", 2) == 0)
		text = behind;
	event->labels = text;
	while (*text && *text != '(')
		next_word(&text);
	event->path = text;
	return event->unit.bytes > 0 && event->unit.bytes < NAME_BYTES && *text == '(';
}

/* --- the profile --- */

/* Copies a word as text that ends in NUL; a word that is too long is cut. */
static const char *text_of(char text[NAME_BYTES], const struct word *word)
{
	size_t bytes = word->bytes < NAME_BYTES - 1 ? word->bytes : NAME_BYTES - 1;
	if (bytes > 0)
		memcpy(text, word->text, bytes);
	text[bytes] = 0;
	return text;
}

/* Replaces a unit by its singular, with which it agrees behind an amount of 1: "bytes", "misses". */
static void make_singular(char *unit, uint64_t amount)
{
	size_t length = strlen(unit);
	for (size_t cut = 1; cut < 3 && cut < length && amount != 1; cut++) {
		char singular[NAME_BYTES];
		memcpy(singular, unit, length - cut);
		singular[length - cut] = 0;
		if (strcmp(plural_ending(singular, 2), unit + length - cut) == 0) {
			unit[length - cut] = 0;
			return;
		}
	}
}

static int64_t resource_of(struct reader *reader, const struct traced *event)
{
	const struct profile *profile = reader->tree.profile;
	char name[NAME_BYTES], unit[NAME_BYTES];
	uint32_t id = profile_find_resource(profile, text_of(name, &event->resource));
	if (id != PROFILE_NONE)
		return id;
	text_of(unit, &event->unit);
	if (time_unit_ns(unit) > 0)
		return import_tree_resource(&reader->tree, name, unit);
	make_singular(unit, event->amount);
	int status = import_tree_counted(&reader->tree, name, unit, &id);
	return status < 0 ? status : (int64_t)id;
}

static int64_t add_function(struct reader *reader, uint32_t node, const char *name, size_t bytes)
{
	const struct import_frame frame = { .function = name, .function_bytes = bytes };
	int64_t module = import_tree_module(&reader->tree, "");
	int64_t location = module < 0 ? module : import_tree_location(&reader->tree, (uint32_t)module, &frame, 1);
	int64_t child = location < 0 ? location : profile_add_node(reader->tree.profile, node, (uint32_t)location);
	return location >= 0 && child < 0 ? import_tree_fail(&reader->tree, (int)child) : child;
}

/* Returns the node of "(main;parse;read)", or a negative error. */
static int64_t add_path(struct reader *reader, const struct traced *event)
{
	struct word name = { event->path + 1, 0 };
	int64_t node = PROFILE_ROOT;
	while (node >= 0 && *name.text) {
		const char *end = name.text + strcspn(name.text, ";");
		name.bytes = (size_t)(end - name.text) - (*end == 0); /* without the ')' */
		if (name.bytes > 0)
			node = add_function(reader, (uint32_t)node, name.text, name.bytes);
		if (*end == 0 && event->syscall.bytes > 0 && node >= 0 &&
		    (name.bytes != event->syscall.bytes || memcmp(name.text, event->syscall.text, name.bytes) != 0))
			node = add_function(reader, (uint32_t)node, event->syscall.text, event->syscall.bytes);
		name.text = end + (*end == ';');
	}
	return node;
}

/* Collects "tenant=acme kind=new ". */
static int read_labels(struct reader *reader, const struct traced *event)
{
	struct profile *profile = reader->tree.profile;
	reader->label_count = 0;
	for (const char *text = event->labels; text < event->path;) {
		struct word word = next_word(&text);
		const char *equals = memchr(word.text, '=', word.bytes);
		if (!equals)
			return refuse(reader, "KEY=VALUE for a label");
		int64_t key = strings_add(&profile->strings, word.text, (size_t)(equals - word.text));
		int64_t value =
			strings_add(&profile->strings, equals + 1, word.bytes - (size_t)(equals + 1 - word.text));
		if (key < 0 || value < 0 ||
		    ARRAY_RESERVE(reader->labels, reader->label_capacity, reader->label_count + 1) < 0)
			return import_tree_fail(&reader->tree, ERROR_MEMORY);
		reader->labels[reader->label_count++] =
			(struct profile_label){ .key = (uint32_t)key, .value = (uint32_t)value };
	}
	return 0;
}

static int add_event(struct reader *reader, const struct traced *event)
{
	struct profile *profile = reader->tree.profile;
	char name[NAME_BYTES];
	int64_t thread = import_tree_thread(&reader->tree, 0, event->tid, "traced", text_of(name, &event->thread));
	int64_t resource = thread < 0 ? thread : resource_of(reader, event);
	int64_t node = resource < 0 ? resource : add_path(reader, event);
	int status = node < 0 ? (int)node : read_labels(reader, event);
	size_t first = profile->hit_count;
	uint64_t time_ns = event->time_ns + IMPORT_START_NS;
	if (status < 0 || event->amount == 0)
		return status;
	status = import_tree_hit(&reader->tree, time_ns, (uint32_t)thread, (uint32_t)node, (uint32_t)resource,
				 event->amount);
	if (status < 0 || reader->label_count == 0)
		return status;
	int64_t set = profile_add_label_set(profile, reader->labels, reader->label_count);
	if (set < 0 || profile_label_hits(profile, first, (uint32_t)set) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	return 0;
}

/* Reads "0.001234 lost 12 events: ...". Returns whether the line is so. */
static bool read_lost(const char *line, uint64_t *lost)
{
	uint64_t time_ns;
	const char *text = read_time(line, &time_ns);
	if (!text || strncmp(text, "lost ", 5) != 0)
		return false;
	text = input_text_number(text + 5, PROFILE_HITS_MOST, lost);
	return text && strncmp(text, " event", 6) == 0;
}

static int read_line(void *context, char *line, size_t length)
{
	struct reader *reader = context;
	struct profile *profile = reader->tree.profile;
	struct traced event;
	uint64_t lost = 0;
	length = input_text_end(line, length);
	if (memchr(line, 0, length))
		return refuse(reader, "text");
	if (length == 0)
		return 0;
	if (read_lost(line, &lost)) {
		profile->lost += lost;
		return 0;
	}
	if (!read_event(line, length, &event))
		return refuse(reader, "'TIME THREAD RESOURCE AMOUNT UNIT ... (PATH)'");
	if (event.time_ns + IMPORT_START_NS > profile->end_ns)
		profile->end_ns = event.time_ns + IMPORT_START_NS;
	return add_event(reader, &event);
}

/* Times whose amounts differ were measured, and not sampled. */
static int tell_clocks(struct import_tree *tree)
{
	const struct profile *profile = tree->profile;
	int status = 0;
	import_tree_find_intervals(tree);
	for (uint32_t i = 0; i < profile->resource_count && status == 0; i++)
		if (profile->resources[i].interval == 1)
			status = import_tree_amounts(tree, i, IMPORT_EXACT);
	return status;
}

static struct profile *trace_text_import(FILE *in, const char *name, const char *image, struct error *error)
{
	(void)image; /* names need no image */
	struct reader reader = { 0 };
	int code = import_tree_open(&reader.tree, name, error);
	if (code == 0) {
		reader.tree.profile->start_ns = IMPORT_START_NS;
		code = input_lines_read(in, name, &reader.line, read_line, &reader, error);
	}
	if (code == 0)
		code = tell_clocks(&reader.tree);
	free(reader.labels);
	return import_tree_close(&reader.tree, code);
}

static bool trace_text_recognise(const unsigned char *start, size_t bytes)
{
	enum { LINE_BYTES = 4096 };
	char line[LINE_BYTES];
	struct traced event;
	uint64_t lost;
	const unsigned char *end = memchr(start, '\n', bytes);
	size_t length = end ? (size_t)(end - start) : bytes;
	if (length >= sizeof(line) || memchr(start, 0, length))
		return false;
	memcpy(line, start, length);
	line[length] = 0;
	return read_event(line, length, &event) || read_lost(line, &lost);
}

const struct format format_trace_text = {
	.name = "trace",
	.title = "cpprof trace's text",
	.ending = "txt",
	.summary = "the events that 'cpprof trace' prints: amounts by call path, thread, time and label",
	.has_several = true,
	.recognise = trace_text_recognise,
	.import = trace_text_import,
};
