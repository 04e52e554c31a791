#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory_limit.h"
#include "base/memory_size.h"
#include "base/near_names.h"
#include "base/time_limit.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/store_options.h"
#include "http/http.h"

/* If a standard stream is closed, the next opened file would get its descriptor, and results would be written into
 * that file. This opens a replacement, which fails like a closed stream and which no child inherits. */
static void occupy_standard_streams(void)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDWR };
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd] | O_CLOEXEC) < 0)
			return;
}

/* Returns the index of the profile's name among the arguments, or the number of arguments if there is none. If the
 * arguments contain terms, which have a '=', the name is before or behind them. */
static size_t find_profile_name(const struct invocation *invocation)
{
	size_t count = invocation->argument_count, required = invocation->command->argument_min;
	if (invocation->command->needs & NEEDS_PROFILE_LAST)
		return required;
	if (!(invocation->command->needs & NEEDS_PROFILE_BEFORE_TERMS) || count == 0)
		return 0;
	if (!strchr(invocation->arguments[0], '=') || access(invocation->arguments[0], F_OK) == 0)
		return 0;
	return strchr(invocation->arguments[count - 1], '=') ? count : count - 1;
}

/* Removes the profile's name from the arguments and stores it, or the standard if there is none. */
static void take_profile_name(struct invocation *invocation, const char *standard)
{
	size_t at = find_profile_name(invocation);
	invocation->profile_path = standard;
	if (at >= invocation->argument_count)
		return;
	invocation->profile_path = invocation->arguments[at];
	memmove(invocation->arguments + at, invocation->arguments + at + 1,
		(invocation->argument_count - at) * sizeof(*invocation->arguments));
	invocation->argument_count--;
}

/* Returns the name of required argument number `index`, from 0, in a usage line: the words that are not in brackets, and no value of an
 * option. Writes it to `name`, "" if there are fewer. */
static const char *argument_name(const char *usage, size_t index, char *name, size_t bytes)
{
	size_t depth = 0;
	bool is_value = false;
	name[0] = 0;
	while (*usage) {
		size_t length = strcspn(usage, " ");
		bool is_required = depth == 0 && !is_value && usage[0] != '[' && usage[0] != '-';
		is_value = depth == 0 && usage[0] == '-' && strncmp(usage, "-- ", 3) != 0;
		for (size_t i = 0; i < length; i++)
			depth += usage[i] == '[' ? 1 : usage[i] == ']' && depth > 0 ? (size_t)-1 : 0;
		if (is_required && index-- == 0) {
			snprintf(name, bytes, "%.*s", (int)length, usage);
			return name;
		}
		usage += length;
		usage += strspn(usage, " ");
	}
	return name;
}

static int check_count(const struct invocation *invocation)
{
	const struct command *command = invocation->command;
	if (invocation->argument_count > command->argument_max)
		return usage_error(invocation, "one argument too many: '%s'",
				   invocation->arguments[command->argument_max]);
	if (invocation->argument_count < command->argument_min) {
		char missing[64];
		return usage_error(
			invocation, "missing argument %s (usage: cpprof %s %s)",
			argument_name(command->usage[0], invocation->argument_count, missing, sizeof(missing)),
			command->name, command->usage[0]);
	}
	return EXIT_DONE;
}

/* A failed write of results is a failure; for a closed pipe, no message is printed. */
static int close_output(const struct invocation *invocation, int status)
{
	bool failed = ferror(stdout);
	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return status;
	if (status != EXIT_DONE)
		return status; /* the command has printed its message */
	if (errno == EPIPE)
		return EXIT_FAILED;
	failure(invocation, "cannot write to standard output: %s", errno ? strerror(errno) : "an earlier write failed");
	return EXIT_FAILED;
}

/* Returns the row of an option, or NULL if the command has none. */
static const struct command_option *row_of(const struct invocation *invocation, int id)
{
	const struct command_option *option = command_options(invocation->command);
	while (option->name && option->id != id)
		option++;
	return option->name ? option : NULL;
}

/* Returns the seconds that are enough for any sound input. What is in a store has no size here. */
static double usual_seconds(const struct invocation *invocation)
{
	const double least = 60, of_store = 600, bytes_per_s = 1e6;
	double seconds = option_given(invocation, STORE_URL) ? of_store : least;
	for (size_t i = 0; i <= invocation->argument_count; i++) {
		const char *path = i < invocation->argument_count ? invocation->arguments[i] : invocation->profile_path;
		struct stat status;
		if (path && store_is_url(path))
			seconds += of_store;
		else if (path && stat(path, &status) == 0 && S_ISREG(status.st_mode))
			seconds += (double)status.st_size / bytes_per_s;
	}
	return seconds;
}

/* Limits the CPU time of a command that reads files from outside. */
static int limit_time(const struct invocation *invocation)
{
	const double most = 1e9;
	const char *text = option_value(invocation, OPTION_CPU_TIME);
	struct error error = { 0 };
	char message[128];
	if (!row_of(invocation, OPTION_CPU_TIME) || (text && strcmp(text, "0") == 0))
		return EXIT_DONE;
	double seconds = text ? positive_number(text) : usual_seconds(invocation);
	if (!(seconds > 0 && seconds < most))
		return usage_error(invocation, "'%s' is not a number of seconds (--cpu-time 600; 0: no limit)", text);
	snprintf(
		message, sizeof(message),
		"cpprof %s: cannot finish: it takes more than %.4g s of CPU time (--cpu-time SECONDS raises the limit)",
		invocation->command->name, seconds);
	return time_limit_set(seconds, message, &error) < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

/* Limits the memory of a command that reads files from outside. */
static int limit_memory(const struct invocation *invocation)
{
	const struct command_option *option = row_of(invocation, OPTION_MEMORY);
	if (!option)
		return EXIT_DONE;
	struct error error = { 0 };
	uint64_t bytes;
	const char *text = option_value(invocation, OPTION_MEMORY);
	if (!memory_size_read(text ? text : option->standard, &bytes))
		return usage_error(invocation, "'%s' is not an amount of memory (--memory 512M, or 4G; 0: no limit)",
				   text);
	return memory_limit_set(bytes, &error) < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

/* --- inputs and outputs --- */

/* Sets *file to the regular file that a word of the command line names; "-" is standard input. Returns false if it names none. */
static bool find_input(const char *word, struct stat *file)
{
	static const char sqlite[] = "sqlite://";
	word += strncmp(word, sqlite, strlen(sqlite)) == 0 ? strlen(sqlite) : 0;
	int result = strcmp(word, "-") == 0 ? fstat(STDIN_FILENO, file) : stat(word, file);
	return result == 0 && S_ISREG(file->st_mode);
}

/* Refuses an output that is the file of this word: it would take the place of what is read. */
static int check_input(const struct invocation *invocation, const char *word, const char *path,
		       const struct stat *output)
{
	struct stat input;
	if (!word || !find_input(word, &input) || input.st_dev != output->st_dev || input.st_ino != output->st_ino)
		return EXIT_DONE;
	return usage_error(invocation, "cannot write '%s': it is the input '%s' (-o OTHER)", path, word);
}

/* Checks -o before anything is read. `name` completes a profile in its place, and a command line is not an input. */
static int check_output(const struct invocation *invocation)
{
	static const char *const inputs[] = { "FILE", "URL" };
	const struct command_option *row = command_options(invocation->command);
	while (row->name && strcmp(row->name, "output") != 0)
		row++;
	const char *path = !row->name                          ? NULL
			   : option_given(invocation, row->id) ? option_value(invocation, row->id)
							       : row->standard;
	struct stat output;
	if (!path || strcmp(path, "-") == 0 || stat(path, &output) < 0 || !S_ISREG(output.st_mode) ||
	    invocation->command == &command_name || (invocation->command->needs & STOPS_AT_ARGUMENT))
		return EXIT_DONE;
	int status = check_input(invocation, invocation->profile_path, path, &output);
	for (size_t i = 0; i < invocation->argument_count && status == EXIT_DONE; i++)
		status = check_input(invocation, invocation->arguments[i], path, &output);
	for (size_t i = 0; i < invocation->use_count && status == EXIT_DONE; i++) {
		const struct option_use *use = &invocation->uses[i];
		for (size_t j = 0; j < sizeof(inputs) / sizeof(inputs[0]) && status == EXIT_DONE; j++)
			if (use->option->id != row->id && use->option->value &&
			    strcmp(use->option->value, inputs[j]) == 0)
				status = check_input(invocation, use->value, path, &output);
	}
	return status;
}

/* Refuses a file behind terms, which the command would take for a term, and the first term for the file. */
static int check_order(const struct invocation *invocation)
{
	struct stat file;
	const char *first = invocation->profile_path;
	if (!(invocation->command->needs & NEEDS_PROFILE_BEFORE_TERMS) || stat(first, &file) == 0 ||
	    store_is_url(first))
		return EXIT_DONE;
	for (size_t i = 0; i < invocation->argument_count; i++)
		if (!strchr(invocation->arguments[i], '=') && find_input(invocation->arguments[i], &file))
			return usage_error(
				invocation,
				"cannot find the file '%s': the file comes first, and then terms with a factor "
				"(cpprof %s %s '%s=0')",
				first, invocation->command->name, invocation->arguments[i], first);
	return EXIT_DONE;
}

static const struct invocation *running;

static void report_slow(const char *url)
{
	notice(running, "waiting for '%s', which has sent nothing for %d s", url, HTTP_SLOW_S);
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
	bool is_store = option_given(invocation, STORE_URL);
	if (command->needs & NEEDS_PROFILE)
		take_profile_name(invocation, is_store ? "" : PROFILE_FILE_DEFAULT);
	running = invocation;
	http_report_slow(report_slow);
	int status = check_count(invocation);
	if (status == EXIT_DONE && command != &command_store)
		status = store_options_check(invocation);
	if (status == EXIT_DONE)
		status = check_order(invocation);
	if (status == EXIT_DONE && command->check)
		status = command->check(invocation);
	if (status == EXIT_DONE)
		status = check_output(invocation);
	if (status == EXIT_DONE)
		status = limit_memory(invocation);
	if (status == EXIT_DONE)
		status = limit_time(invocation);
	if (status != EXIT_DONE)
		return status;
	if ((command->needs & NEEDS_PROFILE) && is_store) {
		invocation->store_url = store_options_url(invocation, invocation->profile_path);
		if (!invocation->store_url)
			return EXIT_FAILED;
		invocation->profile_path = invocation->store_url;
	}
	if (command->needs & NEEDS_PROFILE) {
		invocation->profile = profile_open(invocation, invocation->profile_path);
		if (!invocation->profile)
			return EXIT_FAILED;
	}
	return command->run(invocation);
}

/* Reports an unknown option before the command. */
static int option_unknown(const struct invocation *invocation, const char *word)
{
	static const char *const known[] = { "--help", "--version" };
	if (strcmp(word, "-v") == 0)
		return usage_error(invocation, "unknown option '-v' (did you mean '-V'?)");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (text_resembles(word, known[i]))
			return usage_error(invocation, "unknown option '%s' (did you mean '%s'?)", word, known[i]);
	return usage_error(invocation, "unknown option '%s' before the command", word);
}

static int run_words(struct invocation *invocation, int argc, char **argv)
{
	const char *first = argc > 1 ? argv[1] : "--help";
	if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
		help_print_overview(stdout);
		return EXIT_DONE;
	}
	if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
		printf("cpprof %s\n", CPPROF_VERSION);
		return EXIT_DONE;
	}
	if (first[0] == '-')
		return option_unknown(invocation, first);
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
