#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/path.h"
#include "base/quote.h"
#include "cmd/message.h"
#include "cmd/output_name.h"
#include "cmd/profile_open.h"
#include "cmd/progress.h"
#include "cmd/record.h"
#include "cmd/subject.h"
#include "collect/count/launch.h"
#include "collect/count/tally.h"
#include "collect/sample/backends.h"
#include "collect/sample/file_destination.h"
#include "collect/sample/monitor.h"
#include "gprof/gmon_files.h"
#include "profile/findings.h"
#include "profile/profile.h"
#include "profile/quality.h"

enum {
	OPTION_FREQUENCY = SUBJECT_OPTIONS_END,
	OPTION_OUTPUT,
	OPTION_PAUSED,
	OPTION_JIT,
	OPTION_INSTRUMENTED,
	OPTION_WRAP,
	OPTION_GMON,
	OPTION_REPEAT,
	OPTION_AGAINST,
	OPTION_UNTIL
};

enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000 };

/* --- arguments --- */

/* -F HZ sets the interval of every time resource for which the user gave none. */
static int take_frequency(const struct invocation *invocation, struct record_options *options, struct error *error)
{
	const char *word = option_value(invocation, OPTION_FREQUENCY);
	if (!word)
		return 0;
	double hertz = positive_number(word);
	if (hertz < 0)
		return error_set(error, ERROR_USAGE,
				 "'%s' is not a frequency (samples per second of CPU time, as -F 1000)", word);
	char interval[64];
	snprintf(interval, sizeof(interval), "%.0fns", NS_PER_S / hertz);
	struct resource_request time;
	uint64_t ns;
	if (resource_parse("cpu", &time, error) < 0 || resource_parse_interval(time.row, interval, &ns, NULL) < 0)
		return error_set(error, ERROR_USAGE, "-F %s is out of range (0.02 to 50000 Hz)", word);
	options->time_interval = ns;
	bool used = options->resource_count == 0;
	for (size_t i = 0; i < options->resource_count; i++) {
		struct resource_request *request = &options->resources[i];
		if (request->row->gtick_ns > 0 && request->default_interval) {
			request->interval = ns / request->row->gtick_ns;
			used = true;
		}
	}
	return used ? 0
		    : error_set(error, ERROR_USAGE, "-F needs a time resource without an interval of its own (-r cpu)");
}

static bool is_standard_output(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/fd/1") == 0 ||
	       strcmp(path, "/proc/self/fd/1") == 0;
}

/* --- the result --- */

static void append_size(struct buffer *line, uint64_t bytes)
{
	enum { KB = 1024, MB = 1024 * 1024 };
	if (bytes < 10 * KB)
		buffer_printf(line, "%" PRIu64 " bytes", bytes);
	else if (bytes < 10 * MB)
		buffer_printf(line, "%" PRIu64 " KB", (bytes + KB / 2) / KB);
	else
		buffer_printf(line, "%" PRIu64 " MB", (bytes + MB / 2) / MB);
}

/* Appends "; 2 threads were not recorded: limit 2048; 3 more in cpprof info". */
static void append_findings(struct buffer *line, const struct profile *profile)
{
	const struct profile_finding *closing[FINDINGS_CLOSING_MAX];
	size_t more, count = findings_closing(profile, closing, &more);
	for (size_t i = 0; i < count; i++)
		buffer_printf(line, "; %s", profile_string(profile, closing[i]->text));
	if (more > 0)
		buffer_printf(line, "; %zu more in cpprof info", more);
}

/* Appends the shares of the stacks. Without a stack there is nothing to praise. */
static void append_quality(struct buffer *line, const struct profile *profile)
{
	const struct quality quality = quality_of(profile);
	const struct quality_shares shares = quality_shares_of(&quality);
	if (quality.stacks == 0)
		return;
	buffer_printf(line, ", %.2f %% whole", shares.whole);
	if (quality.completed > 0)
		buffer_printf(line, " (%" PRIu64 " completed)", quality.completed);
	if (quality.guessed > 0)
		buffer_printf(line, ", %.2f %% partly guessed", shares.guessed);
	if (quality.broken > 0)
		buffer_printf(line, ", %.2f %% broken", shares.broken);
}

/* Prints the closing line: what was measured, and the quality of the recording. */
static void print_result(const struct file_destination *file, const struct record_result *result)
{
	struct buffer line;
	buffer_init(&line);
	buffer_printf(&line, "cpprof: %" PRIu64 " sample%s, %" PRIu64 " lost", result->samples,
		      result->samples == 1 ? "" : "s", result->lost);
	append_quality(&line, result->profile);
	buffer_append_string(&line, ", ");
	append_size(&line, file->bytes);
	buffer_printf(&line, " in %s, by %s", file->path, result->backend);
	append_findings(&line, result->profile);
	buffer_append_byte(&line, '\n');
	if (buffer_error(&line) == 0)
		fwrite(line.bytes, 1, line.size, stderr);
	buffer_release(&line);
}

/* The progress line begins with the first call: while the target runs, there is no progress to show. */
static void on_progress(void *context, size_t done, size_t total)
{
	(void)context;
	static bool begun;
	progress_line_end();
	if (!begun)
		progress_begin("naming addresses", PROGRESS_NAMING_AFTER_MS);
	begun = true;
	progress_set(done, total);
}

static void on_download(void *context, const char *path, uint64_t done, uint64_t total)
{
	on_progress(context, 0, 0);
	progress_download(context, path, done, total);
}

/* The line of a recording: what was taken so far, and how it ends. */
static struct {
	const char *output;
	uint64_t start_s;
	bool has_command;
} recording;

static uint64_t now_s(void)
{
	struct timespec now = { 0 };
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

static void on_running(void *context, uint64_t samples, uint64_t lost)
{
	(void)context;
	char text[240];
	snprintf(text, sizeof(text),
		 "recording %.80s ... %" PRIu64 " s, %" PRIu64 " sample%s, %" PRIu64 " lost; ^C ends %s",
		 path_basename(recording.output), now_s() - recording.start_s, samples, samples == 1 ? "" : "s", lost,
		 recording.has_command ? "the command" : "it");
	progress_line(text);
}

static void on_warning(void *context, const char *sentence)
{
	progress_line_end();
	warning(context, "%s", sentence);
}

static int record(struct invocation *invocation, struct record_options *options, const char *output,
		  struct recorded *recorded)
{
	struct record_result result;
	struct error error = { 0 };
	struct file_destination file;
	const struct destination destination = file_destination(&file, output);
	options->destination = &destination;
	options->progress = on_progress;
	options->download = on_download;
	options->warn = on_warning;
	options->context = invocation;
	recording.output = output;
	recording.start_s = now_s();
	recording.has_command = options->command != NULL;
	/* A command that writes to the terminal shows its own progress there. */
	if (!options->command || !isatty(STDOUT_FILENO))
		options->running = on_running;
	int status = monitor_run(options, &result, &error);
	progress_line_end();
	progress_end();
	if (status < 0)
		return failure_of(invocation, &error);
	print_result(&file, &result);
	if (!result.incomplete)
		recorded_set(recorded, result.profile, result.samples, result.lost);
	profile_free(result.profile);
	if (result.incomplete) {
		failure(invocation, "the profile is incomplete: %s", error.message);
		return EXIT_FAILED;
	}
	return result.status;
}

/* --- recording with compiler hooks --- */

static void append_amount(struct buffer *line, uint64_t count, const char *what)
{
	buffer_printf(line, "%" PRIu64 " %s%s, ", count, what, count == 1 ? "" : "s");
}

static void print_counted(const struct instrumented_options *options, const struct instrumented_result *result,
			  const char *gmon_files)
{
	struct buffer line;
	buffer_init(&line);
	buffer_append_string(&line, "cpprof: ");
	append_amount(&line, result->calls, "call");
	if (result->blocks > 0)
		append_amount(&line, result->blocks, "block");
	append_amount(&line, result->samples, "sample");
	buffer_printf(&line, "%" PRIu64 " lost, ", result->lost);
	append_size(&line, result->bytes);
	buffer_printf(&line, " in %s, by hooks (%s)", options->output, tally_measurement_name(options->measurement));
	if (gmon_files[0])
		buffer_printf(&line, "; and %s", gmon_files);
	append_findings(&line, result->profile);
	buffer_append_byte(&line, '\n');
	if (buffer_error(&line) == 0)
		fwrite(line.bytes, 1, line.size, stderr);
	buffer_release(&line);
}

/* Writes gmon.out files beside the output. Appends their names to `names`. */
static int write_gmon(const struct invocation *invocation, const struct instrumented_options *options,
		      const struct profile *profile, struct buffer *names)
{
	struct error error = { 0 };
	const char *slash = strrchr(options->output, '/');
	char *directory =
		slash ? strndup(options->output, slash == options->output ? 1 : (size_t)(slash - options->output))
		      : strdup(".");
	int files = directory ? gmon_files_write(profile, directory, names, &error)
			      : error_set(&error, ERROR_MEMORY, "out of memory");
	free(directory);
	if (files == 0) /* all counted code is in no file */
		warning(invocation, "no gmon.out was written: no code that belongs to a file was counted");
	return files < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

static int report_counted(const struct invocation *invocation, const struct instrumented_options *options,
			  const struct instrumented_result *result, const struct error *error)
{
	struct buffer names;
	int written = EXIT_DONE;
	if (result->nothing[0]) {
		failure(invocation, "%s", result->nothing);
		return options->measurement == TALLY_OFF || result->was_killed ? result->status : EXIT_FAILED;
	}
	if (!result->profile)
		return failure_of(invocation, error);
	buffer_init(&names);
	if (option_given(invocation, OPTION_GMON))
		written = write_gmon(invocation, options, result->profile, &names);
	buffer_append_byte(&names, 0);
	if (result->incomplete)
		written = failure_of(invocation, error);
	else
		print_counted(options, result, buffer_error(&names) ? "" : (const char *)names.bytes);
	buffer_release(&names);
	return written == EXIT_DONE ? result->status : written;
}

static int record_counted(struct invocation *invocation, struct record_options *options, const char *output,
			  struct recorded *recorded)
{
	const char *name = option_value(invocation, OPTION_INSTRUMENTED);
	struct instrumented_options counted = { .record = options, .measurement = TALLY_PATHS, .output = output };
	struct instrumented_result result;
	struct error error = { 0 };
	if (name && instrumented_choose(name, &counted, &error) < 0)
		return failure_of(invocation, &error);
	if (options->no_children)
		return usage_error(
			invocation,
			"--instrumented cannot be combined with --no-children: every process with hooks counts "
			"(leave out --no-children)");
	if (!options->command || options->everything)
		return usage_error(invocation,
				   "--instrumented needs a command: the hooks count in the programs that it starts "
				   "(record --instrumented COMMAND)");
	if (options->backend)
		return usage_error(invocation,
				   "--instrumented cannot be combined with --backend: the program itself counts "
				   "(leave out --backend)");
	if (options->no_kernel)
		return usage_error(
			invocation,
			"--instrumented cannot be combined with --no-kernel: hooks count no code of the kernel "
			"(leave out --no-kernel)");
	counted.wrap = option_given(invocation, OPTION_WRAP);
	options->progress = on_progress;
	options->download = on_download;
	options->warn = on_warning;
	options->context = invocation;
	int status = record_instrumented(&counted, &result, &error);
	progress_end();
	if (status < 0)
		return failure_of(invocation, &error);
	status = report_counted(invocation, &counted, &result, &error);
	if (result.profile && !result.incomplete)
		recorded_set(recorded, result.profile, result.samples, result.lost);
	profile_free(result.profile);
	return status;
}

/* --- generated code --- */

static int check_jit(const struct invocation *invocation, const struct record_options *options, struct error *error)
{
	if (!option_given(invocation, OPTION_JIT))
		return 0;
	if (!options->command || options->everything)
		return error_set(error, ERROR_USAGE,
				 "--jit needs a command: only the programs that cpprof starts get its environment "
				 "(record --jit COMMAND; others are named if they were started with a perf map)");
	if (option_given(invocation, OPTION_INSTRUMENTED))
		return error_set(error, ERROR_USAGE,
				 "--jit cannot be combined with --instrumented, which counts in compiled programs "
				 "(leave out --jit)");
	return 0;
}

/* Records with the variables that make runtimes list their code, and prints them. */
static int record_generated(struct invocation *invocation, struct record_options *options, const char *output,
			    struct recorded *recorded)
{
	struct runtime_variables variables;
	struct error error = { 0 };
	if (runtime_variables_init(&variables, &error) < 0) {
		runtime_variables_release(&variables);
		return failure_of(invocation, &error);
	}
	for (size_t i = 0; variables.entries[i]; i++)
		fprintf(stderr, "%s%.*s", i > 0 ? ", " : "cpprof: --jit sets ", (int)strcspn(variables.entries[i], "="),
			variables.entries[i]);
	fputc('\n', stderr);
	options->environment = variables.entries;
	int status = record(invocation, options, output, recorded);
	runtime_variables_release(&variables);
	return status;
}

static int record_by_options(struct invocation *invocation, struct record_options *options, const char *output,
			     struct recorded *recorded)
{
	if (option_given(invocation, OPTION_INSTRUMENTED))
		return record_counted(invocation, options, output, recorded);
	if (option_given(invocation, OPTION_JIT))
		return record_generated(invocation, options, output, recorded);
	return record(invocation, options, output, recorded);
}

/* Prints the command that shows the recording, for a person at a terminal. */
static void say_next(const char *output)
{
	struct buffer line;
	bool is_default = strcmp(output, PROFILE_FILE_DEFAULT) == 0;
	if (!isatty(STDERR_FILENO) || is_standard_output(output))
		return;
	buffer_init(&line);
	quote_for_shell(&line, is_default ? "" : output);
	buffer_append_byte(&line, 0);
	if (buffer_error(&line) == 0)
		fprintf(stderr, "next: cpprof report%s%s\n", is_default ? "" : " ",
			is_default ? "" : (const char *)line.bytes);
	buffer_release(&line);
}

/* Returns whether the output is the program, whose place it would take. A program that PATH finds is another file. */
static bool is_program(const char *output, const char *program)
{
	struct stat file, other;
	return strchr(program, '/') && stat(output, &file) == 0 && stat(program, &other) == 0 &&
	       S_ISREG(file.st_mode) && file.st_dev == other.st_dev && file.st_ino == other.st_ino;
}

/* Makes one recording. */
static int record_once(struct invocation *invocation, struct record_options *options, const char *output)
{
	struct recorded recorded = { .total = 0 };
	if (options->command && is_program(output, options->command[0]))
		return usage_error(invocation, "cannot write '%s': it is the program '%s' (-o OTHER)", output,
				   options->command[0]);
	int status = record_by_options(invocation, options, output, &recorded);
	if (recorded.total > 0)
		say_next(output);
	return status;
}

/* `output` is the name of the file, without placeholders. */
static int run_into(struct invocation *invocation, struct record_options *options, const char *output)
{
	/* An attached process has its own output, so this only matters with a command. */
	if (options->command && is_standard_output(output))
		return usage_error(invocation,
				   "cannot write the profile to standard output: the command writes there (-o FILE)");
	const char *repeat = option_value(invocation, OPTION_REPEAT);
	const char *until = option_value(invocation, OPTION_UNTIL);
	if (until && repeat)
		return usage_error(invocation, "--until cannot be combined with --repeat: it chooses the number of "
					       "recordings (leave out --repeat)");
	if (until && option_given(invocation, OPTION_INSTRUMENTED))
		return usage_error(
			invocation,
			"--until cannot be combined with --instrumented, whose counts are exact (leave out --until)");
	const char *against = option_value(invocation, OPTION_AGAINST);
	if (against && !repeat)
		return usage_error(invocation, "--against needs --repeat, the number of recordings of each side "
					       "(record --repeat 10 --against './old input' ./new input)");
	if (until)
		return record_until(invocation, options, output, until, record_by_options);
	return repeat ? record_repeat(invocation, options, output, repeat, against, record_by_options)
		      : record_once(invocation, options, output);
}

/* Replaces the placeholders in the output's name, and sets the rank. */
static int run_named(struct invocation *invocation, struct record_options *options)
{
	const char *name = option_value(invocation, OPTION_OUTPUT);
	struct buffer output;
	struct error error = { 0 };
	if (!name)
		name = PROFILE_FILE_DEFAULT;
	buffer_init(&output);
	options->rank = output_name_rank(name);
	int status = output_name_append(&output, name, &error) < 0 ? failure_of(invocation, &error)
		     : buffer_error(&output) ? failure(invocation, "cannot name the profile '%s': out of memory", name)
					     : run_into(invocation, options, (const char *)output.bytes);
	buffer_release(&output);
	return status;
}

static int run_with(struct invocation *invocation, struct record_options *options, void *context)
{
	(void)context;
	struct error error = { 0 };
	if (take_frequency(invocation, options, &error) < 0 || check_jit(invocation, options, &error) < 0)
		return failure_of(invocation, &error);
	bool attaches = !process_list_is_empty(options->processes);
	if (!attaches && !options->everything && !options->command)
		return usage_error(invocation, "missing argument COMMAND (a command, -p PID or -a)");
	options->paused = option_given(invocation, OPTION_PAUSED);
	if (options->paused && (attaches || options->everything))
		return usage_error(
			invocation,
			"--paused needs a command: only a program that cpprof starts can choose when to begin "
			"(record --paused COMMAND)");
	if (option_given(invocation, OPTION_GMON) && !option_given(invocation, OPTION_INSTRUMENTED))
		return usage_error(invocation, "--gmon needs --instrumented, which counts the calls that gprof shows "
					       "(record --instrumented --gmon COMMAND)");
	if (option_given(invocation, OPTION_WRAP) && !option_given(invocation, OPTION_INSTRUMENTED))
		return usage_error(
			invocation,
			"--wrap needs --instrumented, which counts calls (record --instrumented --wrap COMMAND)");
	return run_named(invocation, options);
}

static int run(struct invocation *invocation)
{
	return subject_run(invocation, run_with, NULL);
}

/* --- a slice of the agent --- */

static int record_slice_with(struct invocation *invocation, struct record_options *options, void *context)
{
	/* 100 samples a second of each processor. */
	const uint64_t least_ns = 10 * NS_PER_MS;
	struct record_slice *slice = context;
	struct error error = { 0 };
	if (take_frequency(invocation, options, &error) < 0)
		return failure_of(invocation, &error);
	options->cpu_share = slice->cpu_share;
	options->weight = slice->weight;
	options->time_interval *= slice->weight;
	options->has_low_rate = options->resource_count > 0 || options->time_interval >= least_ns;
	for (size_t i = 0; i < options->resource_count; i++) {
		struct resource_request *request = &options->resources[i];
		options->has_low_rate &= resource_is_clock(request->row) && request->row->gtick_ns > 0 &&
					 request->interval >= least_ns / request->row->gtick_ns;
		request->interval *= slice->weight;
	}
	return record(invocation, options, option_value(invocation, OPTION_OUTPUT), &slice->recorded);
}

int record_slice(struct invocation *invocation, struct record_slice *slice)
{
	enum { KB = 1024 };
	struct rusage usage = { 0 };
	int status = subject_run(invocation, record_slice_with, slice);
	getrusage(RUSAGE_SELF, &usage);
	slice->memory_bytes = (uint64_t)usage.ru_maxrss * KB;
	return status;
}

static int check_slice_with(struct invocation *invocation, struct record_options *options, void *context)
{
	(void)context;
	struct error error = { 0 };
	if (take_frequency(invocation, options, &error) < 0 ||
	    (options->backend && !backend_find(options->backend, &error)))
		return failure_of(invocation, &error);
	return EXIT_DONE;
}

int record_slice_check(struct invocation *invocation)
{
	return subject_run(invocation, check_slice_with, NULL);
}

static const char *measurement_word(size_t index)
{
	return index < TALLY_MEASUREMENTS ? tally_measurement_name((uint32_t)index) : NULL;
}

static word_at *option_words(int id)
{
	return id == OPTION_INSTRUMENTED ? measurement_word : subject_option_words(id);
}

static const char *const usage[] = {
	"[-r RES[/INTERVAL]]... [-F HZ] [-o FILE] [--paused] [--jit] [--] COMMAND [ARG...]",
	"{--repeat N [--against 'COMMAND'] | --until ERROR} [OPTION]... [--] COMMAND [ARG...]",
	"--instrumented[=MEASUREMENT] [--wrap] [--gmon] [OPTION]... [--] COMMAND [ARG...]",
	"[-r RES[/INTERVAL]]... [-F HZ] [-o FILE] {-p PID | --comm NAME}... [--duration S]",
	"[-r RES[/INTERVAL]]... [-F HZ] [-o FILE] -a [--duration S | [--] COMMAND [ARG...]]",
	NULL,
};

static const struct command_option options[] = {
	{ SUBJECT_RESOURCE, 'r', "resource", "RES[/INTERVAL]",
	  "Measure resource RES ('cpprof resources' lists them), with one sample per INTERVAL on average, as cpu/500us "
	  "or page-faults/10; may be given up to 16 times",
	  "cpu/1ms" },
	{ OPTION_FREQUENCY, 'F', "frequency", "HZ",
	  "Samples per second of CPU time, for time resources without an interval", NULL },
	{ OPTION_OUTPUT, 'o', "output", "FILE",
	  "Write the profile to FILE; an older one is kept as FILE.old; %r in the name is the rank in a parallel job, "
	  "%h "
	  "the host, %p the process ID of cpprof, %% is %",
	  PROFILE_FILE_DEFAULT },
	{ OPTION_REPEAT, 0, "repeat", "N",
	  "Record COMMAND N times, one after the other, into numbered files: NAME-1.data, NAME-2.data, ... ('diff' "
	  "compares "
	  "several recordings a side)",
	  NULL },
	{ OPTION_AGAINST, 0, "against", "COMMAND",
	  "With --repeat: record this command too, in turns with the other one; it is side A, in NAME-a-1.data, ..., "
	  "and "
	  "the other one side B, in NAME-b-1.data, ..., of the 'diff' that is printed at the end",
	  NULL },
	{ OPTION_UNTIL, 0, "until", "ERROR",
	  "Record COMMAND again and again, until the share of each path with 5% or more has an error of at most ERROR, "
	  "as 1% or 0.01; the recordings are added up",
	  NULL },
	SUBJECT_PROCESS_OPTIONS("Record", "recording"),
	SUBJECT_CHILDREN_OPTIONS,
	{ SUBJECT_ALL, 'a', "all", NULL,
	  "Record every process of the machine: while COMMAND runs, or until ^C or the duration; needs privilege",
	  NULL },
	{ SUBJECT_DURATION, 0, "duration", "S", "With -p, --comm or -a: end after S seconds", NULL },
	{ OPTION_PAUSED, 0, "paused", NULL,
	  "Count nothing until the program calls cpprof_start(); by the preload backend, from inside the program",
	  NULL },
	{ OPTION_JIT, 0, "jit", NULL,
	  "Set the environment in which Node.js, Java, Python, Erlang, .NET and Julia list the code that they "
	  "generate, "
	  "and keep frame pointers in it, so that it has names and whole paths",
	  NULL },
	{ OPTION_INSTRUMENTED, 0, "instrumented", "[=MEASUREMENT]",
	  "Count every call, by the hooks that the compiler puts into code compiled with -pg, -pg -mfentry, "
	  "-finstrument-functions or -fsanitize-coverage=trace-pc: arcs (caller and function), paths (exact calls of "
	  "each "
	  "call path, to which samples are charged), counts (the same without samples), paths-timed (and the time of "
	  "each call), trace (each call, one "
	  "after "
	  "the other), blocks (executions of each basic block and line), off; or the file of your own implementation, "
	  "./NAME.so, beside paths",
	  "paths" },
	{ OPTION_WRAP, 0, "wrap", NULL,
	  "With --instrumented: count the command's calls of the C library too, those of threads, input and output, "
	  "and memory, as functions of group RUNTIME; programs linked with -lcpprof-wrap need no option",
	  NULL },
	{ OPTION_GMON, 0, "gmon", NULL,
	  "With --instrumented: write gmon.out files too, beside the profile, one for each loaded object, for gprof",
	  NULL },
	SUBJECT_NO_KERNEL_OPTION,
	ROW_NAMING_TIME,
	SUBJECT_BACKEND_OPTION,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof record ./program input.txt", "where does its CPU time go?" },
	{ "cpprof record -r cpu -r page-faults/10 ./program", "CPU time and page faults, in one run" },
	{ "cpprof record -r cpu/500us -o run.data make -j4", "a finer look, at a whole build" },
	{ "cpprof record -p 1234 --duration 10", "ten seconds of a process that is running already" },
	{ "cpprof record --comm postgres --duration 10", "... of every process of this name, and their children" },
	{ "cpprof record -a --duration 10", "ten seconds of the whole machine" },
	{ "mpirun -n 4 cpprof record -o job.%r.data ./app", "each rank of a parallel job, for 'report --ranks'" },
	{ "cpprof record --backend preload ./program", "from inside the program: needs no privilege" },
	{ "cpprof record --repeat 5 -o new.data ./program", "five recordings, new-1.data to new-5.data, for 'diff'" },
	{ "cpprof record --repeat 10 --against './old in' ./new in",
	  "ten of each of two programs, in turns, so that the load of the machine hits both" },
	{ "cpprof record --until 1% ./program", "as many runs as it takes until the shares are exact to 1 %" },
	{ "cpprof record --jit node app.js", "the functions of a program in JavaScript; so for java, python3, ..." },
	{ "cpprof record -r fp-invalid ./program", "where do the NaNs come from?" },
	{ "cpprof record -r own:orders/100 -r cpu ./server", "what the program counts itself, and CPU time" },
	{ "cpprof record --instrumented ./program", "every call counted, of a program compiled with -pg" },
	{ "cpprof record --instrumented=paths-timed ./program", "... and timed, compiled with -finstrument-functions" },
	{ "cpprof record --instrumented=paths-timed --wrap ./program", "... and what it waits for" },
	{ 0 },
};

const struct command command_record = {
	.name = "record",
	.task = TASK_RECORD,
	.summary = "run a command, or observe processes, and record where they use resources",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = option_words,
	.exit_status =
		"The command's own, or 128 + N if signal N ended it; 0 with -p and --comm, and with -a alone. If the "
		"command was not run: 127 if it does not exist, 126 if it is not executable, 2 for a usage "
		"error, 1 if nothing could be recorded. Also 1, after a message, if the profile could not be "
		"written completely, if memory ran out so that samples are missing, or if --instrumented counted "
		"nothing and no signal ended the command. ^C is for the command: cpprof waits "
		"for it to end, and writes the profile. With --repeat, the first status that is not 0, which ends the "
		"recordings only with --against; ^C ends them always.",
	.needs = STOPS_AT_ARGUMENT,
	.argument_min = 0,
	.argument_max = SIZE_MAX,
	.run = run,
};
