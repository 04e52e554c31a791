/*
 * Chrome's trace events, read. The document is the list of events, whose ']' may be missing, or an object with it:
 *
 *   "B" and "E", "X"   calls (chrome_calls.c), of the resource `time`
 *   "i", "I", "P"      with a stack (sf, or the list `stack`): a sample. As cpprof writes it, the category (cat) is its resource, and
 *                      args has its amount and unit. Otherwise it is one of `samples`
 *   "M"                names of processes and threads
 *   samples            beside the events: samples with weights
 *
 * Other events, which lie in no thread's stack (asynchronous events, flows, counters, objects), are
 * left out. Times are microseconds and become nanoseconds since the first event.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "formats/chrome_import.h"

static const long double NS_IN_US = 1000;

/* A stack frame of the file. */
struct stack_frame {
	const struct json_node *row; /* not owned */
	uint32_t node;               /* PROFILE_NONE: not made yet */
};

struct reader {
	struct json_import import;
	const struct json_node *frames; /* "stackFrames", by their names */
	struct hash_map by_frame;       /* address of a row -> index in stacks */
	struct stack_frame *stacks;
	size_t stack_count, stack_capacity;
	uint32_t *chain; /* frames of the stack that is made */
	size_t chain_count, chain_capacity;
	struct hash_map process_names, thread_names; /* string of the profile */
	struct chrome_event *events;
	size_t event_count, event_capacity;
	long double start; /* the first event's time in us */
	bool has_range;    /* not all times are equal */
};

/* --- owners --- */

/* Returns a process's or thread's number: one that is a text gets the number of a string of the profile, plus 2^31. */
static int64_t number_of(struct reader *reader, const struct json_node *value)
{
	const char *text = json_node_text(value);
	int64_t id = text ? profile_add_string(reader->import.tree.profile, text) : 0;
	if (id < 0)
		return import_tree_fail(&reader->import.tree, (int)id);
	return text ? INT64_C(0x80000000) + id : json_import_number(value, 0);
}

/* Returns the thread of an event, or PROFILE_NONE if it has none: numbers 0, without a name. */
static int64_t thread_of(struct reader *reader, const struct json_node *event)
{
	enum { PID_SHIFT = 32 };
	const struct profile *profile = reader->import.tree.profile;
	const struct json_node *process = json_node_member(event, "pid"), *thread = json_node_member(event, "tid");
	int64_t pid = number_of(reader, process), tid = number_of(reader, thread);
	if (pid < 0 || tid < 0)
		return pid < 0 ? pid : tid;
	uint32_t process_name = hash_map_get(&reader->process_names, (uint64_t)pid);
	uint32_t thread_name = hash_map_get(&reader->thread_names, (uint64_t)pid << PID_SHIFT | (uint64_t)tid);
	const char *process_text = json_node_text(process), *thread_text = json_node_text(thread);
	if (pid == 0 && tid == 0 && thread_name == HASH_MAP_NONE)
		return PROFILE_NONE;
	return import_tree_thread(&reader->import.tree, (uint32_t)pid, (uint32_t)tid,
				  process_name != HASH_MAP_NONE ? profile_string(profile, process_name) : process_text,
				  thread_name != HASH_MAP_NONE ? profile_string(profile, thread_name) : thread_text);
}

/* Reads an event that names a process or a thread. */
static int read_name(struct reader *reader, const struct json_node *event)
{
	enum { PID_SHIFT = 32 };
	const char *key = json_node_text(json_node_member(event, "name"));
	const char *name = json_node_text(json_node_member(json_node_member(event, "args"), "name"));
	bool is_process = key && strcmp(key, "process_name") == 0;
	if (!name || !key || (!is_process && strcmp(key, "thread_name") != 0))
		return 0;
	int64_t pid = number_of(reader, json_node_member(event, "pid"));
	int64_t tid = number_of(reader, json_node_member(event, "tid"));
	int64_t id = profile_add_string(reader->import.tree.profile, name);
	if (pid < 0 || tid < 0)
		return (int)(pid < 0 ? pid : tid);
	if (id < 0 ||
	    hash_map_put(is_process ? &reader->process_names : &reader->thread_names,
			 is_process ? (uint64_t)pid : (uint64_t)pid << PID_SHIFT | (uint64_t)tid, (uint32_t)id) < 0)
		return import_tree_fail(&reader->import.tree, ERROR_MEMORY);
	return 0;
}

/* --- stacks --- */

/* Returns the index in `stacks` of a frame that is referred to by a number or a text, or a negative error. */
static int64_t stack_of(struct reader *reader, const struct json_node *reference)
{
	char number[320] = ""; /* of any double */
	const char *key = json_node_text(reference);
	if (json_node_is(reference, JSON_NODE_NUMBER))
		snprintf(number, sizeof(number), "%.0f", json_node_number(reference));
	const struct json_node *row = json_node_member(reader->frames, key ? key : number);
	if (!json_node_is(row, JSON_NODE_OBJECT))
		return json_import_refuse(&reader->import, "a stack refers to a frame that does not exist");
	bool is_new;
	int64_t stack = HASH_MAP_ITEM(&reader->by_frame, (uintptr_t)row, reader->stacks, reader->stack_capacity,
				      reader->stack_count, &is_new);
	if (stack < 0)
		return import_tree_fail(&reader->import.tree, (int)stack);
	if (is_new)
		reader->stacks[stack] = (struct stack_frame){ row, PROFILE_NONE };
	return stack;
}

static int64_t make_node(struct reader *reader, uint32_t parent, const struct json_node *row)
{
	const char *name = json_node_text(json_node_member(row, "name"));
	const char *module = json_node_text(json_node_member(row, "category"));
	if (!name)
		return json_import_refuse(&reader->import, "a frame has no name");
	module = module ? module : "";
	const struct import_frame frame = { .function = name,
					    .function_bytes = strlen(name),
					    .kind = import_tree_is_kernel(module) ? FRAME_KERNEL : FRAME_NATIVE };
	return json_import_child(&reader->import, parent, module, &frame);
}

/* Returns the node of a stack, by its innermost frame. */
static int64_t node_of(struct reader *reader, const struct json_node *reference)
{
	uint32_t node = PROFILE_ROOT;
	reader->chain_count = 0;
	while (reference) {
		int64_t index = stack_of(reader, reference);
		if (index < 0)
			return index;
		if (reader->stacks[index].node != PROFILE_NONE) {
			node = reader->stacks[index].node;
			break;
		}
		if (reader->chain_count == reader->stack_count) /* more frames than there are */
			return json_import_refuse(&reader->import, "a frame is its own caller");
		if (ARRAY_RESERVE(reader->chain, reader->chain_capacity, reader->chain_count + 1) < 0)
			return import_tree_fail(&reader->import.tree, ERROR_MEMORY);
		reader->chain[reader->chain_count++] = (uint32_t)index;
		reference = json_node_member(reader->stacks[index].row, "parent");
	}
	while (reader->chain_count > 0) {
		struct stack_frame *frame = &reader->stacks[reader->chain[--reader->chain_count]];
		int64_t made = make_node(reader, node, frame->row);
		if (made < 0)
			return made;
		frame->node = node = (uint32_t)made;
	}
	return node;
}

/* Returns the node of a stack that is a list of names, innermost first. */
static int64_t node_of_list(struct reader *reader, const struct json_node *list)
{
	int64_t node = PROFILE_ROOT;
	for (size_t i = json_node_count(list); i-- > 0 && node >= 0;) {
		const char *name = json_node_text(json_node_element(list, i));
		if (!name)
			return json_import_refuse(&reader->import, "a stack has a frame without a name");
		const struct import_frame frame = { .function = name, .function_bytes = strlen(name) };
		node = json_import_child(&reader->import, (uint32_t)node, "", &frame);
	}
	return node;
}

/* --- events --- */

/* Sets the time since the first event. */
static bool read_time(const struct reader *reader, const struct json_node *value, uint64_t *time_ns)
{
	if (!json_node_is(value, JSON_NODE_NUMBER))
		return false;
	long double offset = (long double)json_node_number(value) - reader->start;
	if (!(offset >= 0 && offset * NS_IN_US < (long double)PROFILE_HITS_MOST))
		return false;
	*time_ns = (uint64_t)(offset * NS_IN_US + 0.5L);
	return true;
}

static int add_call_event(struct reader *reader, const struct json_node *event, enum chrome_event_kind kind)
{
	const char *name = json_node_text(json_node_member(event, "name"));
	struct chrome_event row = { .kind = kind, .order = (uint32_t)reader->event_count };
	uint64_t duration_ns = 0;
	const struct json_node *duration = json_node_member(event, "dur");
	if (!json_node_is(json_node_member(event, "ts"), JSON_NODE_NUMBER))
		return json_import_refuse(&reader->import, "a call has no time");
	if (!read_time(reader, json_node_member(event, "ts"), &row.time_ns))
		return json_import_refuse(&reader->import,
					  "a call begins or ends 146 years or more behind the first one");
	if (kind == CHROME_WHOLE && duration && !json_import_amount(duration, NS_IN_US, &duration_ns))
		return json_import_refuse(&reader->import,
					  "the duration of a call is not a number from 0 to 146 years");
	if (!name && kind != CHROME_END)
		return json_import_refuse(&reader->import, "a call has no name");
	int64_t thread = thread_of(reader, event);
	int64_t id = name ? profile_add_string(reader->import.tree.profile, name) : 0;
	if (thread < 0)
		return (int)thread;
	if (id < 0 || reader->event_count == UINT32_MAX ||
	    ARRAY_RESERVE(reader->events, reader->event_capacity, reader->event_count + 1) < 0)
		return import_tree_fail(&reader->import.tree, ERROR_MEMORY);
	row.thread = (uint32_t)thread;
	row.name = (uint32_t)id;
	row.end_ns = row.time_ns + duration_ns;
	reader->events[reader->event_count++] = row;
	return 0;
}

static int64_t resource_of(struct reader *reader, const struct json_node *event, const struct json_node *arguments)
{
	const char *category = json_node_text(json_node_member(event, "cat"));
	const char *unit = json_node_text(json_node_member(arguments, "unit"));
	if (json_node_member(arguments, "amount") && category && category[0] && unit)
		return json_import_resource(&reader->import, category, NULL, unit,
					    strcmp(category, "samples") == 0 ? IMPORT_SAMPLES : IMPORT_SUMS);
	return json_import_resource(&reader->import, "samples", "Samples", "sample", IMPORT_SAMPLES);
}

/* Adds a sample. `weight`: its amount, or NULL: 1. */
static int add_sample(struct reader *reader, const struct json_node *event, const struct json_node *weight)
{
	const struct json_node *frame = json_node_member(event, "sf"), *list = json_node_member(event, "stack");
	uint64_t time_ns = 0, amount = 1;
	int64_t resource = resource_of(reader, event, json_node_member(event, "args"));
	int64_t thread = resource < 0 ? resource : thread_of(reader, event);
	if (thread < 0)
		return (int)thread;
	if (!read_time(reader, json_node_member(event, "ts"), &time_ns) ||
	    (weight && !json_import_amount(weight, 1, &amount)))
		return json_import_refuse(&reader->import, "a sample has no time, or no amount");
	int64_t node = json_node_is(list, JSON_NODE_ARRAY) ? node_of_list(reader, list) : node_of(reader, frame);
	if (node < 0)
		return (int)node;
	time_ns = reader->has_range ? IMPORT_START_NS + time_ns : 0; /* equal times are none */
	return import_tree_hit(&reader->import.tree, time_ns, (uint32_t)thread, (uint32_t)node, (uint32_t)resource,
			       amount);
}

static bool is_kind(const struct json_node *event, const char *kinds)
{
	const char *kind = json_node_text(json_node_member(event, "ph"));
	return kind && kind[0] && !kind[1] && strchr(kinds, kind[0]);
}

static int read_event(struct reader *reader, const struct json_node *event)
{
	const struct json_node *amount = json_node_member(json_node_member(event, "args"), "amount");
	if (!json_node_is(event, JSON_NODE_OBJECT) || !json_node_member(event, "ph"))
		return json_import_refuse(&reader->import, "an event has no kind ('ph')");
	if (is_kind(event, "B"))
		return add_call_event(reader, event, CHROME_BEGIN);
	if (is_kind(event, "E"))
		return add_call_event(reader, event, CHROME_END);
	if (is_kind(event, "X"))
		return add_call_event(reader, event, CHROME_WHOLE);
	bool has_stack =
		json_node_member(event, "sf") || json_node_is(json_node_member(event, "stack"), JSON_NODE_ARRAY);
	if (is_kind(event, "P") || (is_kind(event, "iI") && (has_stack || amount)))
		return add_sample(reader, event, amount);
	return 0;
}

/* --- the whole --- */

/* Finds the names, which may follow what they name, and the first and the last time. */
static int scan_events(struct reader *reader, const struct json_node *lists[2])
{
	long double end = 0;
	bool has_times = false;
	for (size_t n = 0; n < 2; n++) {
		for (size_t i = 0; i < json_node_count(lists[n]); i++) {
			const struct json_node *event = json_node_element(lists[n], i),
					       *time = json_node_member(event, "ts");
			int code = is_kind(event, "M") ? read_name(reader, event) : 0;
			if (code < 0)
				return code;
			if (is_kind(event, "M") || !json_node_is(time, JSON_NODE_NUMBER))
				continue;
			long double at = (long double)json_node_number(time);
			reader->start = !has_times || at < reader->start ? at : reader->start;
			at += (long double)json_node_number(json_node_member(event, "dur"));
			end = !has_times || at > end ? at : end;
			has_times = true;
		}
	}
	if (has_times && end > reader->start && (end - reader->start) * NS_IN_US < (long double)PROFILE_HITS_MOST) {
		reader->has_range = true;
		reader->import.tree.profile->start_ns = IMPORT_START_NS;
		reader->import.tree.profile->end_ns =
			IMPORT_START_NS + (uint64_t)((end - reader->start) * NS_IN_US + 0.5L);
	}
	return 0;
}

static int read_events(struct reader *reader, const struct json_node *events, const struct json_node *samples)
{
	int code = scan_events(reader, (const struct json_node *[2]){ events, samples });
	for (size_t i = 0; i < json_node_count(events) && code == 0; i++) {
		reader->import.place = (struct json_place){ .kind = "event", .number = i };
		code = read_event(reader, json_node_element(events, i));
	}
	for (size_t i = 0; i < json_node_count(samples) && code == 0; i++) {
		reader->import.place = (struct json_place){ .kind = "sample", .number = i };
		const struct json_node *sample = json_node_element(samples, i);
		code = add_sample(reader, sample, json_node_member(sample, "weight"));
	}
	if (code < 0 || reader->event_count == 0)
		return code;
	int64_t resource = json_import_resource(&reader->import, "time", "Time", "ns", IMPORT_EXACT);
	if (resource < 0)
		return (int)resource;
	return chrome_add_calls(&reader->import, reader->events, reader->event_count, (uint32_t)resource);
}

static int read_all(struct reader *reader)
{
	const struct json_node *document = reader->import.document;
	const struct json_node *events =
		json_node_is(document, JSON_NODE_ARRAY) ? document : json_node_member(document, "traceEvents");
	const char *command = json_node_text(json_node_member(json_node_member(document, "otherData"), "command"));
	if (!json_node_is(events, JSON_NODE_ARRAY))
		return json_import_refuse(&reader->import, "it has no list 'traceEvents'");
	reader->frames = json_node_member(document, "stackFrames");
	int code = read_events(reader, events, json_node_member(document, "samples"));
	return code < 0 ? code : import_tree_command(&reader->import.tree, command);
}

struct profile *chrome_import(FILE *in, const char *name, const char *image, struct error *error)
{
	(void)image; /* names need no image */
	struct reader reader = { 0 };
	hash_map_init(&reader.by_frame);
	hash_map_init(&reader.process_names);
	hash_map_init(&reader.thread_names);
	int code = json_import_open(&reader.import, "a Chrome trace", true, in, name, error);
	if (code == 0)
		code = read_all(&reader);
	hash_map_release(&reader.by_frame);
	hash_map_release(&reader.process_names);
	hash_map_release(&reader.thread_names);
	free(reader.stacks);
	free(reader.chain);
	free(reader.events);
	return json_import_close(&reader.import, code);
}

bool chrome_recognise(const unsigned char *start, size_t bytes)
{
	bool has_event = json_import_contains(start, bytes, "\"ph\"");
	return (json_import_begins(start, bytes, '[') && has_event) ||
	       (json_import_begins(start, bytes, '{') &&
		(json_import_contains(start, bytes, "\"traceEvents\"") || has_event));
}
