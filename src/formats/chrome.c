/*
 * chrome: the trace events of Chromium, which Perfetto's viewer shows as lanes of threads ("Trace
 * Event Format", Google). Times are microseconds since the start of the recording.
 *
 *   "B", "E"     a call of a trace begins, ends
 *   "i"          a mark in the lane: a sample, with its stack (sf), its resource (cat) and its amount; a tick of a trace; an event of
 *                the program (cpprof_event)
 *   "M"          the name of a process or thread
 *   stackFrames  the call paths: a frame and its parent. sf refers to them
 */
#include <stdlib.h>

#include "formats/amount.h"
#include "formats/call_events.h"
#include "formats/format.h"
#include "formats/json_import.h"
#include "formats/json_out.h"

enum { NS_IN_US = 1000 };

struct chrome {
	const struct format_input *input;
	const struct call_paths *paths;
	struct json_out json;
	size_t event_count;
};

/* Writes the start of an event: {"ph":"B","pid":1,"tid":2,"ts":3.5 */
static void begin_event(struct chrome *chrome, const char *kind, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct json_out *json = &chrome->json;
	json_out_text(json, chrome->event_count++ ? ",\n{\"ph\":\"" : "{\"ph\":\"");
	json_out_text(json, kind);
	json_out_text(json, "\",\"pid\":");
	json_out_number(json, pid);
	json_out_text(json, ",\"tid\":");
	json_out_number(json, tid);
	json_out_text(json, ",\"ts\":");
	json_out_decimal(json, time_ns, NS_IN_US);
}

static void write_name(struct chrome *chrome, const char *key, uint32_t pid, uint32_t tid, const char *name)
{
	struct json_out *json = &chrome->json;
	begin_event(chrome, "M", pid, tid, 0);
	json_out_text(json, ",\"name\":\"");
	json_out_text(json, key);
	json_out_text(json, "\",\"args\":{\"name\":");
	json_out_string(json, name);
	json_out_text(json, "}}");
}

static void write_names(struct chrome *chrome)
{
	const struct profile *profile = chrome->paths->profile;
	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];
		write_name(chrome, "process_name", process->pid, process->pid, profile_string(profile, process->name));
	}
	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		write_name(chrome, "thread_name", profile->processes[thread->process].pid, thread->tid,
			   profile_string(profile, thread->name));
	}
}

/* --- samples --- */

static void write_labels(struct chrome *chrome, uint32_t label_set)
{
	const struct profile *profile = chrome->paths->profile;
	const struct profile_label_set *set = &profile->label_sets[label_set];
	struct json_out *json = &chrome->json;
	if (set->label_count == 0)
		return;
	json_out_text(json, ",\"labels\":{");
	for (size_t i = 0; i < set->label_count;) {
		const struct profile_label *label = &profile->labels[set->first_label + i];
		json_out_comma(json, &i);
		json_out_string(json, profile_string(profile, label->key));
		json_out_text(json, ":");
		json_out_string(json, profile_string(profile, label->value));
	}
	json_out_text(json, "}");
}

static void write_sample(struct chrome *chrome, const struct path_hit *hit)
{
	const struct call_paths *paths = chrome->paths;
	const struct profile *profile = paths->profile;
	const struct profile_resource *resource = &profile->resources[hit->resource];
	struct json_out *json = &chrome->json;
	uint32_t pid = hit->process == PROFILE_NONE ? 0 : profile->processes[hit->process].pid;
	uint32_t tid = hit->thread == PROFILE_NONE ? 0 : profile->threads[hit->thread].tid;
	uint64_t time = hit->time_ns > profile->start_ns ? hit->time_ns - profile->start_ns : 0;
	begin_event(chrome, "i", pid, tid, time);
	json_out_text(json, ",\"s\":\"t\",\"cat\":");
	json_out_string(json, profile_string(profile, resource->name));
	json_out_text(json, ",\"name\":");
	json_out_string(json, hit->path ? paths->frames[paths->frame[hit->path]].name : "[no stack]");
	if (hit->path) {
		json_out_text(json, ",\"sf\":");
		json_out_number(json, hit->path);
	}
	json_out_text(json, ",\"args\":{\"amount\":");
	json_out_number(json, amount_of(profile, hit->resource, hit->count));
	json_out_text(json, ",\"unit\":");
	json_out_string(json, profile_string(profile, resource->unit));
	write_labels(chrome, hit->label_set);
	json_out_text(json, "}}");
}

static int write_samples(struct chrome *chrome)
{
	size_t count;
	struct path_hit *hits = call_paths_hits(chrome->paths, &count);
	for (size_t i = 0; hits && i < count && !json_out_failed(&chrome->json); i++)
		if (is_written(chrome->paths, hits[i].resource))
			write_sample(chrome, &hits[i]);
	free(hits);
	return hits ? 0 : ERROR_MEMORY;
}

static void write_frames(struct chrome *chrome)
{
	const struct call_paths *paths = chrome->paths;
	struct json_out *json = &chrome->json;
	for (uint32_t i = 1; i < paths->count && !json_out_failed(json); i++) {
		const struct path_frame *frame = &paths->frames[paths->frame[i]];
		json_out_text(json, i > 1 ? ",\n\"" : "\"");
		json_out_number(json, i);
		json_out_text(json, "\":{\"name\":");
		json_out_string(json, frame->name);
		json_out_text(json, ",\"category\":");
		json_out_string(json, frame->module);
		if (paths->parent[i]) {
			json_out_text(json, ",\"parent\":");
			json_out_number(json, paths->parent[i]);
		}
		json_out_text(json, "}");
	}
}

/* --- the events of a trace --- */

static void write_mark(struct chrome *chrome, const struct call_event *event, const char *category, const char *name)
{
	struct json_out *json = &chrome->json;
	begin_event(chrome, "i", event->process, event->thread, event->time_ns);
	json_out_text(json, ",\"s\":\"t\",\"cat\":\"");
	json_out_text(json, category);
	json_out_text(json, "\",\"name\":");
	json_out_string(json, name);
	if (event->kind == CALL_USER) {
		json_out_text(json, ",\"args\":{\"id\":");
		json_out_number(json, event->id);
		json_out_text(json, ",\"value\":");
		json_out_number(json, event->value);
		json_out_text(json, "}");
	}
	json_out_text(json, "}");
}

static void write_event(struct chrome *chrome, const struct call_events *events, const struct call_event *event)
{
	struct json_out *json = &chrome->json;
	const char *name = call_events_name(events, event->name);
	switch (event->kind) {
	case CALL_ENTER:
		begin_event(chrome, "B", event->process, event->thread, event->time_ns);
		json_out_text(json, ",\"cat\":\"call\",\"name\":");
		json_out_string(json, name);
		json_out_text(json, "}");
		break;
	case CALL_LEAVE:
		begin_event(chrome, "E", event->process, event->thread, event->time_ns);
		json_out_text(json, "}");
		break;
	case CALL_SAMPLE:
		write_mark(chrome, event, "tick", name);
		break;
	case CALL_USER:
		write_mark(chrome, event, "event", "cpprof_event");
		break;
	case CALL_THREAD_BEGIN:
	case CALL_THREAD_END:
		break;
	}
}

static int write_events(struct chrome *chrome, struct error *error)
{
	struct call_events *events = call_events_new(chrome->input);
	struct call_event event;
	if (!events)
		return error_set(error, ERROR_MEMORY, "cannot export: %s", error_text(ERROR_MEMORY));
	int status;
	while ((status = call_events_next(events, &event, error)) > 0 && !json_out_failed(&chrome->json))
		write_event(chrome, events, &event);
	call_events_free(events);
	return status < 0 ? status : 0;
}

/* The hits of a trace are sums of its events, without times. */
static int write_all(struct chrome *chrome, struct error *error)
{
	const char *command = profile_note(chrome->paths->profile, "command");
	struct json_out *json = &chrome->json;
	json_out_text(json, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"exporter\":\"cpprof " CPPROF_VERSION
			    "\",\"command\":");
	json_out_string(json, command ? command : "");
	json_out_text(json, "},\n\"traceEvents\":[\n");
	write_names(chrome);
	int status = chrome->input->events ? write_events(chrome, error) : write_samples(chrome);
	json_out_text(json, "],\n\"stackFrames\":{\n");
	if (!chrome->input->events && status == 0)
		write_frames(chrome);
	json_out_text(json, "}}\n");
	return status;
}

static int chrome_export(const struct format_input *input, struct sink *out, struct error *error)
{
	struct chrome chrome = { .input = input, .paths = input->paths };
	json_out_init(&chrome.json, out, NULL);
	int status = write_all(&chrome, error);
	int written = json_out_end(&chrome.json);
	if (status == 0)
		status = written;
	return status;
}

const struct format format_chrome = {
	.name = "chrome",
	.title = "Chrome trace",
	.ending = "trace.json",
	.summary = "for ui.perfetto.dev: the calls of a trace, or each sample with its stack, in lanes of threads",
	.options = FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION,
	.needs = FORMAT_TAKES_TRACE,
	.paths = FORMAT_BY_LINE,
	.has_several = true,
	.recognise = chrome_recognise,
	.import = chrome_import,
	.export = chrome_export,
};
