#include "ui/explore/explore.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/message.h"
#include "cmd/store_options.h"
#include "frames/code/disassembly.h"
#include "ui/explore/command.h"

static int run(struct invocation *invocation)
{
	struct stat status;
	struct error error = { 0 };
	bool is_file = stat(invocation->profile_path, &status) == 0 && S_ISREG(status.st_mode);
	struct explore_options options = {
		.file = invocation->profile_path,
		.file_bytes = is_file ? (uint64_t)status.st_size : 0,
		.in = stdin,
		.out = stdout,
		.err = stderr,
		.interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
		.colour = wants_colour(),
		.code = &code_of_files,
		.columns = terminal_columns(),
	};
	int result = explore_run(invocation->profile, &options, &error);
	if (result < 0)
		return failure_of(invocation, &error);
	return result == 0 ? EXIT_DONE : EXIT_FAILED;
}

static const char *const usage[] = { "[OPTION]... [FILE]", "[OPTION]... --store URL", NULL };

static const struct command_option options[] = { ROWS_STORE_SELECTION, ROW_MEMORY, { 0 } };

static const struct command_example examples[] = {
	{ "cpprof explore", "ask question after question; 'help' lists the commands" },
	{ "echo 'down main' | cpprof explore run.data", "the same from a script" },
	{ 0 },
};

const struct command command_explore = {
	.name = "explore",
	.task = TASK_READ,
	.summary = "explore a profile, question by question",
	.usage = usage,
	.options = options,
	.examples = examples,
	.print_commands = commands_print,
	.commands_heading = "commands, one a line",
	.exit_status = "0; 1 if the profile cannot be read; with commands from a pipe or a file, 1 if any failed; 2 "
		       "for a usage error",
	.needs = NEEDS_PROFILE,
	.run = run,
};
