/*
 * The loop from a profile to a faster build in one command:
 *
 *     build ("before") -> record the workload -> write the compiler's profile -> build with it ("after") -> run both in turns
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_output.h"
#include "cmd/message.h"
#include "cmd/optimize_build.h"
#include "cmd/optimize_contexts.h"
#include "cmd/optimize_samples.h"
#include "cmd/optimize_turns.h"
#include "cmd/rows.h"
#include "cmd/subject.h"
#include "formats/format.h"

enum { OPTION_RUN = 1, OPTION_DIRECTORY, OPTION_COMPILER, OPTION_TURNS };

enum { TURNS_STANDARD = 10 };

struct job {
	const struct invocation *invocation;
	const char *workload;
	size_t turns;
	struct optimize_folder folder;
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
	code = format_export(format_find(job->folder.kind->format), &input, &sink, error);
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
	printf("Gain       %.3f times as fast, %.3f to %.3f with 95 %% confidence: %s\n", gain->ratio, gain->low,
	       gain->high, verdict);
	printf("CPU time   %.3f s before, %.3f s after (means of %zu runs in turns)\n", gain->before_s, gain->after_s,
	       job->turns);
	if (rest > 0)
		printf("Bound      %.2f times as fast: %.1f %% of the hits are in code that the profile cannot "
		       "change\n",
		       (double)hits / (double)rest, 100 * (double)rest / (double)hits);
	printf("Samples    %" PRIu64 " of %zu run%s\n", hits, samples->runs, samples->runs == 1 ? "" : "s");
	printf("Profile    %s\n", job->profile);
	printf("Flags      %s %s %s%s\n", job->folder.compiler, job->folder.kind->flags, job->folder.kind->use,
	       job->profile);
}

static int report(struct job *job, const struct optimize_samples *before, struct error *error)
{
	struct optimize_gain gain;
	struct optimize_samples after = { .runs = before->runs };
	int code = optimize_measure(job->before, job->after, job->workload, job->turns, &gain, error);
	if (code == 0)
		code = optimize_samples_take(&after, job->after, job->workload, job->data_after, error);
	if (code < 0)
		return code;
	print_gain(job, &gain, before);
	/* Without a gain, hits only moved from contexts to others: calls that are inlined, or are jumps no longer, change
	 * the paths. */
	if (gain.low > 1)
		code = optimize_print_contexts(stdout, before->profile, after.profile, error);
	profile_free(after.profile);
	return code;
}

static int optimize(struct job *job, struct error *error)
{
	const struct invocation *invocation = job->invocation;
	struct optimize_samples samples = { 0 };
	int code = optimize_build(&job->folder, "before", invocation->arguments, NULL, error);
	if (code == 0)
		code = optimize_samples_take(&samples, job->before, job->workload, job->data, error);
	if (code == 0)
		code = write_profile(job, samples.profile, error);
	if (code == 0)
		code = optimize_build(&job->folder, "after", invocation->arguments,
				      &(struct optimize_change){ .profile = job->profile }, error);
	if (code == 0)
		code = report(job, &samples, error);
	profile_free(samples.profile);
	return code;
}

static void name_files(struct job *job)
{
	const char *path = job->folder.path;
	snprintf(job->before, sizeof(job->before), "%s/before", path);
	snprintf(job->after, sizeof(job->after), "%s/after", path);
	snprintf(job->data, sizeof(job->data), "%s/before.data", path);
	snprintf(job->data_after, sizeof(job->data_after), "%s/after.data", path);
	snprintf(job->profile, sizeof(job->profile), "%s/%s", path, job->folder.kind->file);
}

static int run(struct invocation *invocation)
{
	struct job job = { .invocation = invocation,
			   .workload = option_value(invocation, OPTION_RUN),
			   .turns = TURNS_STANDARD };
	struct error error = { 0 };
	const char *path = option_value(invocation, OPTION_DIRECTORY);
	const char *compiler = option_value(invocation, OPTION_COMPILER);
	const char *turns = option_value(invocation, OPTION_TURNS);
	if (!job.workload || !job.workload[0])
		return usage_error(invocation, "missing the workload to optimize for (--run './program input')");
	if (turns && !optimize_read_turns(turns, &job.turns))
		return usage_error(invocation, OPTIMIZE_TURNS_ERROR, turns);
	if (optimize_folder_make(&job.folder, path ? path : "cpprof.optimize", compiler ? compiler : "clang", &error) <
	    0)
		return failure_of(invocation, &error);
	name_files(&job);
	return optimize(&job, &error) < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

static const char *const usage[] = { "--run WORKLOAD [OPTION]... -- BUILD-COMMAND [ARGUMENT]...", NULL };

static const struct command_option options[] = {
	{ OPTION_RUN, 0, "run", "WORKLOAD",
	  "The shell command to optimize for, run in the folder of the build: './program input'", NULL },
	{ OPTION_DIRECTORY, 'd', "directory", "DIR", "Build, and keep the profile, in the new folder DIR",
	  "cpprof.optimize" },
	{ OPTION_COMPILER, 0, "compiler", "NAME",
	  "The compiler: clang, of version 14 or later, or gcc; a version may follow: clang-19", "clang" },
	{ OPTION_TURNS, 0, "turns", "N", "Run each build N times to measure the gain", "10" },
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof optimize --run './program input.txt' -- make", "build, record, build with the profile, measure" },
	{ "cpprof optimize --run ./a.out -- cc -O2 program.c", "the same of one file" },
	{ 0 },
};

const struct command command_optimize = {
	.name = "optimize",
	.task = TASK_BUILD,
	.summary = "build a program anew with the profile of a workload, and measure the gain",
	.usage = usage,
	.options = options,
	.examples = examples,
	.needs = STOPS_AT_ARGUMENT,
	.argument_min = 1,
	.argument_max = SIZE_MAX,
	.run = run,
};
