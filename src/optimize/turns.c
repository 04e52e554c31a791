#include "optimize/builds.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "analyze/statistics.h"
#include "collect/source/compile/build.h"
#include "collect/source/compile/scratch.h"

/* Arguments: folder, command, runs. Each run has a shell of its own. */
static const char script[] = "cd \"$1\" || exit\n"
			     "i=0\n"
			     "while [ $i -lt \"$3\" ]; do\n"
			     "\t(eval \"$2\") </dev/null >/dev/null || exit\n"
			     "\ti=$((i + 1))\n"
			     "done\n";

/* Arguments: folder, command, limit of the CPU time of a process in seconds (empty: none), the file for exit status and checksum. */
static const char output_script[] = "cd \"$1\" || exit\n"
				    "ulimit -c 0\n"
				    "[ -z \"$3\" ] || ulimit -S -t \"$3\" 2>/dev/null\n"
				    "{ { (eval \"$2\") </dev/null; echo $? >&3; } | cksum >&3; } 3>\"$4\"\n";

static int run(struct word_list *words, const char *folder, const char *workload, size_t runs, struct error *error)
{
	const struct process_streams streams = { 0 };
	word_list_add(words, "sh");
	word_list_add(words, "-c");
	word_list_add(words, "%s", script);
	word_list_add(words, "sh");
	word_list_add(words, "%s", folder);
	word_list_add(words, "%s", workload);
	word_list_add(words, "%zu", runs);
	int status = words->error ? -1 : process_run(words->items, &streams);
	if (words->error)
		return error_memory(error);
	if (status < 0)
		return error_set_errno(error, "cannot run '%s'", words->items[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_set(error, ERROR_NOT_FOUND, "the workload '%s' failed in '%s' (%s %d)", workload, folder,
				 WIFEXITED(status) ? "exit status" : "signal",
				 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return 0;
}

int optimize_record(const char *folder, const char *workload, size_t runs, const char *profile, struct error *error)
{
	struct word_list words = { 0 };
	word_list_add(&words, "/proc/self/exe");
	word_list_add(&words, "record");
	word_list_add(&words, "-o");
	word_list_add(&words, "%s", profile);
	word_list_add(&words, "--");
	int code = run(&words, folder, workload, runs, error);
	word_list_release(&words);
	return code;
}

static double seconds_of(const struct rusage *use)
{
	static const double us_per_s = 1e6;
	return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
	       (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) / us_per_s;
}

static int time_run(const char *folder, const char *workload, double *seconds, struct error *error)
{
	struct rusage before, after;
	struct word_list words = { 0 };
	getrusage(RUSAGE_CHILDREN, &before);
	int code = run(&words, folder, workload, 1, error);
	getrusage(RUSAGE_CHILDREN, &after);
	word_list_release(&words);
	*seconds = seconds_of(&after) - seconds_of(&before);
	if (code == 0 && *seconds <= 0)
		code = error_set(
			error, ERROR_LIMIT,
			"cannot measure the workload: it takes no CPU time that the kernel counts (a longer one)");
	return code;
}

int optimize_measure(const char *const *folders, const char *workload, struct optimize_times *times,
		     struct error *error)
{
	int code = 0;
	times->seconds = calloc(times->turns * times->builds, sizeof(*times->seconds));
	if (!times->seconds)
		return error_memory(error);
	for (size_t turn = 0; turn < times->turns && code == 0; turn++)
		for (size_t i = 0; i < times->builds && code == 0; i++) {
			size_t build = (turn + i) % times->builds;
			code = time_run(folders[build], workload, &times->seconds[turn * times->builds + build], error);
		}
	return code;
}

/* The ratios of turns are compared by their logarithms: a gain and a loss of one factor are equally large. */
struct optimize_gain optimize_gain_of(const struct optimize_times *times, size_t before, size_t after)
{
	static const double tails = 0.05;
	struct optimize_gain gain = { 0 };
	double mean = 0, squares = 0, turns = (double)times->turns, freedom = turns - 1;
	for (size_t i = 0; i < times->turns; i++) {
		const double *turn = &times->seconds[i * times->builds];
		mean += log(turn[before] / turn[after]) / turns;
		gain.before_s += turn[before] / turns;
		gain.after_s += turn[after] / turns;
	}
	for (size_t i = 0; i < times->turns; i++) {
		const double *turn = &times->seconds[i * times->builds];
		double difference = log(turn[before] / turn[after]) - mean;
		squares += difference * difference;
	}
	double half = statistics_student_quantile(tails, freedom) * sqrt(squares / freedom / turns);
	gain.ratio = exp(mean);
	gain.low = exp(mean - half);
	gain.high = exp(mean + half);
	return gain;
}

size_t optimize_choose(const struct optimize_times *times)
{
	size_t kept = 0;
	for (size_t i = 1; i < times->builds; i++)
		if (optimize_gain_of(times, kept, i).low > 1)
			kept = i;
	return kept;
}

/* --- outputs --- */

enum { SHELL_SIGNAL = 128 }; /* a shell adds it to the number of the signal that ended a command */

struct output {
	int status; /* as a shell has it */
	unsigned long checksum, size;
	double seconds; /* of CPU time */
};

static int read_output(const char *path, struct output *output, struct error *error)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return error_set_errno(error, "cannot read '%s'", path);
	int count = fscanf(file, "%d %lu %lu", &output->status, &output->checksum, &output->size);
	fclose(file);
	return count == 3 ? 0 : error_set(error, ERROR_SYSTEM, "cannot run 'cksum'");
}

/* Runs the workload in a folder. `limit_s` 0: without a limit. */
static int take_output(const char *folder, const char *workload, double limit_s, struct output *output,
		       struct error *error)
{
	struct rusage before, after;
	struct word_list words = { 0 };
	const struct process_streams streams = { 0 };
	char path[PATH_MAX + 64], limit[32] = "";
	snprintf(path, sizeof(path), "%s.output", folder);
	if (limit_s > 0)
		snprintf(limit, sizeof(limit), "%.0f", limit_s);
	word_list_add(&words, "sh");
	word_list_add(&words, "-c");
	word_list_add(&words, "%s", output_script);
	word_list_add(&words, "sh");
	word_list_add(&words, "%s", folder);
	word_list_add(&words, "%s", workload);
	word_list_add(&words, "%s", limit);
	word_list_add(&words, "%s", path);
	getrusage(RUSAGE_CHILDREN, &before);
	int status = words.error ? -1 : process_run(words.items, &streams);
	int code = words.error ? error_memory(error) : status < 0 ? error_set_errno(error, "cannot run 'sh'") : 0;
	getrusage(RUSAGE_CHILDREN, &after);
	word_list_release(&words);
	output->seconds = seconds_of(&after) - seconds_of(&before);
	return code < 0 ? code : read_output(path, output, error);
}

static bool is_same(const struct output *a, const struct output *b)
{
	return a->status == b->status && a->checksum == b->checksum && a->size == b->size;
}

int optimize_compare(const char *const *folders, size_t count, const char *workload, enum optimize_output *outputs,
		     struct error *error)
{
	struct output first = { 0 }, again = { 0 }, output = { 0 };
	int code = take_output(folders[0], workload, 0, &first, error);
	if (code == 0)
		code = take_output(folders[0], workload, 0, &again, error);
	outputs[0] = code == 0 && is_same(&first, &again) ? OUTPUT_SAME : OUTPUT_VARIES;
	for (size_t i = 1; i < count && code == 0; i++) {
		double limit_s = ceil(OPTIMIZE_LONGEST * fmax(first.seconds, again.seconds)) + 1;
		code = take_output(folders[i], workload, limit_s, &output, error);
		if (output.status == SHELL_SIGNAL + SIGXCPU && output.status != first.status)
			outputs[i] = OUTPUT_ENDLESS;
		else if (outputs[0] == OUTPUT_VARIES && output.status == first.status)
			outputs[i] = OUTPUT_VARIES;
		else
			outputs[i] = is_same(&first, &output) ? OUTPUT_SAME : OUTPUT_DIFFERENT;
	}
	return code;
}
