/*
 * speedscope: the JSON of the viewer of this name (jlfwong/speedscope, src/lib/file-format-spec.ts). A list of frames, and a
 * profile for each resource and thread: its samples, as lists of frames from the outermost on, in the order of their times, each with a
 * weight, the hits times the interval.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"
#include "profile/companion.h"

struct writing {
	const struct call_paths *paths;
	struct sink *out;
	uint32_t *frames; /* room for the longest path */
};

static void write_frames(const struct writing *writing)
{
	const struct call_paths *paths = writing->paths;
	for (size_t i = 0; i < paths->frame_count && !sink_failed(writing->out); i++) {
		const struct path_frame *frame = &paths->frames[i];
		sink_text(writing->out, i ? ",\n{\"name\":" : "{\"name\":");
		sink_json_string(writing->out, frame->name);
		if (frame->file[0]) {
			sink_text(writing->out, ",\"file\":");
			sink_json_string(writing->out, frame->file);
		}
		if (frame->file[0] && frame->line)
			sink_printf(writing->out, ",\"line\":%" PRIu32, frame->line);
		sink_text(writing->out, "}");
	}
}

static void write_name(const struct writing *writing, const struct profile_resource *resource, uint32_t thread)
{
	const struct profile *profile = writing->paths->profile;
	char *name = NULL;
	const char *title = profile_string(profile, resource->title);
	int length;
	if (thread == PROFILE_NONE) {
		length = asprintf(&name, "%s", title);
	} else {
		const struct profile_thread *row = &profile->threads[thread];
		length = asprintf(&name, "%s: %s %" PRIu32, title, profile_string(profile, row->name), row->tid);
	}
	sink_json_string(writing->out, length < 0 ? title : name);
	if (length >= 0)
		free(name);
}

/* The viewer knows the words of format_unit; any other unit is "none" there. */
static const char *unit_of(const struct profile *profile, const struct profile_resource *resource)
{
	const char *unit = profile_string(profile, resource->unit), *word = format_unit(unit);
	return word == unit ? "none" : word;
}

/* The hits of one resource in one thread: those of [first, end) that are of the resource. */
static void write_profile(const struct writing *writing, const struct path_hit *hits, size_t first, size_t end,
			  uint32_t resource)
{
	const struct profile *profile = writing->paths->profile;
	const struct profile_resource *row = &profile->resources[resource];
	struct sink *out = writing->out;
	uint64_t total = 0;
	sink_text(out, "{\"type\":\"sampled\",\"name\":");
	write_name(writing, row, hits[first].thread);
	sink_printf(out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[", unit_of(profile, row));
	const char *comma = "";
	for (size_t i = first; i < end && !sink_failed(out); i++) {
		if (hits[i].resource != resource)
			continue;
		size_t length = call_paths_frames(writing->paths, hits[i].path, writing->frames);
		sink_printf(out, "%s[", comma);
		for (size_t at = 0; at < length; at++)
			sink_printf(out, at ? ",%" PRIu32 : "%" PRIu32, writing->frames[at]);
		sink_text(out, "]");
		comma = ",\n";
	}
	sink_text(out, "],\"weights\":[");
	comma = "";
	for (size_t i = first; i < end && !sink_failed(out); i++) {
		if (hits[i].resource != resource)
			continue;
		total += hits[i].count * row->interval;
		sink_printf(out, "%s%" PRIu64, comma, hits[i].count * row->interval);
		comma = ",";
	}
	sink_printf(out, "],\"endValue\":%" PRIu64 "}", total);
}

static bool has_resource(const struct path_hit *hits, size_t first, size_t end, uint32_t resource)
{
	for (size_t i = first; i < end; i++)
		if (hits[i].resource == resource)
			return true;
	return false;
}

static void write_profiles(const struct writing *writing, const struct path_hit *hits, size_t count)
{
	const struct call_paths *paths = writing->paths;
	const char *comma = "";
	for (uint32_t i = 0; i < paths->resource_count; i++) {
		uint32_t resource = paths->first_resource + i;
		if (paths->resource_count > 1 && companion_is(paths->profile, resource))
			continue;
		for (size_t first = 0, end; first < count; first = end) {
			for (end = first; end < count && hits[end].thread == hits[first].thread;)
				end++;
			if (!has_resource(hits, first, end, resource))
				continue;
			sink_text(writing->out, comma);
			write_profile(writing, hits, first, end, resource);
			comma = ",\n";
		}
	}
}

static int speedscope_export(const struct format_input *input, struct sink *out, struct error *error)
{
	const struct call_paths *paths = input->paths;
	struct writing writing = { .paths = paths, .out = out };
	size_t count;
	struct path_hit *hits = call_paths_hits(paths, &count);
	writing.frames = malloc((paths->depth + 1) * sizeof(*writing.frames));
	if (hits && writing.frames) {
		const char *command = profile_note(paths->profile, "command");
		sink_text(out, "{\"$schema\":\"https://www.speedscope.app/"
			       "file-format-schema.json\",\"exporter\":\"cpprof " CPPROF_VERSION "\",\"name\":");
		sink_json_string(out, command ? command : "profile");
		sink_text(out, ",\n\"shared\":{\"frames\":[");
		write_frames(&writing);
		sink_text(out, "]},\n\"profiles\":[");
		write_profiles(&writing, hits, count);
		sink_text(out, "]}\n");
	}
	int status = hits && writing.frames ? 0 : ERROR_MEMORY;
	free(hits);
	free(writing.frames);
	return status < 0 ? error_set(error, status, "cannot export: %s", error_text(status)) : 0;
}

const struct format format_speedscope = {
	.name = "speedscope",
	.title = "speedscope profile",
	.ending = "speedscope.json",
	.summary = "for www.speedscope.app: a profile for each resource and thread, in the order of time",
	.options = FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION,
	.paths = FORMAT_BY_LINE,
	.has_several = true,
	.export = speedscope_export,
};
