/*
 * Firefox's processed profile, read. Its tables are columns: list `prefix` of the table of stacks
 * has the caller of each stack, list `frame` its frame, and so on. Since version 57 the threads
 * share them; before, each thread has its own.
 *
 *   stacks    become nodes, each once for each table. A frame with inlineDepth above 0 is inlined into the frame of its prefix
 *   samples   become hits with their times. A thread with weights has a resource of its weight type: time, bytes or samples. As
 *             cpprof writes it, a thread states its resource, and its name may end in the title: "prog: CPU Time"
 *
 * Times are milliseconds and become nanoseconds. Markers, counters, and the samples of allocations
 * beside the samples of time are left out.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "formats/json_import.h"

/* Frames of one location: damaged files do not become quadratic. */
enum { INLINED_MOST = 256 };

static const long double NS_IN_MS = 1e6L;

/* The columns of the tables that samples refer to. NULL: the file has none. */
struct columns {
	const struct json_node *prefix, *stack_frame;                               /* of stackTable */
	const struct json_node *function, *line, *depth, *category;                 /* of frameTable */
	const struct json_node *name, *library, *source, *file_name, *defined_line; /* of funcTable */
	const struct json_node *resource_library;                                   /* of resourceTable */
	const struct json_node *source_name;                                        /* of sources */
	const struct json_node *strings;
};

struct stack {
	uint32_t prefix;  /* index of a stack, or PROFILE_NONE */
	uint32_t frame;   /* index of a frame */
	uint32_t node;    /* PROFILE_NONE: not made yet */
	uint32_t inlined; /* how many frames up to the one that it is inlined into; 0: it is not */
};

struct reader {
	struct json_import import;
	bool is_ours;
	struct columns columns;
	const struct json_node *stack_table; /* that `stacks` was made of */
	struct stack *stacks;
	size_t stack_count, stack_capacity;
	struct import_frame *frames; /* of the location that is made */
	uint32_t *chain;             /* of stacks that get their nodes */
	size_t frame_capacity, chain_capacity;
	size_t number; /* of the thread */
};

/* --- tables --- */

/* Returns the table of a thread, or the one that the threads share. */
static const struct json_node *table_of(const struct reader *reader, const struct json_node *thread, const char *name)
{
	const struct json_node *own = json_node_member(thread, name);
	return own ? own : json_node_member(json_node_member(reader->import.document, "shared"), name);
}

static void find_columns(struct reader *reader, const struct json_node *thread)
{
	const struct json_node *stacks = table_of(reader, thread, "stackTable"),
			       *frames = table_of(reader, thread, "frameTable");
	const struct json_node *functions = table_of(reader, thread, "funcTable");
	reader->columns = (struct columns){
		.prefix = json_node_member(stacks, "prefix"),
		.stack_frame = json_node_member(stacks, "frame"),
		.function = json_node_member(frames, "func"),
		.line = json_node_member(frames, "line"),
		.depth = json_node_member(frames, "inlineDepth"),
		.category = json_node_member(frames, "category"),
		.name = json_node_member(functions, "name"),
		.library = json_node_member(functions, "resource"),
		.source = json_node_member(functions, "source"),
		.file_name = json_node_member(functions, "fileName"),
		.defined_line = json_node_member(functions, "lineNumber"),
		.resource_library = json_node_member(table_of(reader, thread, "resourceTable"), "lib"),
		.source_name = json_node_member(table_of(reader, thread, "sources"), "filename"),
		.strings = table_of(reader, thread, "stringArray"),
	};
}

/* Returns element `index` of a column, or PROFILE_NONE. */
static uint32_t cell(const struct json_node *column, uint32_t index)
{
	return json_import_index(column, index, PROFILE_NONE);
}

/* Returns the string that a column refers to, or NULL. */
static const char *text_at(const struct reader *reader, const struct json_node *column, uint32_t index)
{
	uint32_t string = cell(column, index);
	return string == PROFILE_NONE ? NULL : json_node_text(json_node_element(reader->columns.strings, string));
}

static int read_stacks(struct reader *reader, const struct json_node *thread)
{
	const struct columns *columns = &reader->columns;
	const struct json_node *table = table_of(reader, thread, "stackTable");
	size_t count = json_node_count(columns->stack_frame);
	if (table == reader->stack_table)
		return 0;
	if (count != json_node_count(columns->prefix) || !json_node_is(columns->strings, JSON_NODE_ARRAY))
		return json_import_refuse(&reader->import,
					  "the tables of stacks and strings of thread %zu are incomplete",
					  reader->number);
	if (ARRAY_RESERVE(reader->stacks, reader->stack_capacity, count + 1) < 0 ||
	    ARRAY_RESERVE(reader->frames, reader->frame_capacity, count + 1) < 0 ||
	    ARRAY_RESERVE(reader->chain, reader->chain_capacity, count + 1) < 0)
		return import_tree_fail(&reader->import.tree, ERROR_MEMORY);
	for (uint32_t i = 0; i < count; i++) {
		const struct json_node *prefix = json_node_element(columns->prefix, i);
		struct stack *stack = &reader->stacks[i];
		*stack = (struct stack){ .prefix = cell(columns->prefix, i),
					 .frame = cell(columns->stack_frame, i),
					 .node = PROFILE_NONE };
		/* A caller comes before what it calls, so that there are no cycles. */
		bool is_sound =
			json_node_is(prefix, JSON_NODE_NULL) ? stack->prefix == PROFILE_NONE : stack->prefix < i;
		if (!is_sound || stack->frame >= json_node_count(columns->function))
			return json_import_refuse(&reader->import, "stack %" PRIu32 " refers to what does not exist",
						  i);
		uint32_t depth = cell(columns->depth, stack->frame);
		bool is_inlined = depth != PROFILE_NONE && depth > 0 && stack->prefix != PROFILE_NONE;
		uint32_t outer = is_inlined ? reader->stacks[stack->prefix].inlined : 0;
		stack->inlined = is_inlined && outer < INLINED_MOST ? outer + 1 : 0;
	}
	reader->stack_count = count;
	reader->stack_table = table;
	return 0;
}

/* --- frames --- */

static enum frame_kind kind_of(const struct reader *reader, uint32_t frame)
{
	static const struct {
		const char *category;
		enum frame_kind kind;
	} kinds[] = { { "Kernel", FRAME_KERNEL }, { "JIT", FRAME_JIT }, { "Interpreter", FRAME_INTERPRETER } };
	uint32_t category = cell(reader->columns.category, frame);
	const struct json_node *categories =
		json_node_member(json_node_member(reader->import.document, "meta"), "categories");
	const char *name = json_node_text(json_node_member(json_node_element(categories, category), "name"));
	for (size_t i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].category, name) == 0)
			return kinds[i].kind;
	return FRAME_NATIVE;
}

/* Returns the row of `libs` of a function, or NULL. */
static const struct json_node *library_of(const struct reader *reader, const struct json_node *thread,
					  uint32_t function)
{
	uint32_t library = cell(reader->columns.resource_library, cell(reader->columns.library, function));
	const struct json_node *own = json_node_member(thread, "libs");
	return json_node_element(own ? own : json_node_member(reader->import.document, "libs"), library);
}

static int64_t module_of(struct reader *reader, const struct json_node *library)
{
	const char *path = json_node_text(json_node_member(library, "path"));
	const char *name = json_node_text(json_node_member(library, "name"));
	const char *build_id = json_node_text(json_node_member(library, "codeId"));
	path = path && path[0] ? path : name;
	int64_t module = import_tree_module(&reader->import.tree, path ? path : "");
	if (module >= 0 && path && build_id)
		import_tree_build_id(&reader->import.tree, (uint32_t)module, build_id);
	return module;
}

static int read_frame(const struct reader *reader, uint32_t index, struct import_frame *frame)
{
	const struct columns *columns = &reader->columns;
	uint32_t function = cell(columns->function, index), line = cell(columns->line, index);
	uint32_t defined = cell(columns->defined_line, function);
	const char *name = text_at(reader, columns->name, function);
	const char *file = text_at(reader, columns->source_name, cell(columns->source, function));
	if (!name)
		return json_import_refuse(&reader->import, "frame %" PRIu32 " has no function with a name", index);
	*frame = (struct import_frame){ .function = name,
					.function_bytes = strlen(name),
					.file = file ? file : text_at(reader, columns->file_name, function),
					.line = line == PROFILE_NONE ? 0 : line,
					.start_line = defined == PROFILE_NONE ? 0 : defined,
					.kind = kind_of(reader, index) };
	return 0;
}

/* Returns the node of a stack whose caller that is not inlined has the node `parent`. */
static int64_t make_node(struct reader *reader, const struct json_node *thread, uint32_t index, uint32_t parent)
{
	size_t count = 0;
	uint32_t outermost = index;
	for (uint32_t at = index;; at = reader->stacks[at].prefix) {
		int code = read_frame(reader, reader->stacks[at].frame, &reader->frames[count++]);
		outermost = at;
		if (code < 0)
			return code;
		if (!reader->stacks[at].inlined)
			break;
	}
	uint32_t function = cell(reader->columns.function, reader->stacks[outermost].frame);
	int64_t module = module_of(reader, library_of(reader, thread, function));
	int64_t location =
		module < 0 ? module
			   : import_tree_location(&reader->import.tree, (uint32_t)module, reader->frames, count);
	if (location < 0)
		return location;
	int64_t node = profile_add_node(reader->import.tree.profile, parent, (uint32_t)location);
	return node < 0 ? import_tree_fail(&reader->import.tree, (int)node) : node;
}

/* Returns the caller of a stack that is not inlined into it, or PROFILE_NONE. */
static uint32_t caller_of(const struct reader *reader, uint32_t index)
{
	while (reader->stacks[index].inlined)
		index = reader->stacks[index].prefix;
	return reader->stacks[index].prefix;
}

static int64_t node_of(struct reader *reader, const struct json_node *thread, uint32_t index)
{
	size_t count = 0;
	uint32_t at = index, node = PROFILE_ROOT;
	for (; at != PROFILE_NONE && reader->stacks[at].node == PROFILE_NONE; at = caller_of(reader, at))
		reader->chain[count++] = at;
	if (at != PROFILE_NONE)
		node = reader->stacks[at].node;
	while (count > 0) {
		int64_t made = make_node(reader, thread, reader->chain[--count], node);
		if (made < 0)
			return made;
		reader->stacks[reader->chain[count]].node = node = (uint32_t)made;
	}
	return node;
}

/* --- threads and samples --- */

/* How samples of a weight type are read. */
struct weighting {
	const char *type, *resource, *title, *unit;
	long double factor;
};

static const struct weighting *weighting_of(const struct json_node *samples)
{
	static const struct weighting weightings[] = {
		{ "samples", "samples", "Samples", "sample", 1 },
		{ "tracing-ms", "time", "Time", "ns", 1e6L },
		{ "bytes", "bytes", "Bytes", "byte", 1 },
	};
	const char *type = json_node_text(json_node_member(samples, "weightType"));
	for (size_t i = 0; type && i < sizeof(weightings) / sizeof(weightings[0]); i++)
		if (strcmp(weightings[i].type, type) == 0)
			return &weightings[i];
	return &weightings[0];
}

/* Returns the resource, and cuts its title off the thread's name, which the caller frees. */
static int64_t resource_of(struct reader *reader, const struct json_node *thread, const struct weighting *weighting,
			   char *thread_name)
{
	const char *title;
	bool is_count = strcmp(weighting->unit, "sample") == 0;
	int64_t own = json_import_own(&reader->import, thread, is_count ? NULL : weighting->unit, &title);
	if (own == PROFILE_NONE)
		return json_import_resource(&reader->import, weighting->resource, weighting->title, weighting->unit,
					    is_count ? IMPORT_SAMPLES : IMPORT_SUMS);
	size_t length = strlen(thread_name), cut = strlen(title) + strlen(": ");
	char *end = thread_name + length - (cut < length ? cut : length);
	if (strncmp(end, ": ", 2) == 0 && strcmp(end + 2, title) == 0)
		*end = 0;
	return own;
}

static uint32_t pid_of(const struct json_node *thread)
{
	const struct json_node *pid = json_node_member(thread, "pid");
	const char *text = json_node_text(pid);
	unsigned long long number = text ? strtoull(text, NULL, 10) : 0;
	return text ? (uint32_t)(number < UINT32_MAX ? number : 0) : json_import_number(pid, 0);
}

/* Sets the resource and the thread of the profile. */
static int place(struct reader *reader, const struct json_node *thread, const struct weighting *weighting,
		 uint32_t *resource, uint32_t *id)
{
	const char *name = json_node_text(json_node_member(thread, "name"));
	const char *process = json_node_text(json_node_member(thread, "processName"));
	char *cut = strdup(name ? name : "");
	if (!cut)
		return import_tree_fail(&reader->import.tree, ERROR_MEMORY);
	int64_t found = resource_of(reader, thread, weighting, cut);
	bool has_thread = !reader->is_ours || strcmp(cut, "no thread") != 0;
	/* Threads of other writers may have no number. */
	uint32_t tid = json_import_number(json_node_member(thread, "tid"), (uint32_t)reader->number + 1);
	int64_t made = found < 0    ? found
		       : has_thread ? import_tree_thread(&reader->import.tree, pid_of(thread), tid,
							 process && process[0] ? process : cut, cut)
				    : PROFILE_NONE;
	free(cut);
	if (made < 0)
		return (int)made;
	*resource = (uint32_t)found;
	*id = (uint32_t)made;
	return 0;
}

/* Advances the time, of a list of times or of differences. Returns 0 if it is not known. */
static uint64_t time_of(const struct json_node *samples, size_t index, long double *elapsed)
{
	const struct json_node *times = json_node_member(samples, "time");
	const struct json_node *value =
		json_node_element(times ? times : json_node_member(samples, "timeDeltas"), index);
	*elapsed = (times ? 0 : *elapsed) + (long double)json_node_number(value);
	long double ns = *elapsed * NS_IN_MS;
	return json_node_is(value, JSON_NODE_NUMBER) && ns >= 0 && ns < (long double)PROFILE_HITS_MOST
		       ? IMPORT_START_NS + (uint64_t)(ns + 0.5L)
		       : 0;
}

static int read_samples(struct reader *reader, const struct json_node *thread, const struct json_node *samples)
{
	struct profile *profile = reader->import.tree.profile;
	const struct weighting *weighting = weighting_of(samples);
	const struct json_node *stacks = json_node_member(samples, "stack"),
			       *weights = json_node_member(samples, "weight");
	uint32_t resource = 0, id = 0;
	long double elapsed = 0;
	int code = place(reader, thread, weighting, &resource, &id);
	for (size_t i = 0; i < json_node_count(stacks) && code == 0; i++) {
		reader->import.place = (struct json_place){ "sample", "thread", i, reader->number };
		uint32_t stack = json_import_index(stacks, i, reader->stack_count);
		uint64_t weight = 1, time_ns = time_of(samples, i, &elapsed);
		if (stack == PROFILE_NONE && !json_node_is(json_node_element(stacks, i), JSON_NODE_NULL))
			return json_import_refuse(&reader->import, "a sample refers to a stack that does not exist");
		if (json_node_is(weights, JSON_NODE_ARRAY) &&
		    !json_import_amount(json_node_element(weights, i), weighting->factor, &weight))
			return json_import_refuse(&reader->import, "a sample's weight is no amount");
		int64_t node = stack == PROFILE_NONE ? PROFILE_ROOT : node_of(reader, thread, stack);
		profile->end_ns = time_ns > profile->end_ns ? time_ns : profile->end_ns;
		code = node < 0 ? (int)node
				: import_tree_hit(&reader->import.tree, time_ns, id, (uint32_t)node, resource, weight);
	}
	return code;
}

static int read_thread(struct reader *reader, const struct json_node *thread)
{
	const struct json_node *samples = json_node_member(thread, "samples");
	reader->import.place = (struct json_place){ 0 };
	if (json_node_member(samples, "schema"))
		return json_import_refuse(&reader->import,
					  "it is not processed (open and save it at profiler.firefox.com)");
	if (!json_node_is(json_node_member(samples, "stack"), JSON_NODE_ARRAY))
		return json_import_refuse(&reader->import, "thread %zu has no 'samples' with stacks", reader->number);
	find_columns(reader, thread);
	int code = read_stacks(reader, thread);
	return code < 0 ? code : read_samples(reader, thread, samples);
}

static int read_all(struct reader *reader)
{
	const struct json_node *document = reader->import.document, *meta = json_node_member(document, "meta");
	const struct json_node *threads = json_node_member(document, "threads");
	const char *writer = json_node_text(json_node_member(json_node_member(document, "shared"), "from"));
	const char *product = json_node_text(json_node_member(meta, "product"));
	struct profile *profile = reader->import.tree.profile;
	int code = json_node_is(threads, JSON_NODE_ARRAY)
			   ? 0
			   : json_import_refuse(&reader->import, "it has no list 'threads'");
	reader->is_ours = writer && strcmp(writer, "cpprof") == 0;
	for (; reader->number < json_node_count(threads) && code == 0; reader->number++)
		code = read_thread(reader, json_node_element(threads, reader->number));
	profile->start_ns = profile->end_ns ? IMPORT_START_NS : 0;
	return code < 0 ? code : import_tree_command(&reader->import.tree, product);
}

struct profile *firefox_import(FILE *in, const char *name, const char *image, struct error *error)
{
	(void)image; /* names need no image */
	struct reader reader = { 0 };
	int code = json_import_open(&reader.import, "a Firefox profile", false, in, name, error);
	if (code == 0)
		code = read_all(&reader);
	free(reader.stacks);
	free(reader.frames);
	free(reader.chain);
	return json_import_close(&reader.import, code);
}

bool firefox_recognise(const unsigned char *start, size_t bytes)
{
	enum { HEAD_BYTES = 32 };
	size_t head = bytes < HEAD_BYTES ? bytes : HEAD_BYTES;
	return json_import_begins(start, bytes, '{') &&
	       (json_import_contains(start, head, "\"meta\"") ||
		json_import_contains(start, bytes, "\"preprocessedProfileVersion\""));
}
