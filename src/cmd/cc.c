/* The compiler wrapper: `cpprof cc -- gcc -c file.c`. collect/source/compile/build.h describes its work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_place.h"
#include "cmd/message.h"
#include "cmd/probe_list.h"
#include "collect/source/compile/build.h"

enum {
	OPTION_SELECT = 1,
	OPTION_RULE,
	OPTION_HEADERS,
	OPTION_EXPLICIT,
	OPTION_REPORT,
	OPTION_LIMIT,
	OPTION_VERBOSE,
	OPTION_QUIET
};

static const double default_limit_s = 300;

static void print_line(void *context, const char *text)
{
	notice(context, "%s", text);
}

static void pass_on(void *context, const char *bytes, size_t size)
{
	(void)context;
	fwrite(bytes, 1, size, stderr);
}

/* Appends to the file with one write, because several compilers may write to it at the same time. */
static void report(void *context, const char *source, const struct instrument_result *result, const char *fallback)
{
	const struct invocation *invocation = context;
	const char *path = option_value(invocation, OPTION_REPORT);
	char *text = NULL;
	size_t size = 0;
	struct probe_list list = { .out = open_memstream(&text, &size) };
	if (list.out) {
		probe_list_add(&list, source, result, fallback);
		fclose(list.out);
	}
	struct error error = { 0 };
	int fd = text ? file_place_append(path, 0600, &error) : error_set(&error, ERROR_MEMORY, "out of memory");
	if (fd < 0)
		warning(invocation, "%s", error.message);
	else if (write(fd, text, size) != (ssize_t)size)
		warning(invocation, "cannot write to '%s'", path);
	if (fd >= 0)
		close(fd);
	free(text);
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);
	return value && *value && strcmp(value, "0") != 0;
}

static int run(struct invocation *invocation)
{
	struct compile_words words = { 0 };
	struct build_options options = {
		.headers = option_given(invocation, OPTION_HEADERS) || is_set("CPPROF_CC_HEADERS"),
		.is_explicit = option_given(invocation, OPTION_EXPLICIT),
		.verbose = option_given(invocation, OPTION_VERBOSE) || is_set("CPPROF_CC_VERBOSE"),
		.quiet = option_given(invocation, OPTION_QUIET),
		.seconds = default_limit_s,
		.printer = { .context = invocation, .print_line = print_line, .pass_on = pass_on },
	};
	if (option_given(invocation, OPTION_REPORT))
		options.printer.report = report;
	if (option_given(invocation, OPTION_LIMIT)) {
		const char *word = option_value(invocation, OPTION_LIMIT);
		options.seconds = positive_number(word);
		if (options.seconds <= 0)
			return usage_error(invocation, "'%s' is not a number of seconds (--limit 10, or 0.5)", word);
	}
	int status = EXIT_FAILED;
	options.selection = probe_selection(invocation, OPTION_SELECT, OPTION_RULE, OPTION_HEADERS, &status);
	if (!options.selection)
		return status;
	struct error error = { 0 };
	if (options.headers && selection_add(options.selection, "headers on", &error) < 0)
		status = failure_of(invocation, &error);
	else if (compile_words_read(&words, invocation->arguments) < 0)
		status = failure(invocation, "out of memory");
	else
		status = build_run(&options, &words, invocation->arguments);
	compile_words_release(&words);
	selection_free(options.selection);
	return status;
}

static const char *const usage[] = { "[OPTION]... -- COMPILER [ARGUMENT]...", NULL };

static const struct command_option options[] = {
	{ OPTION_SELECT, 's', "select", "FILE",
	  "Read the instrumentation filter FILE: rules, or lists of TAU or Score-P; may be given several times. "
	  "CPPROF_SELECT names one, too",
	  NULL },
	{ OPTION_RULE, 0, "rule", "RULE", "One more rule, as a line of such a file: 'exclude function get*'", NULL },
	{ OPTION_HEADERS, 0, "headers", NULL, "Instrument functions in the user's own headers as well", NULL },
	{ OPTION_EXPLICIT, 0, "explicit", NULL,
	  "In C, mark each exit of a function in the copy; the default for compilers without a cleanup attribute (tcc)",
	  NULL },
	{ OPTION_REPORT, 0, "report", "FILE",
	  "Append a line for each probe point to FILE: instrumented, or skipped and why", NULL },
	{ OPTION_LIMIT, 0, "limit", "S",
	  "Compile a source without instrumentation if reading it takes more than S seconds of CPU time (default: 300)",
	  NULL },
	{ OPTION_VERBOSE, 'v', "verbose", NULL, "Print what was done with each source, as CPPROF_CC_VERBOSE=1 does",
	  NULL },
	{ OPTION_QUIET, 'q', "quiet", NULL,
	  "Do not print which sources are compiled without instrumentation, and which hooks are not called", NULL },
	{ 0 },
};

#define EXIT_STATUS                                                                                                  \
	"That of the compiler; 127 if it is not found, 126 if it cannot be run; 1 if the instrumentation filter is " \
	"invalid; 2 for a usage error"

static const struct command_example examples[] = {
	{ "make CC='cpprof cc -- gcc'", "build a program of C with an object in each function" },
	{ "cpprof cc -- gcc -O2 -g program.c", "the same of one file; then: cpprof record --instrumented ./a.out" },
	{ "cpprof cc -s my.select -- clang -c a.c", "only what the file selects" },
	{ 0 },
};

static const struct command_example examples_cxx[] = {
	{ "make CC='cpprof cc -- gcc' CXX='cpprof cxx -- g++'", "build a program of C++ and C" },
	{ "cmake -DCMAKE_CXX_COMPILER_LAUNCHER='cpprof;cxx;--' .", "with CMake (link with cpprof::runtime)" },
	{ 0 },
};

const struct command command_cc = {
	.name = "cc",
	.task = TASK_BUILD,
	.summary = "compile C with a Profiler object in each function",
	.usage = usage,
	.options = options,
	.examples = examples,
	.exit_status = EXIT_STATUS,
	.needs = STOPS_AT_ARGUMENT,
	.argument_min = 1,
	.argument_max = SIZE_MAX,
	.run = run,
};

const struct command command_cxx = {
	.name = "cxx",
	.task = TASK_BUILD,
	.summary = "compile C++ with a Profiler object in each function",
	.usage = usage,
	.options = options,
	.examples = examples_cxx,
	.exit_status = EXIT_STATUS,
	.needs = STOPS_AT_ARGUMENT,
	.argument_min = 1,
	.argument_max = SIZE_MAX,
	.run = run,
};
