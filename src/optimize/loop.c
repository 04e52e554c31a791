#include "optimize/loop.h"

#include <inttypes.h>

#include "base/text_output.h"
#include "formats/format.h"

struct job {
	const struct optimize_loop *loop;
	FILE *out;
	char before[PATH_MAX + 16], after[PATH_MAX + 16]; /* folders of the builds */
	char data[PATH_MAX + 16], data_after[PATH_MAX + 32], profile[PATH_MAX + 16];
};

static int write_profile(const struct job *job, const struct profile *profile, struct error *error)
{
	const struct format_input input = { .profile = profile, .view = { .resource = 0, .thread = VIEW_ANY } };
	struct text_output output;
	struct sink sink;
	int code = text_output_open(&output, job->profile, TEXT_OUTPUT_SHARED, error);
	if (code < 0)
		return code;
	sink_init(&sink, output.stream);
	code = format_export(format_find(job->loop->folder.kind->format), &input, &sink, error);
	if (code == 0)
		return text_output_commit(&output, error);
	text_output_discard(&output);
	return code;
}

/* --- the result --- */

static void print_gain(const struct job *job, const struct optimize_gain *gain, const struct optimize_samples *samples)
{
	const char *verdict = gain->low > 1 ? "faster" : gain->high < 1 ? "slower" : "no difference beyond the error";
	uint64_t hits = samples->hits, rest = samples->hits - samples->used;
	fprintf(job->out, "Gain       %.3f times as fast, %.3f to %.3f with 95 %% confidence: %s\n", gain->ratio,
		gain->low, gain->high, verdict);
	fprintf(job->out, "CPU time   %.3f s before, %.3f s after (means of %zu runs in turns)\n", gain->before_s,
		gain->after_s, job->loop->turns);
	if (rest > 0)
		fprintf(job->out,
			"Bound      %.2f times as fast: %.1f %% of the hits are in code that the profile cannot "
			"change\n",
			(double)hits / (double)rest, 100 * (double)rest / (double)hits);
	fprintf(job->out, "Samples    %" PRIu64 " of %zu run%s\n", hits, samples->runs, samples->runs == 1 ? "" : "s");
	fprintf(job->out, "Profile    %s\n", job->profile);
	fprintf(job->out, "Flags      %s %s %s%s\n", job->loop->folder.compiler, job->loop->folder.kind->flags,
		job->loop->folder.kind->use, job->profile);
}

static int report(struct job *job, const struct optimize_samples *before, struct error *error)
{
	struct optimize_gain gain;
	struct optimize_samples after = { .runs = before->runs };
	int code = optimize_measure(job->before, job->after, job->loop->workload, job->loop->turns, &gain, error);
	if (code == 0)
		code = optimize_samples_take(&after, job->after, job->loop->workload, job->data_after, error);
	if (code < 0)
		return code;
	print_gain(job, &gain, before);
	/* Without a gain, hits only moved from contexts to others: calls that are inlined, or
	 * are jumps no longer, change the paths. */
	if (gain.low > 1)
		code = optimize_print_contexts(job->out, before->profile, after.profile, error);
	profile_free(after.profile);
	return code;
}

static int build_and_measure(struct job *job, struct error *error)
{
	struct optimize_samples samples = { 0 };
	int code = optimize_build(&job->loop->folder, "before", job->loop->command, NULL, error);
	if (code == 0)
		code = optimize_samples_take(&samples, job->before, job->loop->workload, job->data, error);
	if (code == 0)
		code = write_profile(job, samples.profile, error);
	if (code == 0)
		code = optimize_build(&job->loop->folder, "after", job->loop->command,
				      &(struct optimize_change){ .profile = job->profile }, error);
	if (code == 0)
		code = report(job, &samples, error);
	profile_free(samples.profile);
	return code;
}

static void name_files(struct job *job)
{
	const char *path = job->loop->folder.path;
	snprintf(job->before, sizeof(job->before), "%s/before", path);
	snprintf(job->after, sizeof(job->after), "%s/after", path);
	snprintf(job->data, sizeof(job->data), "%s/before.data", path);
	snprintf(job->data_after, sizeof(job->data_after), "%s/after.data", path);
	snprintf(job->profile, sizeof(job->profile), "%s/%s", path, job->loop->folder.kind->file);
}

int optimize_loop_run(const struct optimize_loop *loop, FILE *out, struct error *error)
{
	struct job job = { .loop = loop, .out = out };
	name_files(&job);
	return build_and_measure(&job, error);
}
