/*
 * The loop from a profile to a faster build in one command:
 *
 *     build ("before") -> record the workload -> write LLVM's profile -> build with it ("after") -> run both in turns
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/source_counts.h"
#include "cmd/message.h"
#include "cmd/optimize_build.h"
#include "cmd/optimize_contexts.h"
#include "cmd/optimize_turns.h"
#include "cmd/rows.h"
#include "cmd/subject.h"
#include "formats/format.h"
#include "profile_file/reader.h"

enum { OPTION_RUN = 1, OPTION_DIRECTORY, OPTION_COMPILER, OPTION_TURNS };

/* With 1000 hits, a line with one percent of the time has about 10: its share is known to a third. */
enum { HITS_NEEDED = 1000, RUNS_MAX = 100, TURNS_STANDARD = 10, TURNS_MAX = 1000 };

struct job {
	const struct invocation *invocation;
	const char *workload;
	size_t turns, runs;
	struct optimize_folder folder;
	char before[PATH_MAX + 16], after[PATH_MAX + 16]; /* folders of the builds */
	char data[PATH_MAX + 16], data_after[PATH_MAX + 32], profile[PATH_MAX + 16];
};

/* --- samples --- */

/* Reads a recording, and sets *hits to all its hits, and *used to those in lines. */
static struct profile *read_recording(const char *path, uint64_t *hits, uint64_t *used, struct error *error)
{
	struct profile *profile = reader_load(path, 0, error);
	struct source_counts *counts = profile ? source_counts_new(profile, 0, NEST_FILE, error) : NULL;
	if (!counts) {
		profile_free(profile);
		return NULL;
	}
	*hits = counts->hits;
	*used = counts->hits - counts->losses.without_lines - counts->losses.line_zero - counts->losses.above_start;
	source_counts_free(counts);
	return profile;
}

static int refuse_few(uint64_t hits, uint64_t used, size_t runs, struct error *error)
{
	if (used == 0)
		return error_set(error, ERROR_NOT_FOUND,
				 "no sample of %" PRIu64
				 " is in code of the build: the workload does not run what was built, or is too "
				 "short (--run names a program by its path in the build, as './program')",
				 hits);
	return error_set(error, ERROR_LIMIT,
			 "too few samples for a stable profile: %" PRIu64 " in %zu run%s, and %d are needed "
			 "(a workload that takes %.1f times as long)",
			 used, runs, runs == 1 ? "" : "s", HITS_NEEDED, (double)HITS_NEEDED / (double)used);
}

/* Records the workload once, and again with as many runs as it takes. */
static struct profile *record_enough(struct job *job, uint64_t *hits, uint64_t *used, struct error *error)
{
	struct profile *profile = NULL;
	for (job->runs = 1;;) {
		if (optimize_record(job->before, job->workload, job->runs, job->data, error) < 0)
			return NULL;
		profile = read_recording(job->data, hits, used, error);
		if (!profile || *used >= HITS_NEEDED)
			return profile;
		profile_free(profile);
		/* A quarter more, because samples are random. */
		double runs = *used ? ceil((double)job->runs * HITS_NEEDED * 1.25 / (double)*used) : INFINITY;
		if (runs > RUNS_MAX || job->runs >= RUNS_MAX) {
			refuse_few(*hits, *used, job->runs, error);
			return NULL;
		}
		job->runs = (size_t)runs > job->runs ? (size_t)runs : job->runs + 1;
	}
}

static int write_profile(const struct job *job, const struct profile *profile, struct error *error)
{
	const struct format_input input = { .profile = profile, .view = { .resource = 0, .thread = VIEW_ANY } };
	FILE *file = fopen(job->profile, "we");
	if (!file)
		return error_set_errno(error, "cannot write '%s'", job->profile);
	struct sink sink;
	sink_init(&sink, file);
	int code = format_export(format_find("llvm-profile"), &input, &sink, error);
	if (fclose(file) && code == 0)
		code = error_set_errno(error, "cannot write '%s'", job->profile);
	return code;
}

/* --- the result --- */

static void print_gain(const struct job *job, const struct optimize_gain *gain, uint64_t hits, uint64_t used)
{
	const char *verdict = gain->low > 1 ? "faster" : gain->high < 1 ? "slower" : "no difference beyond the error";
	printf("Gain       %.3f times as fast, %.3f to %.3f with 95 %% confidence: %s\n", gain->ratio, gain->low,
	       gain->high, verdict);
	printf("CPU time   %.3f s before, %.3f s after (means of %zu runs in turns)\n", gain->before_s, gain->after_s,
	       job->turns);
	if (used < hits)
		printf("Bound      %.2f times as fast: %.1f %% of the hits are in code that the profile cannot "
		       "change\n",
		       (double)hits / (double)(hits - used), 100 * (double)(hits - used) / (double)hits);
	printf("Samples    %" PRIu64 " of %zu run%s\n", hits, job->runs, job->runs == 1 ? "" : "s");
	printf("Profile    %s\n", job->profile);
	printf("Flags      %s " OPTIMIZE_FLAGS " -fprofile-sample-use=%s\n", job->folder.compiler, job->profile);
}

static int report(struct job *job, const struct profile *before, uint64_t hits, uint64_t used, struct error *error)
{
	struct optimize_gain gain;
	uint64_t hits_after, used_after;
	int code = optimize_measure(job->before, job->after, job->workload, job->turns, &gain, error);
	if (code == 0)
		code = optimize_record(job->after, job->workload, job->runs, job->data_after, error);
	if (code < 0)
		return code;
	struct profile *after = read_recording(job->data_after, &hits_after, &used_after, error);
	if (!after)
		return error->code;
	print_gain(job, &gain, hits, used);
	/* Without a gain, hits only moved from contexts to others: calls that are inlined, or are jumps no longer, change
	 * the paths. */
	if (gain.low > 1)
		code = optimize_print_contexts(stdout, before, after, error);
	profile_free(after);
	return code;
}

static int optimize(struct job *job, struct error *error)
{
	const struct invocation *invocation = job->invocation;
	uint64_t hits = 0, used = 0;
	int code = optimize_build(&job->folder, "before", invocation->arguments, NULL, error);
	if (code < 0)
		return code;
	struct profile *profile = record_enough(job, &hits, &used, error);
	if (!profile)
		return error->code;
	code = write_profile(job, profile, error);
	if (code == 0)
		code = optimize_build(&job->folder, "after", invocation->arguments, job->profile, error);
	if (code == 0)
		code = report(job, profile, hits, used, error);
	profile_free(profile);
	return code;
}

static void name_files(struct job *job)
{
	const char *path = job->folder.path;
	snprintf(job->before, sizeof(job->before), "%s/before", path);
	snprintf(job->after, sizeof(job->after), "%s/after", path);
	snprintf(job->data, sizeof(job->data), "%s/before.data", path);
	snprintf(job->data_after, sizeof(job->data_after), "%s/after.data", path);
	snprintf(job->profile, sizeof(job->profile), "%s/llvm.prof", path);
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
	if (turns) {
		double number = positive_number(turns);
		if (number < 2 || number > TURNS_MAX || number != floor(number))
			return usage_error(invocation, "'%s' is not a number of runs (--turns 10; from 2 to %d)", turns,
					   TURNS_MAX);
		job.turns = (size_t)number;
	}
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
	{ OPTION_COMPILER, 0, "compiler", "NAME", "The compiler, a clang of version 14 or later: clang-19", "clang" },
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
