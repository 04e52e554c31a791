/*
 * The text that `perf script` prints: one paragraph per sample, a line about the sample and then
 * its frames, innermost first.
 *
 *     prog 4711/4712 [001] 1234.567890:     250000 cpu-clock:uppp:
 *             55d0c0de burn+0x1d (/path/prog)
 *             55d0c111 helper (inlined)
 *             55d0c111 main+0x2f (/path/prog)
 *
 * The line begins with the thread's name, which may contain blanks, and has its number, or the numbers
 * of process and thread. The CPU, the time in seconds and the period may be absent (`perf script -F`).
 * Without call chains, the only frame may follow the event in its line. The line of a source (-F +srcline) is left out, and so are
 * the lines of records that are no samples (--show-mmap-events). A name may contain line feeds. A frame of code without a symbol is
 * "[unknown]". The kind of an event, without what follows the first ':', becomes the resource that it has in a perf.data, or one
 * of its name. The period becomes the hits of the sample.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/perf_data/perf_data.h"
#include "formats/format.h"
#include "formats/import_tree.h"
#include "formats/input.h"
#include "formats/input_text.h"

enum { EVENT_BYTES = 128 };

/* The line about a sample. */
struct head {
	const char *name; /* of the thread; not terminated */
	size_t name_bytes;
	uint32_t pid, tid;
	uint64_t time_ns, period;
	char event[EVENT_BYTES];
	const char *rest; /* behind the event: a frame, if perf prints no call chain */
	bool is_record;   /* the line is about a record that is no sample: --show-mmap-events and the like */
	bool is_tracepoint;
};

struct reader {
	struct import_tree tree;
	uint64_t line;
	struct head head;
	bool in_sample, in_record;
	struct buffer name_start; /* lines that may be the beginning of a thread's name */
	uint64_t name_line;       /* ... and the number of the first one */
	uint32_t thread, resource;
	uint32_t events[IMPORT_RESOURCES_MOST]; /* by resource: the string of its event */
	uint32_t *locations;                    /* of the sample, innermost first */
	size_t location_count, location_capacity;
	struct import_frame *frames; /* of the location that is read; their names lie in `texts` */
	size_t frame_count, frame_capacity;
	struct buffer texts; /* names of frames, each with its NUL */
	size_t *text_at;     /* per frame: where its name begins */
	size_t text_capacity;
};

static int refuse(const struct reader *reader, const char *what)
{
	return error_set(reader->tree.error, ERROR_FORMAT, "%s:%" PRIu64 ": expected %s, as 'perf script' prints it",
			 reader->tree.name, reader->line, what);
}

/* --- the line about a sample --- */

/* Reads "4711" or "4711/4712", followed by a blank. */
static const char *read_ids(const char *text, struct head *head)
{
	uint64_t first, second;
	const char *next = input_text_number(text, UINT32_MAX, &first);
	if (!next)
		return NULL;
	second = first;
	if (*next == '/') {
		next = input_text_number(next + 1, UINT32_MAX, &second);
		if (!next)
			return NULL;
	}
	head->pid = (uint32_t)first;
	head->tid = (uint32_t)second;
	return input_text_is_blank(*next) ? input_text_skip_blanks(next) : NULL;
}

/* Reads "1234.567890:", in seconds with 6 or 9 digits behind the point. */
static const char *read_time(const char *text, uint64_t *time_ns)
{
	const char *next = input_text_seconds(text, time_ns);
	return next && *next == ':' ? input_text_skip_blanks(next + 1) : NULL;
}

/* Returns whether these are modifiers of an event: each letter once, p up to three times. "ee" is a tracepoint. */
static bool are_modifiers(const char *text, size_t length)
{
	static const char letters[] = "ukhGHIpppPSDWeb";
	for (size_t i = 0; i < length; i++) {
		size_t room = 0, used = 0;
		for (const char *at = letters; *at; at++)
			room += *at == text[i];
		for (size_t k = 0; k <= i; k++)
			used += text[k] == text[i];
		if (used > room)
			return false;
	}
	return true;
}

/* Reads what follows the ids. Returns false if it is not about a sample. */
static bool read_after_ids(const char *text, struct head *head)
{
	if (*text == '[') {
		uint64_t cpu;
		const char *end = input_text_number(text + 1, UINT32_MAX, &cpu);
		if (!end || *end != ']')
			return false;
		text = input_text_skip_blanks(end + 1);
	}
	const char *after_time = read_time(text, &head->time_ns);
	text = after_time ? after_time : text;
	const char *after_period = input_text_number(text, PROFILE_HITS_MOST, &head->period);
	if (after_period && input_text_is_blank(*after_period))
		text = input_text_skip_blanks(after_period);
	else
		head->period = 1;
	head->is_record = strncmp(text, "PERF_RECORD_", strlen("PERF_RECORD_")) == 0;
	if (head->is_record)
		return true;
	/* "cpu-clock:uppp:", "sched:sched_switch:", "cycles:" */
	size_t length = strcspn(text, " \t");
	if (length < 2 || text[length - 1] != ':')
		return false;
	head->rest = input_text_skip_blanks(text + length);
	const char *colon = memchr(text, ':', length);
	size_t kept = (size_t)(colon - text);
	/* A tracepoint has its group in front of the colon; otherwise, modifiers follow it. */
	const char *second = memchr(colon + 1, ':', length - kept - 1);
	head->is_tracepoint = second && !are_modifiers(colon + 1, (size_t)(second - colon - 1));
	if (head->is_tracepoint)
		kept = (size_t)(second - text);
	if (kept == 0 || kept >= sizeof(head->event))
		return false;
	memcpy(head->event, text, kept);
	head->event[kept] = 0;
	return true;
}

/* The name ends at the first word that can be the ids, and after which the line goes on as one about a sample does. */
static bool read_head(const char *line, struct head *head)
{
	const char *start = input_text_skip_blanks(line);
	for (const char *at = start; *at; at++) {
		if (at == start || !input_text_is_blank(at[-1]) || *at < '0' || *at > '9')
			continue;
		*head = (struct head){ .name = start, .name_bytes = (size_t)(at - start) };
		while (head->name_bytes > 0 && input_text_is_blank(start[head->name_bytes - 1]))
			head->name_bytes--;
		const char *next = read_ids(at, head);
		if (next && read_after_ids(next, head))
			return true;
	}
	return false;
}

/* --- frames --- */

static int add_frame(struct reader *reader, const char *name, size_t bytes, enum frame_kind kind)
{
	size_t index = reader->frame_count;
	if (ARRAY_RESERVE(reader->frames, reader->frame_capacity, index + 1) < 0 ||
	    ARRAY_RESERVE(reader->text_at, reader->text_capacity, index + 1) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	reader->text_at[index] = reader->texts.size;
	buffer_append(&reader->texts, name, bytes);
	buffer_append_byte(&reader->texts, 0);
	reader->frames[index] = (struct import_frame){ .function_bytes = bytes, .kind = kind };
	reader->frame_count++;
	return buffer_error(&reader->texts) < 0 ? import_tree_fail(&reader->tree, ERROR_MEMORY) : 0;
}

/* Makes a location of the frames since the last one. */
static int end_location(struct reader *reader, const char *module_path)
{
	for (size_t i = 0; i < reader->frame_count; i++)
		reader->frames[i].function = (const char *)reader->texts.bytes + reader->text_at[i];
	int64_t module = import_tree_module(&reader->tree, module_path);
	int64_t location =
		module < 0 ? module
			   : import_tree_location(&reader->tree, (uint32_t)module, reader->frames, reader->frame_count);
	if (location < 0)
		return (int)location;
	if (ARRAY_RESERVE(reader->locations, reader->location_capacity, reader->location_count + 1) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	reader->locations[reader->location_count++] = (uint32_t)location;
	reader->frame_count = 0;
	buffer_clear(&reader->texts);
	return 0;
}

/* Returns whether the text begins with an address. */
static bool begins_frame(const char *text)
{
	size_t digits = strspn(text, "0123456789abcdef");
	return digits > 0 && (!text[digits] || input_text_is_blank(text[digits]));
}

/* Reads "55d0c0de burn+0x1d (/path/prog)" or "55d0c111 helper (inlined)". The text is changed. */
static int read_frame(struct reader *reader, char *text)
{
	static const char INLINED[] = "inlined";
	size_t digits = strspn(text, "0123456789abcdef");
	if (!begins_frame(text))
		return refuse(reader, "an address and a name");
	char *name = text + digits + strspn(text + digits, " \t");
	size_t length = strlen(name);
	/* The last " (" begins the module; a name of C++ has parentheses, too, but no blank in
	 * front of them at its end. */
	char *open = NULL;
	if (length > 0 && name[length - 1] == ')')
		for (char *at = name; (at = strstr(at, "(")); at++)
			if (at == name || input_text_is_blank(at[-1]))
				open = at;
	const char *module = "";
	if (open) {
		name[length - 1] = 0;
		module = open + 1;
		length = (size_t)(open - name);
		while (length > 0 && input_text_is_blank(name[length - 1]))
			length--;
	}
	bool is_inlined = strcmp(module, INLINED) == 0;
	bool is_unknown = length == 9 && memcmp(name, "[unknown]", 9) == 0;
	module = strcmp(module, "[unknown]") == 0 ? "" : module;
	if (!is_inlined)
		length = input_text_without_offset(name, length);
	int code;
	if (is_unknown || length == 0) {
		char address[INPUT_TEXT_ADDRESS_BYTES];
		size_t bytes = input_text_address(address, module, text, digits);
		code = add_frame(reader, address, bytes, input_text_kind(module));
	} else {
		code = add_frame(reader, name, length, input_text_kind(module));
	}
	return code < 0 || is_inlined ? code : end_location(reader, module);
}

/* --- samples --- */

/* Adds the resource of an event. A second event of the same resource keeps its own name, as in a perf.data, with a number if it is that of another
 * event's resource. */
static int64_t add_resource(struct reader *reader, const char *event)
{
	struct profile *profile = reader->tree.profile;
	struct perf_data_resource known;
	char name[sizeof(reader->head.event) + 16];
	bool is_ours = perf_data_resource(event, &known) && profile_find_resource(profile, known.name) == PROFILE_NONE;
	snprintf(name, sizeof(name), "%s", is_ours ? known.name : event);
	for (unsigned i = 2; profile_find_resource(profile, name) != PROFILE_NONE; i++)
		snprintf(name, sizeof(name), "%s-%u", event, i);
	int64_t id = import_tree_resource(&reader->tree, name, is_ours ? known.unit : "event");
	int64_t title = id < 0 || !is_ours ? 0 : profile_add_string(profile, known.title);
	if (title < 0)
		return import_tree_fail(&reader->tree, (int)title);
	if (title > 0)
		profile->resources[id].title = (uint32_t)title;
	return id;
}

static int64_t resource_of(struct reader *reader, const char *event)
{
	int64_t name = profile_add_string(reader->tree.profile, event);
	if (name < 0)
		return import_tree_fail(&reader->tree, (int)name);
	for (uint32_t i = 0; i < reader->tree.profile->resource_count; i++)
		if (reader->events[i] == (uint32_t)name)
			return i;
	int64_t id = add_resource(reader, event);
	if (id >= 0)
		reader->events[id] = (uint32_t)name;
	return id;
}

static int begin_sample(struct reader *reader)
{
	const struct head *head = &reader->head;
	struct profile *profile = reader->tree.profile;
	char name[64];
	snprintf(name, sizeof(name), "%.*s",
		 (int)(head->name_bytes < sizeof(name) ? head->name_bytes : sizeof(name) - 1), head->name);
	int64_t thread = import_tree_thread(&reader->tree, head->pid, head->tid, name, name);
	int64_t resource = thread < 0 ? thread : resource_of(reader, head->event);
	if (resource < 0)
		return (int)resource;
	reader->thread = (uint32_t)thread;
	reader->resource = (uint32_t)resource;
	reader->location_count = 0;
	reader->in_sample = true;
	if (head->time_ns && (!profile->start_ns || head->time_ns < profile->start_ns))
		profile->start_ns = head->time_ns;
	if (head->time_ns > profile->end_ns)
		profile->end_ns = head->time_ns;
	return 0;
}

static int end_sample(struct reader *reader)
{
	uint32_t node = PROFILE_ROOT;
	if (!reader->in_sample)
		return 0;
	int code =
		reader->frame_count > 0 ? end_location(reader, "") : 0; /* the text was cut behind an inlined frame */
	for (size_t i = reader->location_count; code == 0 && i > 0; i--) {
		int64_t child = profile_add_node(reader->tree.profile, node, reader->locations[i - 1]);
		if (child < 0)
			return import_tree_fail(&reader->tree, (int)child);
		node = (uint32_t)child;
	}
	reader->in_sample = false;
	return code < 0 ? code
			: import_tree_hit(&reader->tree, reader->head.time_ns, reader->thread, node, reader->resource,
					  reader->head.period);
}

/* Reads the frame behind the event. The fields of a tracepoint are none. */
static int read_only_frame(struct reader *reader, char *text)
{
	enum { ADDRESS_DIGITS_LEAST = 8 };
	size_t least = reader->head.is_tracepoint ? ADDRESS_DIGITS_LEAST : 1;
	bool is_frame = begins_frame(text) && strspn(text, "0123456789abcdef") >= least;
	return is_frame ? read_frame(reader, text) : 0;
}

/* Reads a line that begins a sample, or another record, behind its head. */
static int take_head(struct reader *reader, const struct head *head, char *line)
{
	int code = end_sample(reader);
	reader->head = *head;
	reader->in_record = reader->head.is_record;
	if (code == 0 && !reader->in_record)
		code = begin_sample(reader);
	if (code == 0 && !reader->in_record)
		code = read_only_frame(reader, line + (reader->head.rest - line));
	return code;
}

/* Returns whether a text can be a part of a thread's name, before a line feed in it. */
static bool may_be_name(const char *text)
{
	enum { NAME_BYTES_MOST = 15 };
	return strlen(input_text_skip_blanks(text)) < NAME_BYTES_MOST;
}

static int refuse_head(struct reader *reader)
{
	if (reader->name_start.size > 0)
		reader->line = reader->name_line;
	return refuse(reader, "'COMMAND PID TIME: EVENT:'");
}

/* Reads a line that is not about a sample, but may begin one or go on with it: the thread's name may contain line feeds. */
static int read_name_part(struct reader *reader, const char *line, size_t length)
{
	struct buffer *start = &reader->name_start;
	if (start->size == 0)
		reader->name_line = reader->line;
	buffer_append(start, line, length);
	buffer_append_byte(start, 0);
	if (buffer_error(start) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	char *text = (char *)start->bytes;
	struct head head;
	if (read_head(text, &head)) {
		int code = take_head(reader, &head, text);
		buffer_clear(start);
		return code;
	}
	if (!may_be_name(text))
		return refuse_head(reader);
	start->bytes[start->size - 1] = '\n';
	return 0;
}

/* Returns whether the text is the place of the frame above: "prog.c:12", "prog.c:12 (inlined)", "prog[1139]". The text is changed. */
static bool is_source_line(char *text)
{
	char *inlined = strstr(text, " (inlined)");
	if (inlined)
		*inlined = 0;
	size_t length = strlen(text);
	bool in_brackets = length > 0 && text[length - 1] == ']';
	const char *mark = strrchr(text, in_brackets ? '[' : ':');
	return mark && mark > text && strspn(mark + 1, "0123456789abcdef") == strlen(mark + 1) - in_brackets;
}

/* Reads a line behind the head of a sample or of another record. Returns 1 if it is neither a frame nor another part of it. */
static int read_indented(struct reader *reader, char *line)
{
	char *text = line + strspn(line, " \t");
	bool is_frame = line[0] == '\t' || begins_frame(text);
	if (reader->in_record && line[0] == '\t')
		return 0;
	if (!reader->in_sample || !input_text_is_blank(line[0]))
		return 1;
	if (is_frame)
		return read_frame(reader, text);
	return is_source_line(text) ? 0 : 1;
}

static int read_line(void *context, char *line, size_t length)
{
	struct reader *reader = context;
	if (line[length - 1] != '\n')
		return refuse(reader, "a whole line");
	length = input_text_end(line, length);
	if (memchr(line, 0, length))
		return refuse(reader, "text");
	if (reader->name_start.size > 0)
		return read_name_part(reader, line, length);
	if (!*input_text_skip_blanks(line)) {
		reader->in_record = false;
		return end_sample(reader);
	}
	if (line[0] == '#' && !reader->in_sample)
		return 0;
	/* perf fills the names of threads up with blanks if the samples have no call chains, and begins frames with a tab. */
	struct head head;
	if (line[0] != '\t' && read_head(line, &head))
		return take_head(reader, &head, line);
	int code = read_indented(reader, line);
	return code == 1 ? read_name_part(reader, line, length) : code;
}

static struct profile *perf_script_import(FILE *in, const char *name, const char *image, struct error *error)
{
	(void)image; /* names need no image */
	struct reader reader = { 0 };
	buffer_init(&reader.texts);
	buffer_init(&reader.name_start);
	int code = import_tree_open(&reader.tree, name, error);
	if (code == 0)
		code = input_lines_read(in, name, &reader.line, read_line, &reader, error);
	if (code == 0 && reader.name_start.size > 0)
		code = refuse_head(&reader);
	if (code == 0)
		code = end_sample(&reader);
	if (code == 0)
		import_tree_find_intervals(&reader.tree);
	free(reader.locations);
	free(reader.frames);
	free(reader.text_at);
	buffer_release(&reader.texts);
	buffer_release(&reader.name_start);
	return import_tree_close(&reader.tree, code);
}

/* perf script --header begins in comments, which may be longer than the bytes. The first line that is neither empty nor a comment is about a
 * sample, or is the beginning of the thread's name. */
static bool perf_script_recognise(const unsigned char *start, size_t bytes)
{
	enum { LINE_BYTES = 1024 };
	char line[LINE_BYTES];
	struct head head;
	static const char mark[] = "# ========\n# captured on";
	size_t first = 0;
	if (bytes >= sizeof(mark) - 1 && memcmp(start, mark, sizeof(mark) - 1) == 0)
		return true;
	for (size_t at = 0, length; at < bytes; at += length + 1) {
		const unsigned char *end = memchr(start + at, '\n', bytes - at);
		length = end ? (size_t)(end - start) - at : bytes - at;
		if (first == at && (length == 0 || start[at] == '#')) {
			first = at + length + 1;
			continue;
		}
		if (at + length - first >= sizeof(line) || memchr(start + at, 0, length))
			return false;
		memcpy(line, start + first, at + length - first);
		line[at + length - first] = 0;
		if (read_head(line, &head))
			return true;
		if (!may_be_name(line))
			return false;
	}
	return false;
}

const struct format format_perf_script = {
	.name = "perf-script",
	.title = "perf script's text",
	.ending = "txt",
	.summary = "what 'perf script' prints of its recordings",
	.recognise = perf_script_recognise,
	.import = perf_script_import,
};
