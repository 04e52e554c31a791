#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/findings.h"
#include "render/info.h"

static void print_pair(FILE *out, const char *key, const char *value)
{
	render_safe_text(out, key);
	fprintf(out, ":%*s ", strlen(key) < 12 ? (int)(12 - strlen(key)) : 0, "");
	render_safe_text(out, value);
	fputc('\n', out);
}

static void print_title(FILE *out, const char *title, size_t count, const struct render_options *options)
{
	paint_on(out, PAINT_HEADING, options);
	fprintf(out, "\n%s", title);
	paint_off(out, options);
	fprintf(out, " (%zu)\n", count);
}

static void print_headline(FILE *out, const struct info *info)
{
	const struct profile *profile = info->profile;
	char text[128];
	print_pair(out, "file", info->file_name);
	if (info->file_bytes)
		print_pair(out, "size", render_amount(text, sizeof(text), (double)info->file_bytes, "byte"));
	const char *command = profile_note(profile, "command"), *host = profile_note(profile, "host");
	print_pair(out, "command", command ? command : "not recorded");
	print_pair(out, "host", host ? host : "not recorded");
	const char *start = info_start(profile, text, sizeof(text));
	print_pair(out, "start", start[0] ? start : "not recorded");
	if (profile->end_ns > profile->start_ns)
		print_pair(out, "duration",
			   render_amount(text, sizeof(text), (double)(profile->end_ns - profile->start_ns), "ns"));
	for (size_t i = 0; i < profile->note_count; i++) {
		const char *key = profile_string(profile, profile->notes[i].key);
		if (!info_is_headline(key)) {
			char safe_key[64];
			snprintf(safe_key, sizeof(safe_key), "%s", key);
			print_pair(out, safe_key, profile_string(profile, profile->notes[i].value));
		}
	}
	if (!profile->ended && info->file_bytes) /* without a file, it goes on, and a screen shows it */
		print_pair(out, "end", "the recorder was stopped before its end");
}

static void print_quality(FILE *out, const struct info *info)
{
	const struct quality *quality = &info->quality;
	char text[160];
	snprintf(text, sizeof(text), "%" PRIu64, quality->samples);
	print_pair(out, "samples", text);
	uint64_t lost = info->profile->lost;
	snprintf(text, sizeof(text), "%" PRIu64 " (%.2f %%)", lost,
		 quality->samples + lost ? 100 - quality_percent(quality->samples, quality->samples + lost) : 0);
	print_pair(out, "lost", text);
	if (quality->stacks == 0) {
		print_pair(out, "whole", "unknown: no stacks were taken");
		return;
	}
	const struct quality_shares shares = quality_shares_of(quality);
	snprintf(text, sizeof(text), "%.2f %% (%" PRIu64 " of %" PRIu64 " %s root by unwind rules)", shares.whole,
		 quality->whole, quality->stacks, quality->stacks == 1 ? "stack reaches its" : "stacks reach their");
	print_pair(out, "whole", text);
	snprintf(text, sizeof(text), "%" PRIu64 " of these by memory from outside the copied stack",
		 quality->completed);
	print_pair(out, "completed", text);
	snprintf(text, sizeof(text), "%.2f %% (%" PRIu64 ": where there was no rule, a frame may be missing)",
		 shares.guessed, quality->guessed);
	print_pair(out, "guessed", text);
	snprintf(text, sizeof(text), "%.2f %% (%" PRIu64 " begin with [incomplete stack])", shares.broken,
		 quality->broken);
	print_pair(out, "broken", text);
	const struct tail_calls_count *tails = &info->tail_calls;
	snprintf(text, sizeof(text), "%" PRIu64 " samples restored, %" PRIu64 " ambiguous, %" PRIu64 " unknown",
		 tails->restored, tails->ambiguous, tails->unknown);
	if (tails->restored + tails->ambiguous + tails->unknown > 0)
		print_pair(out, "tail calls", text);
}

/* Prints "; total 512,345,678 bytes counted, 512,360,448 bytes by its hits". */
static void print_total(FILE *out, const struct profile *profile, const struct profile_resource *resource,
			const struct resource_sum *sum)
{
	const char *unit = profile_string(profile, resource->unit);
	char amount[96];
	if (!resource_has_samples(resource)) {
		fprintf(out, ", total %s",
			render_count(amount, sizeof(amount), resource->total ? resource->total : sum->hits, unit));
		return;
	}
	fputs("; total ", out);
	if (resource->total)
		fprintf(out, "%s counted, ", render_count(amount, sizeof(amount), resource->total, unit));
	fprintf(out, "%s by its hits", render_count(amount, sizeof(amount), sum->hits * resource->interval, unit));
}

static void print_resource(FILE *out, const struct profile *profile, uint32_t index)
{
	const struct profile_resource *resource = &profile->resources[index];
	struct resource_sum sum = info_resource_sum(profile, index);
	char amount[96];
	fputs("  ", out);
	render_safe_text(out, profile_string(profile, resource->name));
	fputs(" (", out);
	render_safe_text(out, profile_string(profile, resource->title));
	if (!resource_has_samples(resource))
		fputs(resource->kind == RESOURCE_EXACT ? "): counted exactly" : "): amounts", out);
	else
		fprintf(out, "): every %s, %" PRIu64 " sample%s, %" PRIu64 " hit%s, %" PRIu64 " lost",
			render_interval(amount, sizeof(amount), resource->interval,
					profile_string(profile, resource->unit)),
			sum.samples, sum.samples == 1 ? "" : "s", sum.hits, sum.hits == 1 ? "" : "s", resource->lost);
	print_total(out, profile, resource, &sum);
	const char *backend = profile_string(profile, resource->backend);
	if (backend[0]) {
		fputs("; by ", out);
		render_safe_text(out, backend);
	}
	const char *note = profile_string(profile, resource->note);
	if (note[0]) {
		fputs("; ", out);
		render_safe_text(out, note);
	}
	fputc('\n', out);
}

static void print_life(FILE *out, const struct profile *profile, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns > profile->start_ns)
		fprintf(out, ", from %.3f s", (double)(start_ns - profile->start_ns) / 1e9);
	if (end_ns > profile->start_ns)
		fprintf(out, ", until %.3f s", (double)(end_ns - profile->start_ns) / 1e9);
	fputc('\n', out);
}

static void print_processes(FILE *out, const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++) {
		const struct profile_process *process = &profile->processes[i];
		fprintf(out, "  %" PRIu32 " ", process->pid);
		render_safe_text(out, profile_string(profile, process->name));
		if (process->parent_pid)
			fprintf(out, ", child of %" PRIu32, process->parent_pid);
		print_life(out, profile, process->start_ns, process->end_ns);
	}
}

static void print_threads(FILE *out, const struct profile *profile)
{
	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		fprintf(out, "  %" PRIu32 " ", thread->tid);
		render_safe_text(out, profile_string(profile, thread->name));
		fprintf(out, ", of process %" PRIu32, profile->processes[thread->process].pid);
		print_life(out, profile, thread->start_ns, thread->end_ns);
	}
}

/* Prints the number of processes of each control group, by path. Prints nothing if the profile has no control
 * groups. */
static void print_cgroups(FILE *out, const struct info *info, const struct render_options *options)
{
	const struct profile *profile = info->profile;
	const uint32_t *groups = info->cgroups;
	size_t count = info->cgroup_count, distinct = 0;
	for (size_t i = 0; i < count; i++)
		distinct += i == 0 || groups[i] != groups[i - 1];
	if (distinct > 0)
		print_title(out, "control groups", distinct, options);
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && groups[end] == groups[first]; end++)
			;
		fputs("  ", out);
		render_safe_text(out, profile_string(profile, groups[first]));
		fprintf(out, ": %zu process%s\n", end - first, end - first == 1 ? "" : "es");
	}
}

static void print_labels(FILE *out, const struct info *info, const struct render_options *options)
{
	if (info->label_key_count > 0)
		print_title(out, "labels", info->label_key_count, options);
	for (size_t i = 0; i < info->label_key_count; i++) {
		const struct label_key *label = &info->label_keys[i];
		fputs("  ", out);
		render_safe_text(out, profile_string(info->profile, label->key));
		fprintf(out, ": %zu value%s\n", label->values, label->values == 1 ? "" : "s");
	}
}

static void print_modules(FILE *out, const struct profile *profile)
{
	for (size_t i = 0; i < profile->module_count; i++) {
		char build_id[INFO_BUILD_ID_TEXT];
		if (profile->modules[i].kind == MODULE_THREAD)
			continue;
		info_build_id(&profile->modules[i], build_id);
		fprintf(out, "  %-40s ", build_id[0] ? build_id : "(no build-id)");
		render_safe_text(out, profile_string(profile, profile->modules[i].path));
		fputc('\n', out);
	}
}

static void print_causes(FILE *out, const struct info *info)
{
	const struct profile *profile = info->profile;
	for (size_t i = 0; i < profile->cause_count; i++) {
		const struct profile_cause *cause = &profile->causes[i];
		fprintf(out, "  %10" PRIu64 " %7.2f %%  %s", cause->count,
			info->quality.stacks ? quality_percent(cause->count, info->quality.stacks) : 0,
			!cause->whole    ? "broken: "
			: cause->guessed ? "guessed: "
					 : "");
		render_safe_text(out, profile_string(profile, cause->text));
		fputc('\n', out);
	}
}

static void print_findings(FILE *out, const struct profile *profile, const struct render_options *options)
{
	struct finding_walk walk = { 0 };
	if (profile->finding_count == 0)
		return;
	print_title(out, "findings", profile->finding_count, options);
	for (const struct profile_finding *finding; (finding = finding_next(profile, &walk));) {
		const struct finding_code_row *row = finding_code_find(profile_string(profile, finding->code));
		fprintf(out, "  %s: ", finding_severity_name(finding->severity));
		render_safe_text(out, profile_string(profile, finding->text));
		fprintf(out, "%s%s\n", row && row->meaning[0] ? "\n      " : "", row ? row->meaning : "");
	}
}

void info_text(FILE *out, const struct info *info, const struct render_options *options)
{
	const struct profile *profile = info->profile;
	print_headline(out, info);
	print_quality(out, info);
	print_title(out, "resources", profile->resource_count, options);
	for (uint32_t i = 0; i < profile->resource_count; i++)
		print_resource(out, profile, i);
	print_title(out, "processes", profile->process_count, options);
	print_processes(out, profile);
	print_cgroups(out, info, options);
	print_title(out, "threads", profile->thread_count, options);
	print_threads(out, profile);
	print_labels(out, info, options);
	print_title(out, "modules", info_module_count(profile), options);
	print_modules(out, profile);
	if (profile->cause_count > 0) {
		print_title(out, "how the stacks ended", profile->cause_count, options);
		print_causes(out, info);
	}
	print_findings(out, profile, options);
}
