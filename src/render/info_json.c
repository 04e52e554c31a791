#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/info.h"

static void text_field(FILE *out, const char *before, const char *name, const char *text)
{
	fprintf(out, "%s\"%s\": ", before, name);
	json_string_write(out, text);
}

static void count_field(FILE *out, const char *name, uint64_t count)
{
	fprintf(out, ", \"%s\": %" PRIu64, name, count);
}

static void open_row(FILE *out, size_t index)
{
	fputs(index ? ",\n  {" : "\n  {", out);
}

static double seconds_since_start(const struct profile *profile, uint64_t time_ns)
{
	return time_ns > profile->start_ns ? (double)(time_ns - profile->start_ns) / 1e9 : 0;
}

/* Prints null for a start before the recording and for an end after it. */
static void life_fields(FILE *out, const struct profile *profile, uint64_t start_ns, uint64_t end_ns)
{
	fputs(", \"start_s\": ", out);
	if (start_ns)
		fprintf(out, "%.9f", seconds_since_start(profile, start_ns));
	else
		fputs("null", out);
	fputs(", \"end_s\": ", out);
	if (end_ns)
		fprintf(out, "%.9f", seconds_since_start(profile, end_ns));
	else
		fputs("null", out);
}

static void resource_rows(FILE *out, const struct info *info)
{
	const struct profile *profile = info->profile;
	static const char *const kinds[] = { "sampled", "merged", "exact", "sums" };
	for (size_t i = 0; i < profile->resource_count; i++) {
		const struct profile_resource *resource = &profile->resources[i];
		struct resource_sum sum = info_resource_sum(profile, (uint32_t)i);
		open_row(out, i);
		text_field(out, "", "name", profile_string(profile, resource->name));
		text_field(out, ", ", "title", profile_string(profile, resource->title));
		text_field(out, ", ", "unit", profile_string(profile, resource->unit));
		text_field(out, ", ", "backend", profile_string(profile, resource->backend));
		text_field(out, ", ", "note", profile_string(profile, resource->note));
		text_field(out, ", ", "kind", kinds[resource->kind]);
		count_field(out, "interval", resource->interval);
		count_field(out, "total", resource->total);
		count_field(out, "samples", sum.samples);
		count_field(out, "hits", sum.hits);
		count_field(out, "lost", resource->lost);
		fputc('}', out);
	}
}

static void process_rows(FILE *out, const struct info *info)
{
	const struct profile *profile = info->profile;
	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];
		open_row(out, i);
		text_field(out, "", "name", profile_string(profile, process->name));
		count_field(out, "pid", process->pid);
		count_field(out, "parent_pid", process->parent_pid);
		text_field(out, ", ", "cgroup", profile_string(profile, process->cgroup));
		life_fields(out, profile, process->start_ns, process->end_ns);
		fputc('}', out);
	}
}

static void thread_rows(FILE *out, const struct info *info)
{
	const struct profile *profile = info->profile;
	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		open_row(out, i);
		text_field(out, "", "name", profile_string(profile, thread->name));
		count_field(out, "tid", thread->tid);
		count_field(out, "pid", profile->processes[thread->process].pid);
		life_fields(out, profile, thread->start_ns, thread->end_ns);
		fputc('}', out);
	}
}

static void label_rows(FILE *out, const struct info *info)
{
	const struct profile *profile = info->profile;
	for (size_t i = 0; i < info->label_key_count; i++) {
		open_row(out, i);
		text_field(out, "", "key", profile_string(profile, info->label_keys[i].key));
		count_field(out, "values", info->label_keys[i].values);
		fputc('}', out);
	}
}

static void module_rows(FILE *out, const struct info *info)
{
	const struct profile *profile = info->profile;
	static const char *const kinds[] = { "file", "vdso", "anonymous", "kernel", "names" };
	size_t rows = 0;
	for (size_t i = 0; i < profile->module_count; i++) {
		char build_id[INFO_BUILD_ID_TEXT];
		if (profile->modules[i].kind == MODULE_THREAD)
			continue;
		open_row(out, rows++);
		text_field(out, "", "path", profile_string(profile, profile->modules[i].path));
		text_field(out, ", ", "kind", kinds[profile->modules[i].kind]);
		text_field(out, ", ", "build_id", info_build_id(&profile->modules[i], build_id));
		fputc('}', out);
	}
}

static void cause_rows(FILE *out, const struct info *info)
{
	const struct profile *profile = info->profile;
	for (size_t i = 0; i < profile->cause_count; i++) {
		const struct profile_cause *cause = &profile->causes[i];
		open_row(out, i);
		text_field(out, "", "cause", profile_string(profile, cause->text));
		count_field(out, "count", cause->count);
		fprintf(out, ", \"whole\": %s, \"completed\": %s, \"guessed\": %s}",
			cause->whole && !cause->guessed ? "true" : "false", cause->completed ? "true" : "false",
			cause->guessed ? "true" : "false");
	}
}

static void note_rows(FILE *out, const struct info *info)
{
	const struct profile *profile = info->profile;
	for (size_t i = 0; i < profile->note_count; i++) {
		open_row(out, i);
		text_field(out, "", "key", profile_string(profile, profile->notes[i].key));
		text_field(out, ", ", "value", profile_string(profile, profile->notes[i].value));
		fputc('}', out);
	}
}

void info_json(FILE *out, const struct info *info)
{
	static const struct {
		const char *name;
		void (*rows)(FILE *, const struct info *);
	} parts[] = {
		{ "resources", resource_rows }, { "processes", process_rows }, { "threads", thread_rows },
		{ "labels", label_rows },       { "modules", module_rows },    { "causes", cause_rows },
		{ "notes", note_rows },
	};
	const struct profile *profile = info->profile;
	const char *command = profile_note(profile, "command"), *host = profile_note(profile, "host");
	char start[64];
	render_json_begin(out, &(struct render_envelope){ .command = "info", .profile = profile });
	text_field(out, "", "file", info->file_name);
	count_field(out, "file_bytes", info->file_bytes);
	text_field(out, ", ", "command_line", command ? command : "");
	text_field(out, ", ", "host", host ? host : "");
	text_field(out, ", ", "start", info_start(profile, start, sizeof(start)));
	fprintf(out, ", \"duration_s\": %.9f", seconds_since_start(profile, profile->end_ns));
	fprintf(out, ", \"ended\": %s", profile->ended ? "true" : "false");
	count_field(out, "samples", info->quality.samples);
	count_field(out, "lost", profile->lost);
	count_field(out, "stacks", info->quality.stacks);
	count_field(out, "whole", info->quality.whole);
	count_field(out, "completed", info->quality.completed);
	count_field(out, "guessed", info->quality.guessed);
	count_field(out, "broken", info->quality.broken);
	count_field(out, "tail_calls_restored", info->tail_calls.restored);
	count_field(out, "tail_calls_ambiguous", info->tail_calls.ambiguous);
	count_field(out, "tail_calls_unknown", info->tail_calls.unknown);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		fprintf(out, ",\n\"%s\": [", parts[i].name);
		parts[i].rows(out, info);
		fputc(']', out);
	}
	fputs("}\n", out);
}
