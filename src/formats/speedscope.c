/*
 * speedscope: the JSON of the viewer of this name (jlfwong/speedscope,
 * src/lib/file-format-spec.ts). A list of frames, and profiles:
 *
 *   evented   of each thread of a trace: its calls, as frames that open and close
 *   sampled   of each resource and thread: its samples, as lists of frames from the outermost on, in the order of their times, each
 *             with a weight, the hits times the interval
 *
 * The frames of the calls follow the frames of the paths. They are known when the calls have been
 * written, so the list of frames comes last.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/amount.h"
#include "formats/call_events.h"
#include "formats/format.h"
#include "formats/json_import.h"
#include "formats/json_out.h"

enum { NUMBER_BYTES = 10 };

struct number_text {
	char text[NUMBER_BYTES + 1];
	uint8_t length;
};

struct writing {
	const struct format_input *input;
	const struct call_paths *paths;
	struct json_out json;
	struct number_text *numbers; /* per frame: its number, because stacks consist of tens of millions of them */
	char *text;                  /* room for the longest stack */
	size_t text_bytes;
	size_t profile_count;
};

static void write_frame(struct writing *writing, size_t index, const char *name)
{
	json_out_text(&writing->json, index ? ",\n{\"name\":" : "{\"name\":");
	json_out_string(&writing->json, name);
}

static void write_frames(struct writing *writing, const struct call_events *events)
{
	const struct call_paths *paths = writing->paths;
	struct json_out *json = &writing->json;
	for (size_t i = 0; i < paths->frame_count && !json_out_failed(json); i++) {
		const struct path_frame *frame = &paths->frames[i];
		write_frame(writing, i, frame->name);
		if (frame->file[0]) {
			json_out_text(json, ",\"file\":");
			json_out_string(json, frame->file);
		}
		if (frame->file[0] && frame->line) {
			json_out_text(json, ",\"line\":");
			json_out_number(json, frame->line);
		}
		json_out_text(json, "}");
	}
	for (uint32_t i = 0; events && i < call_events_name_count(events); i++) {
		write_frame(writing, paths->frame_count + i, call_events_name(events, i));
		json_out_text(json, "}");
	}
}

/* Begins a profile: its type, its name, its resource and its unit. */
static void begin_profile(struct writing *writing, const char *type, const struct json_out_resource *resource,
			  uint32_t thread, const char *unit)
{
	const struct profile *profile = writing->paths->profile;
	struct json_out *json = &writing->json;
	char *name = NULL;
	int length = -1;
	if (thread != PROFILE_NONE) {
		const struct profile_thread *row = &profile->threads[thread];
		length = asprintf(&name, "%s: %s %" PRIu32, resource->title, profile_string(profile, row->name),
				  row->tid);
		if (length < 0)
			json->status = ERROR_MEMORY;
	}
	json_out_text(json, writing->profile_count++ ? ",\n{\"type\":\"" : "{\"type\":\"");
	json_out_text(json, type);
	json_out_text(json, "\",\"name\":");
	json_out_string(json, length < 0 ? resource->title : name);
	json_out_resource(json, resource);
	json_out_text(json, ",\"unit\":\"");
	json_out_text(json, unit);
	json_out_text(json, "\"");
	if (length >= 0)
		free(name);
}

/* --- the calls of a trace --- */

static void write_call(struct writing *writing, const struct call_event *event, size_t *count)
{
	struct json_out *json = &writing->json;
	json_out_comma(json, count);
	json_out_text(json, event->kind == CALL_ENTER ? "{\"type\":\"O\",\"at\":" : "{\"type\":\"C\",\"at\":");
	json_out_number(json, event->time_ns);
	json_out_text(json, ",\"frame\":");
	json_out_number(json, writing->paths->frame_count + event->name);
	json_out_text(json, "}");
}

/* A profile for each thread that has calls in the selection. */
static int write_calls(struct writing *writing, struct call_events *events, struct error *error)
{
	struct json_out *json = &writing->json;
	struct call_event event;
	size_t count = 0; /* of the thread */
	int status;
	while ((status = call_events_next(events, &event, error)) > 0 && !json_out_failed(json)) {
		bool is_call = event.kind == CALL_ENTER || event.kind == CALL_LEAVE;
		if (is_call && count == 0) {
			uint32_t thread = call_event_thread(writing->paths->profile, &event);
			begin_profile(writing, "evented", &json_out_trace, thread, "nanoseconds");
			json_out_text(json, ",\"startValue\":");
			json_out_number(json, event.time_ns);
			json_out_text(json, ",\"events\":[");
		}
		if (is_call)
			write_call(writing, &event, &count);
		if (event.kind == CALL_THREAD_END && count > 0) {
			json_out_text(json, "],\"endValue\":");
			json_out_number(json, event.time_ns);
			json_out_text(json, "}");
			count = 0;
		}
	}
	return status < 0 ? status : 0;
}

/* --- samples --- */

/* The viewer knows the words of format_unit; any other unit is "none" there. */
static const char *unit_of(const struct profile *profile, const struct profile_resource *resource)
{
	const char *unit = profile_string(profile, resource->unit), *word = format_unit(unit);
	return word == unit ? "none" : word;
}

/* Writes "[1,22,3]", from its end on, because a path leads from its innermost frame to the outermost one. */
static void write_stack(struct writing *writing, uint32_t path)
{
	const struct call_paths *paths = writing->paths;
	char *at = writing->text + writing->text_bytes;
	*--at = 0;
	*--at = ']';
	for (uint32_t node = path; node != 0; node = paths->parent[node]) {
		const struct number_text *number = &writing->numbers[paths->frame[node]];
		at -= number->length;
		memcpy(at, number->text, number->length);
		if (paths->parent[node] != 0)
			*--at = ',';
	}
	*--at = '[';
	json_out_bytes(&writing->json, at, (size_t)(writing->text + writing->text_bytes - 1 - at));
}

static int make_numbers(struct writing *writing)
{
	const struct call_paths *paths = writing->paths;
	writing->text_bytes = paths->depth * (NUMBER_BYTES + 1) + sizeof("[]");
	writing->text = malloc(writing->text_bytes);
	writing->numbers = malloc((paths->frame_count + 1) * sizeof(*writing->numbers));
	if (!writing->text || !writing->numbers)
		return ERROR_MEMORY;
	for (size_t i = 0; i < paths->frame_count; i++)
		writing->numbers[i].length = (uint8_t)snprintf(writing->numbers[i].text, NUMBER_BYTES + 1, "%zu", i);
	return 0;
}

/* The hits of one resource in one thread: those of [first, end) that are of the resource. */
static void write_samples(struct writing *writing, const struct path_hit *hits, size_t first, size_t end,
			  uint32_t resource)
{
	const struct profile *profile = writing->paths->profile;
	const struct profile_resource *row = &profile->resources[resource];
	struct json_out *json = &writing->json;
	uint64_t total = 0;
	size_t stacks = 0, weights = 0;
	const struct json_out_resource shown = { profile_string(profile, row->name),
						 profile_string(profile, row->title),
						 profile_string(profile, row->unit) };
	begin_profile(writing, "sampled", &shown, hits[first].thread, unit_of(profile, row));
	json_out_text(json, ",\"startValue\":0,\"samples\":[");
	for (size_t i = first; i < end && !json_out_failed(json); i++) {
		if (hits[i].resource != resource)
			continue;
		json_out_comma(json, &stacks);
		write_stack(writing, hits[i].path);
	}
	json_out_text(json, "],\"weights\":[");
	for (size_t i = first; i < end && !json_out_failed(json); i++) {
		if (hits[i].resource != resource)
			continue;
		uint64_t weight = amount_of(profile, resource, hits[i].count);
		total = amount_sum(total, weight);
		json_out_comma(json, &weights);
		json_out_number(json, weight);
	}
	json_out_text(json, "],\"endValue\":");
	json_out_number(json, total);
	json_out_text(json, "}");
}

static bool has_resource(const struct path_hit *hits, size_t first, size_t end, uint32_t resource)
{
	for (size_t i = first; i < end; i++)
		if (hits[i].resource == resource)
			return true;
	return false;
}

static void write_resources(struct writing *writing, const struct path_hit *hits, size_t count)
{
	const struct call_paths *paths = writing->paths;
	for (uint32_t i = 0; i < paths->resource_count; i++) {
		uint32_t resource = paths->first_resource + i;
		if (!is_written(paths, resource))
			continue;
		for (size_t first = 0, end; first < count; first = end) {
			for (end = first; end < count && hits[end].thread == hits[first].thread;)
				end++;
			if (has_resource(hits, first, end, resource))
				write_samples(writing, hits, first, end, resource);
		}
	}
}

static int write_all(struct writing *writing, struct call_events *events, struct error *error)
{
	const char *command = profile_note(writing->paths->profile, "command");
	struct json_out *json = &writing->json;
	size_t count;
	struct path_hit *hits = call_paths_hits(writing->paths, &count);
	if (!hits) {
		free(hits);
		return ERROR_MEMORY;
	}
	json_out_text(json, "{\"$schema\":\"https://www.speedscope.app/"
			    "file-format-schema.json\",\"exporter\":\"cpprof " CPPROF_VERSION "\",\"name\":");
	json_out_string(json, command ? command : "profile");
	json_out_text(json, ",\n\"profiles\":[");
	int status = events ? write_calls(writing, events, error) : 0;
	if (status == 0)
		write_resources(writing, hits, count);
	json_out_text(json, "],\n\"shared\":{\"frames\":[");
	write_frames(writing, events);
	json_out_text(json, "]}}\n");
	free(hits);
	return status;
}

static int speedscope_export(const struct format_input *input, struct sink *out, struct error *error)
{
	struct writing writing = { .input = input, .paths = input->paths };
	struct call_events *events = input->events ? call_events_new(input) : NULL;
	int status = input->events && !events ? ERROR_MEMORY : 0;
	json_out_init(&writing.json, out, NULL);
	if (status == 0)
		status = make_numbers(&writing);
	if (status == 0)
		status = write_all(&writing, events, error);
	int written = json_out_end(&writing.json);
	if (status == 0)
		status = written;
	call_events_free(events);
	free(writing.numbers);
	free(writing.text);
	return status;
}

const struct format format_speedscope = {
	.name = "speedscope",
	.title = "speedscope profile",
	.ending = "speedscope.json",
	.summary = "for www.speedscope.app: a profile for each resource and thread, in the order of time; the calls of "
		   "a trace",
	.options = FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION,
	.needs = FORMAT_TAKES_TRACE,
	.paths = FORMAT_BY_LINE,
	.has_several = true,
	.recognise = speedscope_recognise,
	.import = speedscope_import,
	.export = speedscope_export,
};
