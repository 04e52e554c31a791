#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/plural.h"
#include "base/text_output.h"
#include "cmd/message.h"
#include "cmd/recordings.h"
#include "cmd/store_options.h"
#include "cmd/view_options.h"
#include "collect/count/event_source.h"
#include "frames/code/disassembly.h"
#include "ui/page/write.h"

#define OUTPUT_DEFAULT "cpprof.html"

enum { OPTION_OUTPUT = OPTION_OWN, OPTION_SOURCE, OPTION_NO_SOURCE, OPTION_OPEN };

/* Starts xdg-open, whose own messages go nowhere: it prints a line for each browser that it tries. Returns 0 or the number of an error. */
static int start_opener(pid_t *child, const char *path)
{
	char *const arguments[] = { (char *)"xdg-open", (char *)path, NULL };
	posix_spawn_file_actions_t actions;
	int number = posix_spawn_file_actions_init(&actions);
	if (number != 0)
		return number;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO && number == 0; fd++)
		number = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
	if (number == 0)
		number = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	return number;
}

/* Opens the page in the user's browser, as the desktop chooses it. */
static int open_page(const struct invocation *invocation, const char *path)
{
	pid_t child;
	int status = 0;
	int number = start_opener(&child, path);
	if (number != 0)
		return failure(invocation, "cannot run xdg-open: %s (open '%s' in a browser)", strerror(number), path);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return failure(invocation, "cannot open '%s': xdg-open failed (open the file in a browser)", path);
	return EXIT_DONE;
}

/* Prints what was written, and what it contains of other files. */
static void print_written(const struct invocation *invocation, const char *path, const struct page_written *written)
{
	if (written->count > 0)
		notice(invocation, "wrote '%s', with the text of %zu source file%s (--no-source leaves %s out)", path,
		       written->count, plural_ending("file", (double)written->count),
		       written->count == 1 ? "it" : "them");
	else
		notice(invocation, "wrote '%s'", path);
	if (written->code.functions > 0)
		notice(invocation, "with the machine code of %zu function%s%s", written->code.functions,
		       plural_ending("function", (double)written->code.functions),
		       written->code.left_out > 0 ? ", not of all with hits (the page states why)" : "");
	if (written->foreign > 0)
		notice(invocation,
		       "left out %zu source file%s, which processes of other or unknown users executed (--source "
		       "embeds %s)",
		       written->foreign, plural_ending("file", (double)written->foreign),
		       written->foreign == 1 ? "it" : "them");
	if (written->events.left_out > 0)
		notice(invocation,
		       "left out %" PRIu64 " calls and marks after the first %" PRIu64
		       " of the trace, for which a page has no room (cpprof export --format events prints all)",
		       written->events.left_out, written->events.count);
	if (written->left_out > 0)
		notice(invocation, "%zu source file%s too large for the page", written->left_out,
		       written->left_out == 1 ? " is" : "s are");
}

static int write_page(const struct invocation *invocation, const struct page_contents *contents, const char *path)
{
	struct text_output output;
	struct sink sink;
	struct error error = { 0 };
	struct page_written written;
	if (text_output_open(&output, path, TEXT_OUTPUT_PRIVATE, &error) < 0)
		return failure_of(invocation, &error);
	sink_init(&sink, output.stream);
	sink.is_safe = false; /* the page escapes its own texts */
	int result = page_write(&sink, contents, &written, &error);
	if (result == 0 && sink_failed(&sink)) {
		errno = sink.failure;
		result = error_set_errno(&error, "cannot write '%s'", path);
	}
	if (result < 0)
		text_output_discard(&output);
	else
		result = text_output_commit(&output, &error);
	if (sink.failure == EPIPE)
		return EXIT_FAILED; /* the reader has gone away: no message */
	if (result < 0)
		return failure_of(invocation, &error);
	if (strcmp(path, "-") != 0)
		print_written(invocation, path, &written);
	return EXIT_DONE;
}

/* Opens the events of a trace; a profile has none. Returns EXIT_DONE or EXIT_FAILED. */
static int open_events(const struct invocation *invocation, struct page_contents *contents)
{
	struct error error = { 0 };
	if (store_is_url(invocation->profile_path))
		return EXIT_DONE;
	contents->events = tally_event_source_open(invocation->profile_path, &error);
	return contents->events || error.code == ERROR_FORMAT ? EXIT_DONE : failure_of(invocation, &error);
}

/* Takes the spread that a comparison assumes. */
static int set_spread(const struct invocation *invocation, struct page_contents *contents)
{
	struct view_request view;
	struct error error = { 0 };
	if (view_request_init(&view, invocation, NULL, &error) < 0)
		return failure_of(invocation, &error);
	contents->spread = view.settings.spread;
	view_request_release(&view);
	return EXIT_DONE;
}

static int run(struct invocation *invocation)
{
	const char *path = option_value(invocation, OPTION_OUTPUT);
	struct page_contents contents = { .all_sources = option_given(invocation, OPTION_SOURCE),
					  .no_source = option_given(invocation, OPTION_NO_SOURCE) };
	struct recordings recordings;
	if (!contents.no_source)
		contents.code = &code_of_files;
	if (!path)
		path = OUTPUT_DEFAULT;
	if (contents.all_sources && contents.no_source)
		return usage_error(invocation, "--source cannot be combined with --no-source (choose one)");
	if (option_given(invocation, OPTION_OPEN) && strcmp(path, "-") == 0)
		return usage_error(invocation, "--open cannot be combined with -o - (name a file)");
	if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
		return usage_error(invocation, "cannot write a page to a terminal (-o FILE)");
	if (option_given(invocation, OPTION_SPREAD) && invocation->argument_count == 0)
		return usage_error(invocation,
				   "--spread needs two sides, which it compares (cpprof html --spread %s A B)",
				   option_value(invocation, OPTION_SPREAD));
	int status = set_spread(invocation, &contents);
	if (status != EXIT_DONE)
		return status;
	status = recordings_open(invocation, &recordings);
	contents.profiles = recordings.profiles;
	for (int side = DIFF_A; side <= DIFF_B; side++)
		contents.counts[side] = recordings.counts[side];
	if (status == EXIT_DONE)
		status = open_events(invocation, &contents);
	if (status == EXIT_DONE)
		status = write_page(invocation, &contents, path);
	if (contents.events)
		contents.events->close(contents.events);
	recordings_release(&recordings);
	if (status == EXIT_DONE && option_given(invocation, OPTION_OPEN))
		status = open_page(invocation, path);
	return status;
}

static const char *const usage[] = { "[OPTION]... [FILE]", "[OPTION]... A B", "[OPTION]... A1 A2... -- B1 B2...",
				     NULL };

static const struct command_option options[] = {
	{ OPTION_OUTPUT, 'o', "output", "FILE", "Write the page to FILE; -: standard output", OUTPUT_DEFAULT },
	{ OPTION_OPEN, 0, "open", NULL, "Open the page in a browser", NULL },
	{ OPTION_SOURCE, 0, "source", NULL,
	  "Also embed source files and code of processes of other users, or of users who are not known", NULL },
	{ OPTION_NO_SOURCE, 0, "no-source", NULL, "Leave out the text of the source files and the machine code", NULL },
	ROW_SPREAD,
	ROWS_STORE_SELECTION,
	ROWS_LIMITS,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof html --open", "look at the profile in a browser" },
	{ "cpprof html run.data -o run.html", "one file to send to a colleague; it needs no network" },
	{ "cpprof html profile.pb.gz", "the page of another tool's file that 'cpprof import' reads" },
	{ "cpprof html --store cpprof.db --from -1d", "services, hosts and call paths of a store over a day" },
	{ "cpprof html before.data after.data", "what a change of the program did, in pictures" },
	{ "cpprof html a1.data a2.data a3.data -- b1.data b2.data b3.data",
	  "the same from three recordings of each, whose differences from run to run are then known" },
	{ 0 },
};

const struct command command_html = {
	.name = "html",
	.task = TASK_READ,
	.summary = "write a page for the browser: flame graph, functions, time, source",
	.usage = usage,
	.options = options,
	.examples = examples,
	.needs = NEEDS_PROFILE,
	.argument_max = SIZE_MAX,
	.run = run,
};
