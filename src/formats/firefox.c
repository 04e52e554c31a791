/*
 * firefox: the processed profile of profiler.firefox.com, JSON compressed by gzip. Times are
 * milliseconds since the start.
 *
 *   thread    a thread and a resource: samples with stack, time and weight (time in ms, bytes, or a count of the resource's unit); and
 *             for each thread of a trace its calls: a sample for each stretch of time in which the stack stays the same
 *   markers   the events of the program in a trace (cpprof_event), and its ticks
 *   shared    stacks, frames with lines and categories, functions, modules
 *
 * Samples without times, as imported profiles have them, are 1 ms apart, because the viewer shows
 * nothing without a range of time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/time_unit.h"
#include "formats/amount.h"
#include "formats/firefox.h"
#include "formats/json_import.h"

enum { NS_IN_MS = 1000 * 1000 };

/* A stretch of time of a thread of a trace. */
struct stretch {
	uint32_t stack;
	uint64_t start_ns, duration_ns;
};

/* A thread of a trace, whose columns are written when all its events are known. */
struct lane {
	struct stretch *stretches;
	struct call_event *markers;
	size_t stretch_count, stretch_capacity, marker_count, marker_capacity;
	uint32_t stack; /* the current one; PROFILE_NONE: no call is open */
	uint64_t since_ns;
};

/* --- threads --- */

/* Writes a thread up to its samples. Its name ends in the resource if the file has several. */
static void begin_thread(struct firefox *firefox, uint32_t thread, const struct json_out_resource *resource)
{
	bool has_several = firefox->paths->resource_count > 1 || firefox->events;
	const struct profile *profile = firefox->paths->profile;
	const struct profile_thread *row = thread == PROFILE_NONE ? NULL : &profile->threads[thread];
	const struct profile_process *process = row ? &profile->processes[row->process] : NULL;
	struct json_out *json = &firefox->json;
	char *name = NULL;
	const char *thread_name = row ? profile_string(profile, row->name) : "no thread";
	if (has_several && asprintf(&name, "%s: %s", thread_name, resource->title) < 0) {
		json->status = ERROR_MEMORY;
		return;
	}
	json_out_comma(json, &firefox->thread_count);
	json_out_text(json, "\n{\"name\":");
	json_out_string(json, name ? name : thread_name);
	free(name);
	json_out_resource(json, resource);
	json_out_text(json, ",\"processName\":");
	json_out_string(json, process ? profile_string(profile, process->name) : "");
	json_out_text(json, ",\"pid\":\"");
	json_out_number(json, process ? process->pid : 0);
	json_out_text(json, "\",\"tid\":");
	json_out_number(json, row ? row->tid : 0);
	json_out_text(json, ",\"isMainThread\":");
	json_out_text(json, row && row->tid == process->pid ? "true" : "false");
	json_out_text(json, ",\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
			    "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"samples\":{\"stack\":[");
}

static void end_samples(struct json_out *json, const char *weight_type, size_t count)
{
	json_out_text(json, "],\"weightType\":\"");
	json_out_text(json, weight_type);
	json_out_text(json, "\",\"length\":");
	json_out_number(json, count);
	json_out_text(json, "}");
}

/* --- the calls of a trace --- */

static uint32_t call_stack(struct firefox *firefox, uint32_t parent, uint32_t name)
{
	uint32_t known = hash_map_get(&firefox->by_call, (uint64_t)parent << 32 | name);
	if (known != HASH_MAP_NONE)
		return known;
	uint32_t stack = (uint32_t)(firefox->paths->count - 1 + firefox->call_count);
	if (ARRAY_RESERVE(firefox->calls, firefox->call_capacity, firefox->call_count + 1) < 0 ||
	    hash_map_put(&firefox->by_call, (uint64_t)parent << 32 | name, stack) < 0) {
		firefox->json.status = ERROR_MEMORY;
		return PROFILE_NONE;
	}
	firefox->calls[firefox->call_count++] = (struct firefox_stack){ parent, name };
	return stack;
}

static void end_stretch(struct firefox *firefox, struct lane *lane, uint64_t time_ns)
{
	if (lane->stack != PROFILE_NONE && time_ns > lane->since_ns) {
		if (ARRAY_RESERVE(lane->stretches, lane->stretch_capacity, lane->stretch_count + 1) < 0)
			firefox->json.status = ERROR_MEMORY;
		else
			lane->stretches[lane->stretch_count++] =
				(struct stretch){ lane->stack, lane->since_ns, time_ns - lane->since_ns };
	}
	lane->since_ns = time_ns;
}

static void take_event(struct firefox *firefox, struct lane *lane, const struct call_event *event)
{
	switch (event->kind) {
	case CALL_ENTER:
		end_stretch(firefox, lane, event->time_ns);
		lane->stack = call_stack(firefox, lane->stack, event->name);
		break;
	case CALL_LEAVE:
		end_stretch(firefox, lane, event->time_ns);
		if (lane->stack != PROFILE_NONE)
			lane->stack = firefox->calls[lane->stack - (firefox->paths->count - 1)].parent;
		break;
	case CALL_SAMPLE:
	case CALL_USER:
		if (ARRAY_RESERVE(lane->markers, lane->marker_capacity, lane->marker_count + 1) < 0)
			firefox->json.status = ERROR_MEMORY;
		else
			lane->markers[lane->marker_count++] = *event;
		break;
	case CALL_THREAD_BEGIN:
	case CALL_THREAD_END:
		break;
	}
}

static void write_stretches(struct json_out *json, const struct lane *lane)
{
	size_t comma = 0;
	for (size_t i = 0; i < lane->stretch_count; i++) {
		json_out_comma(json, &comma);
		json_out_number(json, lane->stretches[i].stack);
	}
	json_out_text(json, "],\"time\":[");
	comma = 0;
	for (size_t i = 0; i < lane->stretch_count; i++) {
		json_out_comma(json, &comma);
		json_out_decimal(json, lane->stretches[i].start_ns, NS_IN_MS);
	}
	json_out_text(json, "],\"weight\":[");
	comma = 0;
	for (size_t i = 0; i < lane->stretch_count; i++) {
		json_out_comma(json, &comma);
		json_out_decimal(json, lane->stretches[i].duration_ns, NS_IN_MS);
	}
	end_samples(json, "tracing-ms", lane->stretch_count);
}

/* Writes a column of the markers that is the same for each. */
static void write_same(struct json_out *json, const char *head, const char *element, size_t count)
{
	size_t comma = 0;
	json_out_text(json, head);
	while (comma < count) {
		json_out_comma(json, &comma);
		json_out_text(json, element);
	}
}

static void write_marker_data(struct firefox *firefox, const struct call_event *event)
{
	struct json_out *json = &firefox->json;
	if (event->kind == CALL_USER) {
		json_out_text(json, "{\"type\":\"cpprof_event\",\"id\":");
		json_out_number(json, event->id);
		json_out_text(json, ",\"value\":");
		json_out_number(json, event->value);
	} else {
		json_out_text(json, "{\"type\":\"tick\",\"function\":");
		json_out_string(json, call_events_name(firefox->events, event->name));
	}
	json_out_text(json, "}");
}

static void write_markers(struct firefox *firefox, const struct lane *lane)
{
	struct json_out *json = &firefox->json;
	size_t count = lane ? lane->marker_count : 0, comma = 0;
	json_out_text(json, ",\"markers\":{\"name\":[");
	for (size_t i = 0; i < count; i++) {
		bool is_user = lane->markers[i].kind == CALL_USER;
		json_out_comma(json, &comma);
		json_out_number(json, firefox_string(firefox, is_user ? "cpprof_event" : "tick"));
	}
	json_out_text(json, "],\"startTime\":[");
	comma = 0;
	for (size_t i = 0; i < count; i++) {
		json_out_comma(json, &comma);
		json_out_decimal(json, lane->markers[i].time_ns, NS_IN_MS);
	}
	json_out_text(json, "],\"data\":[");
	comma = 0;
	for (size_t i = 0; i < count; i++) {
		json_out_comma(json, &comma);
		write_marker_data(firefox, &lane->markers[i]);
	}
	write_same(json, "],\"endTime\":[", "null", count);
	write_same(json, "],\"phase\":[", "0", count);
	write_same(json, "],\"category\":[", "0", count);
	json_out_text(json, "],\"length\":");
	json_out_number(json, count);
	json_out_text(json, "}}");
}

static int write_lanes(struct firefox *firefox, struct error *error)
{
	struct lane lane = { .stack = PROFILE_NONE };
	struct call_event event;
	int status;
	while ((status = call_events_next(firefox->events, &event, error)) > 0 && !json_out_failed(&firefox->json)) {
		take_event(firefox, &lane, &event);
		if (event.kind != CALL_THREAD_END)
			continue;
		if (lane.stretch_count + lane.marker_count > 0) {
			begin_thread(firefox, call_event_thread(firefox->paths->profile, &event), &json_out_trace);
			write_stretches(&firefox->json, &lane);
			write_markers(firefox, &lane);
		}
		lane.stretch_count = lane.marker_count = 0;
		lane.stack = PROFILE_NONE;
	}
	free(lane.stretches);
	free(lane.markers);
	return status < 0 ? status : 0;
}

/* --- samples --- */

/* Returns how many of a unit of time are a millisecond; 0: it is no unit of time. */
static uint64_t parts_of_ms(const char *unit)
{
	const uint64_t ns = time_unit_ns(unit);
	return ns > 0 ? NS_IN_MS / ns : 0;
}

static void write_weight(struct firefox *firefox, const struct path_hit *hit, uint64_t parts)
{
	json_out_decimal(&firefox->json, amount_of(firefox->paths->profile, hit->resource, hit->count), parts);
}

static const char *weight_type(const char *unit)
{
	return parts_of_ms(unit) ? "tracing-ms" : strcmp(unit, "byte") == 0 ? "bytes" : "samples";
}

/* Writes hits [first, end), which are of one thread and resource, in the order of time. */
static void write_samples(struct firefox *firefox, const struct path_hit *hits, size_t first, size_t end)
{
	const struct profile *profile = firefox->paths->profile;
	const struct profile_resource *row = &profile->resources[hits[first].resource];
	const char *unit = profile_string(profile, row->unit);
	const struct json_out_resource resource = { profile_string(profile, row->name),
						    profile_string(profile, row->title), unit };
	bool has_times = hits[end - 1].time_ns > 0;
	uint64_t parts = parts_of_ms(unit);
	struct json_out *json = &firefox->json;
	size_t comma = 0;
	begin_thread(firefox, hits[first].thread, &resource);
	for (size_t i = first; i < end && !json_out_failed(json); i++) {
		json_out_comma(json, &comma);
		if (hits[i].path)
			json_out_number(json, hits[i].path - 1);
		else
			json_out_text(json, "null");
	}
	json_out_text(json, "],\"time\":[");
	comma = 0;
	for (size_t i = first; i < end && !json_out_failed(json); i++) {
		uint64_t since = hits[i].time_ns > profile->start_ns ? hits[i].time_ns - profile->start_ns : 0;
		json_out_comma(json, &comma);
		json_out_decimal(json, has_times ? since : (i - first) * NS_IN_MS, NS_IN_MS);
	}
	json_out_text(json, "],\"weight\":[");
	comma = 0;
	for (size_t i = first; i < end && !json_out_failed(json); i++) {
		json_out_comma(json, &comma);
		write_weight(firefox, &hits[i], parts ? parts : 1);
	}
	end_samples(json, weight_type(unit), end - first);
	write_markers(firefox, NULL);
}

static int by_thread_and_resource(const void *left, const void *right)
{
	const struct path_hit *a = left, *b = right;
	return COMPARE(a->thread, b->thread) ?: COMPARE(a->resource, b->resource) ?: COMPARE(a->time_ns, b->time_ns);
}

static int write_resources(struct firefox *firefox)
{
	size_t count;
	struct path_hit *hits = call_paths_hits(firefox->paths, &count);
	if (!hits)
		return ERROR_MEMORY;
	if (firefox->paths->resource_count > 1)
		qsort(hits, count, sizeof(*hits), by_thread_and_resource);
	for (size_t first = 0, end; first < count && !json_out_failed(&firefox->json); first = end) {
		uint32_t resource = hits[first].resource;
		for (end = first + 1;
		     end < count && hits[end].thread == hits[first].thread && hits[end].resource == resource;)
			end++;
		if (is_written(firefox->paths, resource))
			write_samples(firefox, hits, first, end);
	}
	free(hits);
	return 0;
}

/* --- the profile --- */

static void write_meta(struct firefox *firefox)
{
	const struct profile *profile = firefox->paths->profile;
	const char *command = profile_note(profile, "command");
	struct json_out *json = &firefox->json;
	json_out_text(json, "{\"meta\":{\"version\":31,\"preprocessedProfileVersion\":" FIREFOX_VERSION
			    ",\"interval\":1,\"processType\":0,\"stackwalk\":1,\"symbolicated\":true,"
			    "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
			    "\"importedFrom\":\"cpprof " CPPROF_VERSION "\",\"startTime\":");
	json_out_decimal(json, profile->start_unix_ns > 0 ? (uint64_t)profile->start_unix_ns : 0, NS_IN_MS);
	json_out_text(json, ",\"profilingStartTime\":0,\"profilingEndTime\":");
	json_out_decimal(json, profile_duration_ns(profile), NS_IN_MS);
	json_out_text(json, ",\"product\":");
	json_out_string(json, command ? command : "profile");
	json_out_text(
		json,
		",\n\"categories\":["
		"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Program\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Library\",\"color\":\"lightblue\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Interpreter\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}],\n"
		"\"markerSchema\":["
		"{\"name\":\"cpprof_event\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
		"\"tableLabel\":\"{marker.data.id}: {marker.data.value}\",\"fields\":["
		"{\"key\":\"id\",\"label\":\"Id\",\"format\":\"integer\"},"
		"{\"key\":\"value\",\"label\":\"Value\",\"format\":\"integer\"}]},"
		"{\"name\":\"tick\",\"display\":[\"marker-chart\",\"marker-table\"],"
		"\"tableLabel\":\"{marker.data.function}\",\"fields\":["
		"{\"key\":\"function\",\"label\":\"Function\",\"format\":\"string\"}]}]},\n\"threads\":[");
}

static int write_all(struct firefox *firefox, struct error *error)
{
	write_meta(firefox);
	int status = firefox->events ? write_lanes(firefox, error) : 0;
	if (status == 0)
		status = write_resources(firefox);
	json_out_text(&firefox->json, "]");
	if (status == 0)
		status = firefox_write_tables(firefox);
	json_out_text(&firefox->json, "}\n");
	return status;
}

static int firefox_export(const struct format_input *input, struct sink *out, struct error *error)
{
	struct firefox firefox = { .input = input, .paths = input->paths };
	struct gzip gzip;
	firefox.events = input->events ? call_events_new(input) : NULL;
	hash_map_init(&firefox.by_call);
	json_out_init(&firefox.json, out, &gzip);
	int status = strings_init(&firefox.strings);
	if (input->events && !firefox.events)
		status = ERROR_MEMORY;
	if (status == 0)
		status = gzip_begin(&gzip, out);
	if (status == 0) {
		status = write_all(&firefox, error);
		int written = json_out_end(&firefox.json);
		gzip_end(&gzip);
		if (status == 0)
			status = written;
	}
	strings_release(&firefox.strings);
	hash_map_release(&firefox.by_call);
	call_events_free(firefox.events);
	free(firefox.calls);
	return status;
}

const struct format format_firefox = {
	.name = "firefox",
	.title = "Firefox profile",
	.ending = "json.gz",
	.summary = "for profiler.firefox.com: samples with times for each thread and resource, categories, lines; "
		   "calls and events "
		   "of a trace",
	.options = FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION,
	.needs = FORMAT_TAKES_TRACE,
	.paths = FORMAT_BY_LINE,
	.has_several = true,
	.is_binary = true,
	.recognise = firefox_recognise,
	.import = firefox_import,
	.export = firefox_export,
};
