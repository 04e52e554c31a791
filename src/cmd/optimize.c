/* `cpprof optimize`: reads the command line for optimize/loop.h. */
#include "cmd/optimize.h"

#include <math.h>
#include <stdio.h>

#include "cmd/message.h"
#include "optimize/loop.h"

enum { OPTION_RUN = 1, OPTION_DIRECTORY, OPTION_COMPILER, OPTION_TURNS };

enum { TURNS_STANDARD = 10 };

bool optimize_read_turns(const char *text, size_t *turns)
{
	double number = positive_number(text);
	if (number < OPTIMIZE_TURNS_MIN || number > OPTIMIZE_TURNS_MAX || number != floor(number))
		return false;
	*turns = (size_t)number;
	return true;
}

static int run(struct invocation *invocation)
{
	struct optimize_loop loop = { .command = invocation->arguments,
				      .workload = option_value(invocation, OPTION_RUN),
				      .turns = TURNS_STANDARD };
	struct error error = { 0 };
	const char *path = option_value(invocation, OPTION_DIRECTORY);
	const char *compiler = option_value(invocation, OPTION_COMPILER);
	const char *turns = option_value(invocation, OPTION_TURNS);
	if (!loop.workload || !loop.workload[0])
		return usage_error(invocation, "missing the workload to optimize for (--run './program input')");
	if (turns && !optimize_read_turns(turns, &loop.turns))
		return usage_error(invocation, OPTIMIZE_TURNS_ERROR, turns);
	if (optimize_folder_make(&loop.folder, path ? path : "cpprof.optimize", compiler ? compiler : "clang", &error) <
	    0)
		return failure_of(invocation, &error);
	int code = optimize_loop_run(&loop, stdout, &error);
	optimize_folder_release(&loop.folder);
	return code < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

static const char *const usage[] = { "--run WORKLOAD [OPTION]... -- BUILD-COMMAND [ARGUMENT]...", NULL };

static const struct command_option options[] = {
	{ OPTION_RUN, 0, "run", "WORKLOAD",
	  "The shell command to optimize for, run in the folder of the build: './program input'", NULL },
	{ OPTION_DIRECTORY, 'd', "directory", "DIR", "Build, and keep the profile, in the new folder DIR",
	  "cpprof.optimize" },
	{ OPTION_COMPILER, 0, "compiler", "NAME",
	  "The compiler: clang, of version 14 or later, or gcc; a version may follow: clang-19", "clang" },
	{ OPTION_TURNS, 0, "turns", "N", "Run each build N times to choose one, and N times to measure its gain",
	  "10" },
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
