/* Prints the lines above the entries of a result. */
#include <inttypes.h>
#include <string.h>

#include "analyze/transform.h"
#include "base/plural.h"
#include "profile/companion.h"
#include "profile/findings.h"
#include "render/emit.h"

/* Prints one gtick, or the whole interval for units of time and for bytes. */
static void print_gtick(FILE *out, const char *unit, uint64_t interval)
{
	char amount[64];
	if (render_is_time(unit) || (strcmp(unit, "byte") == 0 && interval > 1))
		fprintf(out, " (%s)", render_interval(amount, sizeof(amount), interval, unit));
	else if (unit[0]) {
		fputs(" (1 gtick = 1 ", out);
		render_safe_text(out, unit);
		fputc(')', out);
	}
}

static void print_transforms(FILE *out, const struct transforms *list)
{
	for (size_t i = 0; list && i < list->count; i++) {
		fputs(i > 0 ? ", " : "; transforms: ", out);
		render_safe_text(out, list->items[i].text);
	}
}

void samples_print(FILE *out, const struct view *view)
{
	const struct profile_resource *resource = view->resource;
	const char *unit = profile_string(view->profile, resource->unit);
	if (!resource_has_samples(resource)) {
		bool is_corrected =
			companion_of(view->profile, view->options.resource, COMPANION_ERROR) != PROFILE_NONE;
		fprintf(out, "%" PRIu64 " gtick%s%s", view->total, plural_ending("gtick", (double)view->total),
			is_corrected                       ? ", corrected"
			: resource->kind == RESOURCE_EXACT ? ", counted exactly"
							   : "");
		print_gtick(out, unit, 1);
	} else {
		fprintf(out, "%" PRIu64 " sample%s, ", view->samples, plural_ending("sample", (double)view->samples));
		if (view->total != view->samples)
			fprintf(out, "%" PRIu64 " hit%s, ", view->total, plural_ending("hit", (double)view->total));
		fprintf(out, "sampled every %" PRIu64 " gtick%s", resource->interval,
			plural_ending("gtick", (double)resource->interval));
		print_gtick(out, unit, resource->interval);
	}
	const char *note = profile_string(view->profile, resource->note);
	if (note[0]) {
		fputs("; ", out);
		render_safe_text(out, note);
	}
	print_transforms(out, view->options.transforms);
	fputc('\n', out);
}

const char *raw_name(const struct view *view)
{
	if (!resource_has_samples(view->resource))
		return "raw_gticks";
	return view->total != view->samples ? "raw_hits" : "raw_samples";
}

void title_print(FILE *out, const char *what, const struct result *result, const struct render_options *options)
{
	const struct view *view = result->view;
	paint_on(out, PAINT_HEADING, options);
	fprintf(out, "%s%s", what, result->heading);
	if (result->is_section) {
		fputs(" of ", out);
		labels_print(out, view->profile, &result->section);
	}
	fputs(" for resource: ", out);
	render_safe_text(out, profile_string(view->profile, view->resource->title));
	paint_off(out, options);
	fputc('\n', out);
}

void heading_print(FILE *out, const struct result *result, const char *format, const struct render_options *options)
{
	title_print(out, "", result, options);
	samples_print(out, result->view);
	fprintf(out, "format: %s\n", format);
	fputs("-----------------------------------------------------\n", out);
}

/* Prints a text of the profile, made safe for a terminal. */
static void print_line(FILE *out, const char *beginning, const char *text)
{
	fputs(beginning, out);
	render_safe_text(out, text);
	fputc('\n', out);
}

/* Returns the most severe finding that may be why there are no samples. Others are about samples that exist. */
static const struct profile_finding *reason_of(const struct profile *profile)
{
	static const enum finding_code reasons[] = {
		FINDING_OUT_OF_MEMORY,
		FINDING_DISK_FULL,
		FINDING_UNSAMPLED,
		FINDING_SAMPLING_PAUSED,
		FINDING_CODE_NOT_LOADED,
		FINDING_PROCESSES_NOT_RECORDED,
		FINDING_SAMPLES_LOST,
		FINDING_PROGRAMS_NOT_RECORDED,
		FINDING_THREADS_NOT_RECORDED,
		FINDING_SAMPLES_DAMAGED,
		FINDING_TIMER_SIGNAL_TAKEN,
		FINDING_SANDBOXED,
		FINDING_FP_SIGNAL_TAKEN,
		FINDING_TICKS_LATE,
		FINDING_EVENTS_LOST,
		FINDING_ALLOCATORS_UNCOUNTED,
		FINDING_LIBRARY_NEVER_LOADED,
		FINDING_RESOURCE_UNDECLARED,
		FINDING_OLD_WARNING,
	};
	struct finding_walk walk = { 0 };
	for (const struct profile_finding *finding; (finding = finding_next(profile, &walk));)
		for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
			if (strcmp(profile_string(profile, finding->code), finding_codes[reasons[i]].name) == 0)
				return finding;
	return NULL;
}

bool empty_print(FILE *out, const struct view *view)
{
	if (view->total > 0)
		return false;
	const struct view_options *options = &view->options;
	bool selected = options->processes || options->label_sets || options->thread != VIEW_ANY || options->from_ns ||
			options->to_ns || options->transforms;
	const struct profile_finding *reason = reason_of(view->profile);
	char amount[64];
	uint64_t duration_ns = profile_duration_ns(view->profile);
	if (selected && options->from_ns > 0 && options->from_ns >= duration_ns)
		fprintf(out, "no samples in this selection: it begins at %g s, the recording lasts %g s\n",
			(double)options->from_ns / 1e9, (double)duration_ns / 1e9);
	else if (selected)
		fputs("no samples in this selection\n", out);
	else if (view->resource->kind == RESOURCE_EXACT)
		fputs("nothing counted: the program used none of this resource\n", out);
	else if (view->resource->kind != RESOURCE_SAMPLED)
		fputs("no samples: the imported file has none\n", out);
	else if (reason && reason->severity != FINDING_NOTE)
		print_line(out, "no samples: ", profile_string(view->profile, reason->text));
	else
		fprintf(out, "no samples: the program used less than one interval (%s) of this resource\n",
			render_interval(amount, sizeof(amount), view->resource->interval,
					profile_string(view->profile, view->resource->unit)));
	return true;
}

bool rootless_print(FILE *out, const struct view *view, const char *root, bool has_hits)
{
	if (empty_print(out, view))
		return true;
	if (!root || has_hits)
		return false;
	fputs("no hits of ", out);
	render_safe_text(out, root);
	fputs(" in this selection\n", out);
	return true;
}
