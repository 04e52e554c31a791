/*
 * speedscope, read. Frames become locations, and each profile of the file a thread and a resource:
 *
 *   sampled   a hit for each sample, of its weight
 *   evented   a hit for each stretch of time in which the stack stays the same
 *
 * Times become nanoseconds. In a file of cpprof each profile states its resource, and its name is
 * the title and the thread: "CPU Time: prog 4711". In files of others the name is the thread's, and
 * the unit states the resource.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "formats/json_import.h"

static const struct unit {
	const char *word;     /* in the file */
	const char *resource; /* of files of others */
	const char *unit;     /* in the profile */
	long double factor;
} UNITS[] = {
	{ "nanoseconds", "time", "ns", 1 },     { "microseconds", "time", "ns", 1e3L },
	{ "milliseconds", "time", "ns", 1e6L }, { "seconds", "time", "ns", 1e9L },
	{ "bytes", "bytes", "byte", 1 },        { "none", "samples", "sample", 1 },
};

struct reader {
	struct json_import import;
	bool is_ours;
	uint32_t *locations; /* per frame of the file */
	size_t location_count;
	long double start; /* the earliest time of events, in ns */
	/* These belong to the profile that is read. */
	const struct unit *unit;
	uint32_t resource, thread;
	struct open_call {
		uint32_t frame, node;
	} * calls;
	size_t call_count, call_capacity;
	size_t number;
};

/* In files of cpprof a name is one function, and the files are those of its lines. */
static int read_frames(struct reader *reader)
{
	const struct json_node *frames =
		json_node_member(json_node_member(reader->import.document, "shared"), "frames");
	if (!json_node_is(frames, JSON_NODE_ARRAY))
		return json_import_refuse(&reader->import, "it has no list 'frames' in 'shared'");
	size_t count = json_node_count(frames);
	int64_t module = import_tree_module(&reader->import.tree, "");
	reader->locations = calloc(count + 1, sizeof(*reader->locations));
	if (!reader->locations || module < 0)
		return import_tree_fail(&reader->import.tree, ERROR_MEMORY);
	for (size_t i = 0; i < count; i++) {
		const struct json_node *row = json_node_element(frames, i);
		const char *name = json_node_text(json_node_member(row, "name"));
		if (!name)
			return json_import_refuse(&reader->import, "frame %zu has no name", i);
		const struct import_frame frame = { .function = name,
						    .function_bytes = strlen(name),
						    .file = json_node_text(json_node_member(row, "file")),
						    .home = reader->is_ours ? "" : NULL,
						    .line = json_import_number(json_node_member(row, "line"), 0) };
		int64_t location = import_tree_location(&reader->import.tree, (uint32_t)module, &frame, 1);
		if (location < 0)
			return (int)location;
		reader->locations[reader->location_count++] = (uint32_t)location;
	}
	return 0;
}

static int64_t child_of(struct reader *reader, uint32_t node, uint32_t frame)
{
	int64_t child = profile_add_node(reader->import.tree.profile, node, reader->locations[frame]);
	return child < 0 ? import_tree_fail(&reader->import.tree, (int)child) : child;
}

/* --- sampled --- */

static int64_t node_of(struct reader *reader, const struct json_node *sample)
{
	int64_t node = json_node_is(sample, JSON_NODE_ARRAY)
			       ? PROFILE_ROOT
			       : json_import_refuse(&reader->import, "a sample is no list of frames");
	for (size_t i = 0; i < json_node_count(sample) && node >= 0; i++) {
		uint32_t frame = json_import_index(sample, i, reader->location_count);
		if (frame == PROFILE_NONE)
			return json_import_refuse(&reader->import, "a sample has a frame that does not exist");
		node = child_of(reader, (uint32_t)node, frame);
	}
	return node;
}

static int read_sampled(struct reader *reader, const struct json_node *profile)
{
	const struct json_node *samples = json_node_member(profile, "samples"),
			       *weights = json_node_member(profile, "weights");
	if (!json_node_is(samples, JSON_NODE_ARRAY) || json_node_count(samples) != json_node_count(weights))
		return json_import_refuse(&reader->import, "profile %zu has not as many 'weights' as 'samples'",
					  reader->number);
	for (size_t i = 0; i < json_node_count(samples); i++) {
		uint64_t weight;
		reader->import.place = (struct json_place){ "sample", "profile", i, reader->number };
		if (!json_import_amount(json_node_element(weights, i), reader->unit->factor, &weight))
			return json_import_refuse(&reader->import, "a weight is no amount");
		int64_t node = node_of(reader, json_node_element(samples, i));
		int code = node < 0 ? (int)node
				    : import_tree_hit(&reader->import.tree, 0, reader->thread, (uint32_t)node,
						      reader->resource, weight);
		if (code < 0)
			return code;
	}
	return 0;
}

/* --- evented --- */

/* Returns the time in ns, or NAN. */
static long double time_of(const struct unit *unit, const struct json_node *number)
{
	return json_node_is(number, JSON_NODE_NUMBER) ? (long double)json_node_number(number) * unit->factor
						      : (long double)NAN;
}

/* Adds the time up to `now` to the innermost call. */
static int end_stretch(struct reader *reader, uint64_t *since, long double now)
{
	long double offset = now - reader->start;
	if (!(offset >= (long double)*since - 1 && offset <= (long double)PROFILE_HITS_MOST))
		return json_import_refuse(&reader->import, "the times are not in order");
	uint64_t until = (uint64_t)(offset > 0 ? offset + 0.5L : 0), from = *since;
	*since = until > from ? until : from;
	if (reader->call_count == 0 || until <= from)
		return 0;
	return import_tree_hit(&reader->import.tree, IMPORT_START_NS + from, reader->thread,
			       reader->calls[reader->call_count - 1].node, reader->resource, until - from);
}

static int read_event(struct reader *reader, const struct json_node *event, uint64_t *since)
{
	const char *type = json_node_text(json_node_member(event, "type"));
	uint32_t frame = json_import_number(json_node_member(event, "frame"), PROFILE_NONE);
	int code = end_stretch(reader, since, time_of(reader->unit, json_node_member(event, "at")));
	if (code < 0)
		return code;
	if (!type || frame >= reader->location_count)
		return json_import_refuse(&reader->import, "an event has no type, or a frame that does not exist");
	if (strcmp(type, "C") == 0) {
		if (reader->call_count == 0 || reader->calls[reader->call_count - 1].frame != frame)
			return json_import_refuse(&reader->import, "an event closes a frame that is not the innermost");
		reader->call_count--;
		return 0;
	}
	if (strcmp(type, "O") != 0)
		return json_import_refuse(&reader->import, "an event is neither 'O' nor 'C'");
	uint32_t parent = reader->call_count ? reader->calls[reader->call_count - 1].node : PROFILE_ROOT;
	int64_t node = child_of(reader, parent, frame);
	if (node < 0)
		return (int)node;
	if (ARRAY_RESERVE(reader->calls, reader->call_capacity, reader->call_count + 1) < 0)
		return import_tree_fail(&reader->import.tree, ERROR_MEMORY);
	reader->calls[reader->call_count++] = (struct open_call){ frame, (uint32_t)node };
	return 0;
}

static int read_evented(struct reader *reader, const struct json_node *profile)
{
	const struct json_node *events = json_node_member(profile, "events"),
			       *end = json_node_member(profile, "endValue");
	uint64_t since = 0;
	int code = json_node_is(events, JSON_NODE_ARRAY)
			   ? 0
			   : json_import_refuse(&reader->import, "profile %zu has no 'events'", reader->number);
	reader->call_count = 0;
	for (size_t i = 0; i < json_node_count(events) && code == 0; i++) {
		reader->import.place = (struct json_place){ "event", "profile", i, reader->number };
		code = read_event(reader, json_node_element(events, i), &since);
	}
	if (code == 0 && reader->call_count > 0)
		code = end_stretch(reader, &since, time_of(reader->unit, end));
	return code;
}

/* --- profiles --- */

static const struct unit *unit_of(const struct json_node *profile)
{
	const char *word = json_node_text(json_node_member(profile, "unit"));
	for (size_t i = 0; word && i < sizeof(UNITS) / sizeof(UNITS[0]); i++)
		if (strcmp(UNITS[i].word, word) == 0)
			return &UNITS[i];
	return NULL;
}

static bool is_evented(const struct json_node *profile)
{
	const char *type = json_node_text(json_node_member(profile, "type"));
	return type && strcmp(type, "evented") == 0;
}

/* Sets the thread of a profile of cpprof by what follows the resource's title in its name: ": prog 4711", or "". */
static int place_own(struct reader *reader, uint32_t resource, const char *rest, const char *process)
{
	bool has_thread = strncmp(rest, ": ", 2) == 0;
	const char *number = has_thread ? strrchr(rest + 2, ' ') : NULL;
	reader->resource = resource;
	reader->thread = PROFILE_NONE;
	if (!number)
		return 0;
	char *thread_name = strndup(rest + 2, (size_t)(number - rest - 2));
	if (!thread_name)
		return import_tree_fail(&reader->import.tree, ERROR_MEMORY);
	int64_t thread = import_tree_thread(&reader->import.tree, 0, (uint32_t)strtoul(number + 1, NULL, 10), process,
					    thread_name);
	free(thread_name);
	reader->thread = thread < 0 ? PROFILE_NONE : (uint32_t)thread;
	return thread < 0 ? (int)thread : 0;
}

static int place_other(struct reader *reader, const char *name, const char *process)
{
	const struct unit *unit = reader->unit;
	int64_t resource = json_import_resource(&reader->import, unit->resource, NULL, unit->unit,
						strcmp(unit->resource, "samples") == 0 ? IMPORT_SAMPLES : IMPORT_SUMS);
	int64_t thread =
		resource < 0 ? resource
			     : import_tree_thread(&reader->import.tree, 0, (uint32_t)reader->number + 1, process, name);
	if (thread < 0)
		return (int)thread;
	reader->resource = (uint32_t)resource;
	reader->thread = (uint32_t)thread;
	return 0;
}

/* Sets the resource and the thread. */
static int place(struct reader *reader, const struct json_node *profile, const char *name, const char *process)
{
	const char *title;
	bool is_count = strcmp(reader->unit->word, "none") == 0;
	int64_t own = json_import_own(&reader->import, profile, is_count ? NULL : reader->unit->unit, &title);
	if (own < 0)
		return (int)own;
	if (own == PROFILE_NONE)
		return place_other(reader, name, process);
	size_t length = strlen(title);
	return place_own(reader, (uint32_t)own, strncmp(name, title, length) == 0 ? name + length : "", process);
}

static int read_profile(struct reader *reader, const struct json_node *profile, const char *process)
{
	const char *name = json_node_text(json_node_member(profile, "name"));
	const char *type = json_node_text(json_node_member(profile, "type"));
	reader->unit = unit_of(profile);
	reader->import.place = (struct json_place){ 0 };
	if (!type || !reader->unit)
		return json_import_refuse(&reader->import, "profile %zu has no 'type', or an unknown 'unit'",
					  reader->number);
	int code = place(reader, profile, name ? name : "", process);
	if (code < 0)
		return code;
	if (is_evented(profile))
		return read_evented(reader, profile);
	if (strcmp(type, "sampled") == 0)
		return read_sampled(reader, profile);
	return json_import_refuse(&reader->import, "profile %zu is neither 'sampled' nor 'evented'", reader->number);
}

/* Sets the range of time of the events. */
static void find_start(struct reader *reader, const struct json_node *profiles)
{
	struct profile *profile = reader->import.tree.profile;
	long double end = 0;
	bool has_times = false;
	for (size_t i = 0; i < json_node_count(profiles); i++) {
		const struct json_node *row = json_node_element(profiles, i);
		const struct unit *unit = unit_of(row);
		if (!unit || !is_evented(row))
			continue;
		long double from = time_of(unit, json_node_member(row, "startValue"));
		long double to = time_of(unit, json_node_member(row, "endValue"));
		reader->start = !has_times || from < reader->start ? from : reader->start;
		end = !has_times || to > end ? to : end;
		has_times = true;
	}
	if (has_times && end > reader->start && end - reader->start < (long double)PROFILE_HITS_MOST) {
		profile->start_ns = IMPORT_START_NS;
		profile->end_ns = IMPORT_START_NS + (uint64_t)(end - reader->start);
	}
}

static int read_all(struct reader *reader)
{
	const struct json_node *document = reader->import.document, *profiles = json_node_member(document, "profiles");
	const char *exporter = json_node_text(json_node_member(document, "exporter"));
	const char *title = json_node_text(json_node_member(document, "name"));
	reader->is_ours = exporter && strncmp(exporter, "cpprof ", strlen("cpprof ")) == 0;
	int code = json_node_is(profiles, JSON_NODE_ARRAY)
			   ? read_frames(reader)
			   : json_import_refuse(&reader->import, "it has no list 'profiles'");
	find_start(reader, profiles);
	for (; code == 0 && reader->number < json_node_count(profiles); reader->number++)
		code = read_profile(reader, json_node_element(profiles, reader->number), title ? title : "imported");
	return code < 0 ? code : import_tree_command(&reader->import.tree, title);
}

struct profile *speedscope_import(FILE *in, const char *name, const char *image, struct error *error)
{
	(void)image; /* names need no image */
	struct reader reader = { 0 };
	int code = json_import_open(&reader.import, "speedscope", false, in, name, error);
	if (code == 0)
		code = read_all(&reader);
	free(reader.locations);
	free(reader.calls);
	return json_import_close(&reader.import, code);
}

bool speedscope_recognise(const unsigned char *start, size_t bytes)
{
	return json_import_begins(start, bytes, '{') &&
	       (json_import_contains(start, bytes, "speedscope.app/") ||
		json_import_contains(start, bytes, "\"evented\"") || json_import_contains(start, bytes, "\"sampled\""));
}
