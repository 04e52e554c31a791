/* `cpprof top`: the last seconds of a running program, on the whole screen of a terminal. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file_place.h"
#include "cmd/message.h"
#include "cmd/subject.h"
#include "cmd/view_options.h"
#include "collect/live/live.h"
#include "frames/code/disassembly.h"
#include "ui/browse/browse.h"

enum { OPTION_WINDOW = SUBJECT_OPTIONS_END, OPTION_OUTPUT };
enum { WINDOW_S = 10, WINDOW_MOST_S = 3600 };
/* With -a, all processors together take 400 samples a second: 4,000 in the default window, whose fractions have an error of at most
 * 1.6 %. Samples of the whole machine cost more than samples of one program, because many of its programs need the slow ways of unwinding. */
static const uint64_t ALL_INTERVAL_NS = 2500 * 1000;

/* --- arguments --- */

static int take_window(const struct invocation *invocation, double *seconds, struct error *error)
{
	const char *word = option_value(invocation, OPTION_WINDOW);
	*seconds = word ? positive_number(word) : WINDOW_S;
	if (*seconds < 1 || *seconds > WINDOW_MOST_S)
		return error_set(error, ERROR_USAGE, "--window %s is out of range (1 to %d seconds)", word,
				 WINDOW_MOST_S);
	return 0;
}

static int take_words(const struct invocation *invocation, struct record_options *options, double *seconds,
		      struct error *error)
{
	if (take_window(invocation, seconds, error) < 0)
		return error->code;
	if (process_list_is_empty(options->processes) && !options->everything && !options->command)
		return error_set(error, ERROR_USAGE, "missing argument COMMAND (a command, -p PID or -a)");
	if (option_value(invocation, OPTION_OUTPUT) && !options->command)
		return error_set(error, ERROR_USAGE, "-o needs a command, whose output it receives (-o FILE COMMAND)");
	return 0;
}

/* Sets the interval of the default resource, if the whole machine is shown. */
static void choose_interval(struct record_options *options)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	if (options->everything)
		options->time_interval = ALL_INTERVAL_NS * (uint64_t)(processors > 0 ? processors : 1);
}

/* --- the command's input and output, which must not reach the screen --- */

static void close_streams(const int streams[3])
{
	for (int i = 0; i < 3; i++)
		if (streams[i] > STDERR_FILENO)
			close(streams[i]);
}

/* Opens `path`, or the null device, as output, and the null device as input. Returns 0 or a negative error. */
static int open_streams(const char *path, int streams[3], struct error *error)
{
	const mode_t mode = 0666; /* and the umask, as for a shell's redirection */
	struct file_place place;
	char *temporary;
	streams[1] = streams[2] = -1;
	streams[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (streams[0] < 0)
		return error_set_errno(error, "cannot read /dev/null");
	if (path) {
		streams[1] = file_place_open(&place, path, mode, &temporary, error);
		/* The command's output has its name while it grows. */
		int result = streams[1] < 0 ? streams[1] : file_place_publish(&place, &temporary);
		if (streams[1] >= 0 && result < 0)
			error_set_errno(error, "cannot write '%s'", path);
		file_place_discard(&place, &temporary);
		file_place_release(&place);
		if (result < 0)
			return error->code;
	} else {
		streams[1] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	}
	if (streams[1] >= 0)
		streams[2] = fcntl(streams[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return streams[2] < 0 ? error_set_errno(error, "cannot write '%s'", path ? path : "/dev/null") : 0;
}

/* --- the screen --- */

static struct profile *take(void *context)
{
	return live_take(context);
}

static bool state_of(void *context, char *warning, size_t bytes)
{
	struct live_state state;
	live_state(context, &state);
	snprintf(warning, bytes, "%s", state.warning);
	return state.has_ended;
}

/* Shows the recording until the user ends it. Returns as browse_run. */
static int show(struct live *live, const struct record_options *options, double window_s, struct error *error)
{
	const struct browse_feed feed = { .context = live,
					  .descriptor = live_descriptor(live),
					  .window_s = window_s,
					  .take = take,
					  .state = state_of };
	struct browse_options browse = { .profiles = { live_take(live) },
					 .names = { options->command_line },
					 .selection = { .thread = VIEW_ANY },
					 .code = &code_of_files,
					 .colour = wants_colour(),
					 .feed = &feed,
					 .first_screen = options->everything ? "processes" : "functions" };
	return browse_run(&browse, error);
}

/* Shows and ends the recording. Returns the exit status. */
static int watch(const struct invocation *invocation, struct live *live, const struct record_options *options,
		 double window_s)
{
	struct error error = { 0 }, live_error = { 0 };
	struct live_end end;
	int shown = show(live, options, window_s, &error);
	int ended = live_stop(live, &end, &live_error);
	if (end.left)
		fprintf(stderr, "cpprof: the command goes on as process %d (kill %d ends it)\n", (int)end.left,
			(int)end.left);
	if (shown > 0) {
		/* Ends as a process ends that does not handle the signal. */
		signal(shown, SIG_DFL);
		raise(shown);
		return EXIT_FAILED; /* the signal was blocked */
	}
	if (shown < 0)
		return failure_of(invocation, &error);
	return ended < 0 ? failure_of(invocation, &live_error) : EXIT_DONE;
}

static int start(const struct invocation *invocation, struct record_options *options, double window_s)
{
	struct error error = { 0 };
	int streams[3];
	const struct live_options wanted = { .record = options,
					     .command_streams = streams,
					     .window_ns = (uint64_t)(window_s * 1e9) };
	int status = open_streams(option_value(invocation, OPTION_OUTPUT), streams, &error);
	struct live *live = status == 0 ? live_start(&wanted, &error) : NULL;
	close_streams(streams);
	return live ? watch(invocation, live, options, window_s) : failure_of(invocation, &error);
}

static int run_with(struct invocation *invocation, struct record_options *options, void *context)
{
	(void)context;
	struct error error = { 0 };
	double window_s = WINDOW_S;
	if (take_words(invocation, options, &window_s, &error) < 0)
		return failure_of(invocation, &error);
	choose_interval(options);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return usage_error(invocation, "top needs a terminal ('cpprof record' writes a profile, 'cpprof trace' "
					       "prints events)");
	return start(invocation, options, window_s);
}

static int run(struct invocation *invocation)
{
	return subject_run(invocation, run_with, NULL);
}

static const char *const usage[] = {
	"[-r RES[/INTERVAL]]... [--window S] [-o FILE] [--] COMMAND [ARG...]",
	"[-r RES[/INTERVAL]]... [--window S] {-p PID | --comm NAME}...",
	"[-r RES[/INTERVAL]]... [--window S] -a",
	NULL,
};

static const struct command_option options[] = {
	{ SUBJECT_RESOURCE, 'r', "resource", "RES[/INTERVAL]",
	  "Show resource RES ('cpprof resources' lists them), with one sample per INTERVAL on average; of several, the "
	  "key r chooses; may be given up to 16 times",
	  "cpu/1ms; with -a cpu at 400 samples a second" },
	{ OPTION_WINDOW, 'w', "window", "S", "Show the last S seconds", "10" },
	{ OPTION_OUTPUT, 'o', "output", "FILE", "Write the command's standard output and standard error to FILE",
	  "nowhere" },
	SUBJECT_PROCESS_OPTIONS("Show", "display"),
	SUBJECT_CHILDREN_OPTIONS,
	{ SUBJECT_ALL, 'a', "all", NULL, "Show every process of the machine; needs privilege", NULL },
	SUBJECT_NO_KERNEL_OPTION,
	SUBJECT_BACKEND_OPTION,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof top -p 1234", "what a process does now" },
	{ "cpprof top -a", "which processes use the machine, and where; needs privilege" },
	{ "cpprof top -r cpu -r page-faults/10 ./server", "start a program; the key r changes the resource" },
	{ "cpprof top --window 60 --comm postgres", "the last minute of every process of this name" },
	{ 0 },
};

const struct command command_top = {
	.name = "top",
	.task = TASK_RECORD,
	.summary = "show on the whole screen where a running program spends its last seconds",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = subject_option_words,
	.print_commands = browse_print_keys,
	.commands_heading = "keys",
	.exit_status =
		"0 after the key q; or that of the signal that ended cpprof. If the command was not run: 127 if it "
		"does not exist, 126 if it is not executable, 2 for a usage error, 1 if nothing could be measured.",
	.needs = STOPS_AT_ARGUMENT,
	.argument_min = 0,
	.argument_max = SIZE_MAX,
	.run = run,
};
