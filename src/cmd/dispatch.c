#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/profile_open.h"

/* A standard stream that is closed would give its number to the next file that
 * is opened, and results would be written into that. What stands in for it
 * fails as a closed one does, and no child inherits it. */
static void occupy_standard_streams(void)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDWR };
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd] | O_CLOEXEC) < 0)
			return;
}

int command_unknown(const struct invocation *invocation, const char *name)
{
	char list[128] = "";
	for (size_t i = 0; commands[i]; i++) {
		size_t used = strlen(list);
		if (!(commands[i]->needs & IS_HIDDEN) && text_resembles(name, commands[i]->name))
			snprintf(list + used, sizeof(list) - used, "%s'%s'", used ? " or " : "", commands[i]->name);
	}
	if (list[0])
		return usage_error(invocation, "unknown command '%s' (did you mean %s?)", name, list);
	return usage_error(invocation, "unknown command '%s'", name);
}

/* Where among the arguments the profile's name is; the count: nowhere. With terms,
 * which hold a '=', it stands before or behind them. */
static size_t find_profile_name(const struct invocation *invocation)
{
	size_t count = invocation->argument_count;
	if (!(invocation->command->needs & NEEDS_PROFILE_BEFORE_TERMS) || count == 0)
		return 0;
	if (!strchr(invocation->arguments[0], '=') || access(invocation->arguments[0], F_OK) == 0)
		return 0;
	return strchr(invocation->arguments[count - 1], '=') ? count : count - 1;
}

/* Takes the profile's name from the arguments. */
static void take_profile_name(struct invocation *invocation)
{
	size_t at = find_profile_name(invocation);
	invocation->profile_path = PROFILE_FILE_DEFAULT;
	if (at >= invocation->argument_count)
		return;
	invocation->profile_path = invocation->arguments[at];
	memmove(invocation->arguments + at, invocation->arguments + at + 1,
		(invocation->argument_count - at) * sizeof(*invocation->arguments));
	invocation->argument_count--;
}

static int check_count(const struct invocation *invocation)
{
	const struct command *command = invocation->command;
	if (invocation->argument_count > command->argument_max)
		return usage_error(invocation, "one argument too many: '%s'",
				   invocation->arguments[command->argument_max]);
	if (invocation->argument_count < command->argument_min)
		return usage_error(invocation, "too few arguments: cpprof %s %s", command->name, command->usage[0]);
	return EXIT_DONE;
}

/* Results that did not arrive are a failure, but no news to one who hung up. */
static int close_output(const struct invocation *invocation, int status)
{
	bool failed = ferror(stdout);
	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return status;
	if (status != EXIT_DONE)
		return status; /* the command has said what failed */
	if (errno == EPIPE)
		return EXIT_FAILED;
	failure(invocation, "cannot write to standard output: %s", errno ? strerror(errno) : "an earlier write failed");
	return EXIT_FAILED;
}

static int run(struct invocation *invocation, int argc, char **argv)
{
	struct error error = { 0 };
	const struct command *command = invocation->command;
	if (options_parse(invocation, argc, argv, &error) < 0)
		return failure_of(invocation, &error);
	if (invocation->wants_help) {
		help_print_command(stdout, command);
		return EXIT_DONE;
	}
	if (command->needs & NEEDS_PROFILE)
		take_profile_name(invocation);
	int status = check_count(invocation);
	if (status != EXIT_DONE)
		return status;
	if (command->needs & NEEDS_PROFILE) {
		invocation->profile = profile_open(invocation, invocation->profile_path);
		if (!invocation->profile)
			return EXIT_FAILED;
	}
	return command->run(invocation);
}

static int run_words(struct invocation *invocation, int argc, char **argv)
{
	const char *first = argc > 1 ? argv[1] : "--help";
	if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
		help_print_overview(stdout);
		return EXIT_DONE;
	}
	if (strcmp(first, "--version") == 0) {
		printf("cpprof %s\n", CPPROF_VERSION);
		return EXIT_DONE;
	}
	if (first[0] == '-')
		return usage_error(invocation, "unknown option '%s'; a command comes first", first);
	const struct command *command = command_find(first);
	if (!command)
		return command_unknown(invocation, first);
	invocation->command = command;
	return run(invocation, argc - 2, argv + 2);
}

int dispatch(int argc, char **argv)
{
	struct invocation invocation = { 0 };
	occupy_standard_streams();
	int status = run_words(&invocation, argc, argv);
	status = close_output(&invocation, status);
	invocation_release(&invocation);
	return status;
}
