/*
 * Virtual speed-ups of call paths: records the command with the preload backend, once or several times, while a director pauses its
 * threads (collect/sample/causal/director.h), and prints by how much the program would be faster.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "analyze/causal.h"
#include "base/text_output.h"
#include "cmd/message.h"
#include "cmd/subject.h"
#include "cmd/view_options.h"
#include "collect/sample/causal/director.h"
#include "collect/sample/destination.h"
#include "render/causal.h"

enum { OPTION_PROGRESS = OPTION_OWN, OPTION_COUNTED, OPTION_RUNS, OPTION_LENGTH, OPTION_FASTER, OPTION_OUTPUT };
enum { RUNS_STANDARD = 30, RUNS_MOST = 10000, LENGTH_MOST_S = 3600 };
static const double LENGTH_STANDARD_S = 0.1;
static const double NS_PER_S = 1e9;

struct job {
	const struct invocation *invocation;
	struct record_options record;
	struct causal_options causal;
	size_t runs;
	const char *progress; /* what is counted */
	enum render_format format;
	struct causal_director *director;
};

/* --- arguments --- */

/* The paths are of CPU time; the progress is counted and not sampled. */
static int take_progress(struct job *job, struct error *error)
{
	enum { PATHS, PROGRESS, REQUESTS };
	static const uint64_t never = UINT64_C(1) << 60;
	const char *point = option_value(job->invocation, OPTION_PROGRESS);
	const char *resource = option_value(job->invocation, OPTION_COUNTED);
	struct resource_request *requests = job->record.resources;
	char words[256];
	int result = resource_parse("cpu/1ms", &requests[PATHS], error);
	job->record.resource_count = REQUESTS - 1;
	job->causal.by_run = !point && !resource;
	job->progress = point ? point : resource ? resource : "run";
	if (result < 0 || job->causal.by_run)
		return result;
	if (point && resource)
		return error_set(error, ERROR_USAGE, "--progress cannot be combined with -r (give one of them)");
	if (snprintf(words, sizeof(words), "%s%s", point ? "own:" : "", job->progress) >= (int)sizeof(words))
		return error_set(error, ERROR_USAGE, "the name of the progress point is too long (limit 200 bytes)");
	result = resource_parse(words, &requests[PROGRESS], error);
	if (result < 0)
		return result;
	if (resource_is_clock(requests[PROGRESS].row))
		return error_set(error, ERROR_USAGE,
				 "%s is not progress: it passes by itself (-r write-bytes, or own:NAME)",
				 job->progress);
	if (!requests[PROGRESS].default_interval)
		return error_set(error, ERROR_USAGE, "'%s' has an interval, but progress is not sampled (leave it out)",
				 job->progress);
	requests[PROGRESS].interval = never;
	job->record.resource_count = REQUESTS;
	job->causal.request = PROGRESS;
	return 0;
}

static int take_numbers(struct job *job, struct error *error)
{
	const char *runs = option_value(job->invocation, OPTION_RUNS);
	const char *length = option_value(job->invocation, OPTION_LENGTH);
	double count = runs ? positive_number(runs) : job->causal.by_run ? RUNS_STANDARD : 1;
	double seconds = length ? positive_number(length) : LENGTH_STANDARD_S;
	if (count < 1 || count > RUNS_MOST || count != floor(count))
		return error_set(error, ERROR_USAGE, "'%s' is not a number of runs (--runs 10; at most %d)", runs,
				 RUNS_MOST);
	if (length && job->causal.by_run)
		return error_set(
			error, ERROR_USAGE,
			"--length needs --progress or -r: otherwise each run is one experiment (leave it out)");
	if (seconds < 0.01 || seconds > LENGTH_MOST_S)
		return error_set(error, ERROR_USAGE, "--length %s is out of range (0.01 to %d seconds)", length,
				 LENGTH_MOST_S);
	const char *faster = option_value(job->invocation, OPTION_FASTER);
	double percent = faster ? positive_number(faster) : 0;
	if (faster && (percent < EXPERIMENT_STEP || percent > EXPERIMENT_MOST || fmod(percent, EXPERIMENT_STEP) != 0))
		return error_set(error, ERROR_USAGE, "'%s' is not a speed-up (--faster 20, 40, 60, 80 or 100)", faster);
	job->causal.percent = (uint32_t)percent;
	job->runs = (size_t)count;
	job->causal.length_ns = (uint64_t)(seconds * NS_PER_S);
	return 0;
}

static int take_words(struct job *job, struct error *error)
{
	const char *format = option_value(job->invocation, OPTION_FORMAT);
	int result = format ? view_read_format(format, &job->format, error) : 0;
	if (result == 0)
		result = take_progress(job, error);
	if (result == 0)
		result = take_numbers(job, error);
	job->record.command = job->invocation->arguments;
	job->record.backend = "preload";
	return result;
}

/* --- runs --- */

/* The director has all that is needed of a recording. */
static int flush(void *context, struct profile *profile, const struct frames_options *names, struct error *error)
{
	(void)context, (void)profile, (void)names, (void)error;
	return 0;
}

static int finish(void *context, struct profile *profile, struct error *error)
{
	(void)context, (void)profile, (void)error;
	return 0;
}

static void on_warning(void *context, const char *sentence)
{
	warning(context, "%s", sentence);
}

/* Returns 0 or a negative error. Sets *status to the exit status of the command. */
static int run_once(struct job *job, int *status, struct error *error)
{
	struct record_result result;
	int code = monitor_run(&job->record, &result, error);
	if (code < 0)
		return code;
	*status = result.status;
	code = causal_director_name(job->director, result.profile, error);
	profile_free(result.profile);
	return code;
}

/* With a progress point, a command that fails has done its work until then: a server that is ended by a signal. */
static int run_all(struct job *job, struct error *error)
{
	int code = 0, status = 0;
	for (size_t i = 0; i < job->runs && code == 0 && status == 0; i++)
		code = run_once(job, &status, error);
	if (code == 0 && status != 0 && job->causal.by_run)
		return error_set(
			error, ERROR_NOT_FOUND,
			"cannot compare runs: the command failed with exit status %d (--progress counts what it does "
			"before that)",
			status);
	if (code == 0 && status != 0)
		warning(job->invocation, "the command failed with exit status %d and was not run again", status);
	return code;
}

static int print(const struct job *job, const struct causal_result *result, const struct experiments *experiments,
		 struct error *error)
{
	struct text_output output;
	int code = text_output_open(&output, option_value(job->invocation, OPTION_OUTPUT), TEXT_OUTPUT_PRIVATE, error);
	if (code < 0)
		return code;
	render_causal(output.stream, job->format, result, experiments, job->progress);
	return text_output_commit(&output, error);
}

static int measure(struct job *job, struct error *error)
{
	struct experiments experiments = { 0 };
	struct causal_result result = { 0 };
	int code = run_all(job, error);
	if (code == 0)
		code = causal_director_take(job->director, &experiments, error);
	if (code == 0)
		code = causal_analyze(&experiments, &result, error);
	if (code == 0)
		code = print(job, &result, &experiments, error);
	causal_result_release(&result);
	experiments_release(&experiments);
	return code;
}

static int run(struct invocation *invocation)
{
	struct process_list processes = { 0 };
	struct job job = { .invocation = invocation, .record = { .processes = &processes } };
	struct error error = { 0 };
	if (take_words(&job, &error) < 0)
		return failure_of(invocation, &error);
	if (getrandom(&job.causal.random, sizeof(job.causal.random), 0) < 0 || job.causal.random == 0)
		job.causal.random = 1;
	job.director = causal_director_new(&job.causal);
	if (!job.director)
		return failure(invocation, "out of memory");
	const struct destination destination = { .context = job.director,
						 .flush_ns = (uint64_t)NS_PER_S,
						 .event = causal_director_event,
						 .flush = flush,
						 .finish = finish };
	job.record.destination = &destination;
	job.record.director = job.director;
	job.record.warn = on_warning;
	job.record.context = invocation;
	job.record.command_line = invocation->arguments[0];
	int code = measure(&job, &error);
	causal_director_free(job.director);
	return code < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

static word_at *words(int id)
{
	return id == OPTION_COUNTED ? subject_option_words(SUBJECT_RESOURCE) : view_option_words(id);
}

static const char *const usage[] = {
	"{--progress POINT | -r RES} [OPTION]... [--] COMMAND [ARG...]",
	"[--runs N] [OPTION]... [--] COMMAND [ARG...]",
	NULL,
};

static const struct command_option options[] = {
	{ OPTION_PROGRESS, 0, "progress", "POINT",
	  "Measure how often the program passes cpprof_progress(\"POINT\"), see cpprof/progress.h",
	  "the end of a run" },
	{ OPTION_COUNTED, 'r', "resource", "RES",
	  "Measure how much of the resource RES it uses instead, as write-bytes ('cpprof resources' lists them)",
	  NULL },
	{ OPTION_RUNS, 0, "runs", "N", "Run the command N times", "30 without --progress and -r, otherwise 1" },
	{ OPTION_LENGTH, 0, "length", "S",
	  "With --progress or -r: let an experiment take S seconds, and longer as long as it has little progress",
	  "0.1" },
	{ OPTION_FASTER, 0, "faster", "PERCENT", "Try this speed-up alone, one of 20, 40, 60, 80 and 100",
	  "all of them" },
	{ OPTION_OUTPUT, 'o', "output", "FILE", "Write the result to FILE", "standard output" },
	ROW_FORMAT,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof causal --progress order ./server", "which path is worth the work, if orders per second count?" },
	{ "cpprof causal -r write-bytes ./convert in out", "the same for bytes written" },
	{ "cpprof causal --runs 50 ./sort big.txt", "the same for the time of a run" },
	{ 0 },
};

const struct command command_causal = {
	.name = "causal",
	.task = TASK_COMPARE,
	.summary = "measure by how much the program becomes faster if a call path does, with threads that wait for "
		   "each other",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = words,
	.exit_status = "0 if there is a result. 127 if the command does not exist, 126 if it is not executable, 2 for "
		       "a usage error, 1 "
		       "otherwise.",
	.needs = STOPS_AT_ARGUMENT,
	.argument_min = 1,
	.argument_max = SIZE_MAX,
	.run = run,
};
