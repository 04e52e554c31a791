#include "ui/browse/browse.h"

#include <signal.h>
#include <unistd.h>

#include "analyze/lookup.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/store_options.h"
#include "cmd/view_options.h"
#include "frames/code/disassembly.h"

/* Ends as a process ends that does not handle the signal. */
static int end_by(int number)
{
	signal(number, SIG_DFL);
	raise(number);
	return EXIT_FAILED; /* the signal was blocked */
}

static int browse(const struct invocation *invocation, const struct profile *second)
{
	struct error error = { 0 };
	struct view_request request;
	if (view_request_init(&request, invocation, invocation->profile, &error) < 0)
		return failure_of(invocation, &error);
	struct browse_options options = {
		.profiles = { invocation->profile, second },
		.names = { invocation->profile_path, second ? invocation->arguments[0] : NULL },
		.selection = request.settings.view,
		.code = &code_of_files,
		.colour = wants_colour(),
	};
	int result = invocation->profile->resource_count ? browse_run(&options, &error) : lookup_no_resources(&error);
	view_request_release(&request);
	if (result > 0)
		return end_by(result);
	return result < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

static int run(struct invocation *invocation)
{
	struct profile *second = NULL;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return usage_error(invocation, "browse needs a terminal ('cpprof report' prints, 'cpprof explore' "
					       "reads commands from a pipe)");
	if (invocation->argument_count > 0) {
		second = profile_open(invocation, invocation->arguments[0]);
		if (!second)
			return EXIT_FAILED;
	}
	int status = browse(invocation, second);
	profile_free(second);
	return status;
}

static const char *const usage[] = { "[OPTION]... [FILE]", "[OPTION]... A B", NULL };

static const struct command_option options[] = {
	{ OPTION_RESOURCE, 'r', "resource", "RES", "Begin with resource RES", "the first" },
	ROW_ZEROS,
	ROW_BY,
	ROWS_SELECTION,
	ROWS_STORE,
	ROWS_FRAMES,
	ROW_MEMORY,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof browse", "look through the profile in the terminal; ? lists the keys" },
	{ "cpprof browse --thread worker", "only what one thread did" },
	{ "cpprof browse callgrind.out.4711", "another tool's file that 'cpprof import' reads" },
	{ "cpprof browse before.data after.data", "which functions changed" },
	{ 0 },
};

const struct command command_browse = {
	.name = "browse",
	.task = TASK_READ,
	.summary = "look through a profile on the whole screen of a terminal",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = view_option_words,
	.print_commands = browse_print_keys,
	.commands_heading = "keys",
	.needs = NEEDS_PROFILE,
	.argument_max = 1,
	.run = run,
};
