#include "optimize/loop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text_output.h"
#include "formats/format.h"

/* "own" and "before", and one for each form of the profile. */
enum { BUILDS_MAX = 2 + 3 };

struct build {
	const char *name; /* of its folder; with a profile, the profile's format */
	char folder[PATH_MAX + 32];
	enum optimize_output output;
};

struct job {
	struct optimize_loop *loop;
	FILE *out;
	struct build builds[BUILDS_MAX]; /* by increasing effort for the user: optimize_choose prefers the first */
	size_t count, before;            /* `before` is the index of the build by the same compiler without a profile */
	const char *failed[BUILDS_MAX];  /* builds whose command failed */
	size_t failed_count;
	char profile[PATH_MAX + 32];
};

static void name_profile(struct job *job, const char *format)
{
	snprintf(job->profile, sizeof(job->profile), "%s/%s.profile", job->loop->folder.path, format);
}

/* --- builds --- */

static int write_profile(const struct job *job, const struct profile *profile, const char *format, struct error *error)
{
	const struct format_input input = { .profile = profile, .view = { .resource = 0, .thread = VIEW_ANY } };
	struct text_output output;
	struct sink sink;
	int code = text_output_open(&output, job->profile, TEXT_OUTPUT_SHARED, error);
	if (code < 0)
		return code;
	sink_init(&sink, output.stream);
	code = format_export(format_find(format), &input, &sink, error);
	if (code == 0)
		return text_output_commit(&output, error);
	text_output_discard(&output);
	return code;
}

/* Adds a build. A build whose command fails is left out: a compiler may not
 * support a form, and the user's own compiler may be missing. */
static int add_build(struct job *job, const char *name, const struct optimize_change *change, struct error *error)
{
	struct error reason = { 0 };
	int code = optimize_build(&job->loop->folder, name, job->loop->command, change, &reason);
	if (code == ERROR_NOT_FOUND) {
		job->failed[job->failed_count++] = name;
		return 0;
	}
	if (code < 0)
		return error_set(error, code, "%s", reason.message);
	struct build *build = &job->builds[job->count++];
	build->name = name;
	snprintf(build->folder, sizeof(build->folder), "%s/%s", job->loop->folder.path, name);
	return 0;
}

static int add_builds(struct job *job, const struct profile *profile, struct error *error)
{
	const char *const *forms = job->loop->folder.kind->forms;
	int code = 0;
	for (size_t i = 0; code == 0 && forms[i]; i++) {
		name_profile(job, forms[i]);
		code = write_profile(job, profile, forms[i], error);
		if (code == 0)
			code = add_build(job, forms[i], &(struct optimize_change){ .profile = job->profile }, error);
	}
	return code;
}

/* --- comparisons --- */

/* Compares the outputs of all builds with that of the first one. */
static int compare(struct job *job, struct error *error)
{
	const char *folders[BUILDS_MAX];
	enum optimize_output outputs[BUILDS_MAX];
	for (size_t i = 0; i < job->count; i++)
		folders[i] = job->builds[i].folder;
	int code = optimize_compare(folders, job->count, job->loop->workload, outputs, error);
	for (size_t i = 0; code == 0 && i < job->count; i++)
		job->builds[i].output = outputs[i];
	return code;
}

/* Returns whether a build may be kept. */
static bool is_fit(const struct build *build)
{
	return build->output == OUTPUT_SAME || build->output == OUTPUT_VARIES;
}

static int measure(const struct job *job, const size_t *builds, struct optimize_times *times, struct error *error)
{
	const char *folders[BUILDS_MAX];
	for (size_t i = 0; i < times->builds; i++)
		folders[i] = job->builds[builds[i]].folder;
	times->turns = job->loop->turns;
	return optimize_measure(folders, job->loop->workload, times, error);
}

#define NOT_MEASURED "           -  -                       "

static void print_builds(const struct job *job, const size_t *builds, const struct optimize_times *times)
{
	fprintf(job->out, "\nBuilds (%zu runs of each in turns)\n    CPU time  times as fast\n", times->turns);
	for (size_t i = 0; i < times->builds; i++) {
		struct optimize_gain gain = optimize_gain_of(times, 0, i);
		const char *name = job->builds[builds[i]].name;
		fprintf(job->out, "%10.3f s  ", gain.after_s);
		if (i == 0)
			fputs("1                       ", job->out);
		else
			fprintf(job->out, "%.3f (%.3f to %.3f)  ", gain.ratio, gain.low, gain.high);
		fputs(name, job->out);
		if (strcmp(name, "own") == 0)
			fputs(": the build command as it is", job->out);
		else if (strcmp(name, "before") == 0)
			fprintf(job->out, ": %s without a profile", job->loop->folder.compiler);
		fputc('\n', job->out);
	}
	for (size_t i = 0; i < job->count; i++)
		if (job->builds[i].output == OUTPUT_DIFFERENT)
			fprintf(job->out, NOT_MEASURED "%s: not kept: its output is not that of %s\n",
				job->builds[i].name, job->builds[0].name);
		else if (job->builds[i].output == OUTPUT_ENDLESS)
			fprintf(job->out, NOT_MEASURED "%s: not kept: it takes more than %d times as long as %s\n",
				job->builds[i].name, OPTIMIZE_LONGEST, job->builds[0].name);
	for (size_t i = 0; i < job->failed_count; i++)
		fprintf(job->out, NOT_MEASURED "%s: this build failed\n", job->failed[i]);
}

/* --- the result --- */

static void print_gain(const struct job *job, size_t kept, const struct optimize_gain *gain)
{
	const char *reference = job->before > 0 ? "your own build" : "the build without a profile";
	if (kept == 0) {
		fprintf(job->out, "Gain       none beyond the error: %s is kept\n", reference);
		return;
	}
	fprintf(job->out, "Gain       %.3f times as fast as %s, %.3f to %.3f with 95 %% confidence\n", gain->ratio,
		reference, gain->low, gain->high);
	fprintf(job->out, "CPU time   %.3f s before, %.3f s after (means of %zu runs in turns, after the choice)\n",
		gain->before_s, gain->after_s, job->loop->turns);
}

static void print_output(const struct job *job)
{
	size_t fit = 0;
	for (size_t i = 0; i < job->count; i++)
		fit += is_fit(&job->builds[i]);
	if (job->builds[0].output == OUTPUT_VARIES)
		fprintf(job->out, "Output     not compared: that of the build '%s' differs from run to run\n",
			job->builds[0].name);
	else
		fprintf(job->out, "Output     the same in %zu of %zu builds\n", fit, job->count);
}

static void print_samples(const struct job *job, const struct optimize_samples *samples)
{
	uint64_t hits = samples->hits, rest = samples->hits - samples->used;
	if (rest > 0)
		fprintf(job->out,
			"Bound      %.2f times as fast: %.1f %% of the hits are in code that the profile cannot "
			"change\n",
			(double)hits / (double)rest, 100 * (double)rest / (double)hits);
	fprintf(job->out, "Samples    %" PRIu64 " of %zu run%s\n", hits, samples->runs, samples->runs == 1 ? "" : "s");
}

/* A build that is kept and has no profile is the one of another compiler. */
static void print_kept(struct job *job, size_t kept)
{
	const struct optimize_folder *folder = &job->loop->folder;
	fprintf(job->out, "Kept       %s (%s/best)\n", job->builds[kept].name, folder->path);
	if (kept == job->before && kept > 0)
		fprintf(job->out, "Compiler   %s, without a profile\n", folder->compiler);
	if (kept <= job->before)
		return;
	name_profile(job, job->builds[kept].name);
	fprintf(job->out, "Profile    %s\nFlags      %s %s %s%s\n", job->profile, folder->compiler, folder->kind->flags,
		folder->kind->use, job->profile);
}

/* Without a gain, hits only moved from contexts to others: calls that are inlined, or are jumps no
 * longer, change the paths. */
static int print_contexts(const struct job *job, size_t kept, const struct optimize_samples *before,
			  struct error *error)
{
	struct optimize_samples after = { .runs = before->runs };
	char data[PATH_MAX + 32];
	snprintf(data, sizeof(data), "%s/after.data", job->loop->folder.path);
	int code = optimize_samples_take(&after, job->builds[kept].folder, job->loop->workload, data, error);
	if (code == 0)
		code = optimize_print_contexts(job->out, before->profile, after.profile, error);
	profile_free(after.profile);
	return code;
}

/* Makes the link `best` to the folder of the build that is kept. */
static int link_best(const struct job *job, size_t kept, struct error *error)
{
	char path[PATH_MAX + 32];
	snprintf(path, sizeof(path), "%s/best", job->loop->folder.path);
	return symlink(job->builds[kept].name, path) < 0 ? error_set_errno(error, "cannot make the link '%s'", path)
							 : 0;
}

/* Measures the chosen build again, in turns with the builds that need no profile: if no build gains, the fastest of
 * several seems to gain by chance. Sets *kept to the build that gains again, and its gain. */
static int confirm(const struct job *job, size_t *kept, struct optimize_gain *gain, struct error *error)
{
	size_t order[3] = { 0 };
	struct optimize_times times = { .builds = 1 };
	if (job->before > 0 && job->before < *kept && is_fit(&job->builds[job->before]))
		order[times.builds++] = job->before;
	order[times.builds++] = *kept;
	int code = measure(job, order, &times, error);
	if (code == 0) {
		size_t chosen = optimize_choose(&times);
		*gain = optimize_gain_of(&times, 0, chosen);
		*kept = order[chosen];
	}
	free(times.seconds);
	return code;
}

static int report(struct job *job, const struct optimize_samples *samples, struct error *error)
{
	size_t fit[BUILDS_MAX];
	struct optimize_times times = { 0 };
	struct optimize_gain gain;
	int code = compare(job, error);
	for (size_t i = 0; i < job->count; i++)
		if (is_fit(&job->builds[i]))
			fit[times.builds++] = i;
	if (code == 0)
		code = measure(job, fit, &times, error);
	size_t kept = code == 0 ? fit[optimize_choose(&times)] : 0;
	if (kept > 0)
		code = confirm(job, &kept, &gain, error);
	if (code == 0)
		code = link_best(job, kept, error);
	if (code == 0) {
		optimize_folder_keep(&job->loop->folder);
		print_gain(job, kept, &gain);
		print_output(job);
		print_samples(job, samples);
		print_kept(job, kept);
		print_builds(job, fit, &times);
	}
	free(times.seconds);
	return code == 0 && kept > job->before ? print_contexts(job, kept, samples, error) : code;
}

static int build_and_measure(struct job *job, struct error *error)
{
	struct optimize_samples samples = { 0 };
	const struct optimize_loop *loop = job->loop;
	char before[PATH_MAX + 32], data[PATH_MAX + 32];
	snprintf(before, sizeof(before), "%s/before", loop->folder.path);
	snprintf(data, sizeof(data), "%s/before.data", loop->folder.path);
	int code = optimize_build(&loop->folder, "before", loop->command, NULL, error);
	if (code == 0)
		code = optimize_samples_take(&samples, before, loop->workload, data, error);
	if (code == 0)
		code = add_build(job, "own", &(struct optimize_change){ .is_plain = true }, error);
	if (code == 0) {
		job->before = job->count;
		job->builds[job->count++] = (struct build){ .name = "before" };
		memcpy(job->builds[job->before].folder, before, sizeof(before));
		code = add_builds(job, samples.profile, error);
	}
	if (code == 0)
		code = report(job, &samples, error);
	profile_free(samples.profile);
	return code;
}

int optimize_loop_run(struct optimize_loop *loop, FILE *out, struct error *error)
{
	struct job job = { .loop = loop, .out = out };
	return build_and_measure(&job, error);
}
