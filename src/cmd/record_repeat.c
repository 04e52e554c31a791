/*
 * Each recording is made by a child process, because a monitor changes its process for good: signals, priority, limits.
 *
 *   parent: blocks the signals, forks, reads the pipe to its end ----> waits ----> next, or summary
 *   child:  gets the old signal mask back, records, writes a struct recorded into the pipe if the profile is complete
 *
 * The command does not inherit the pipe. A signal that was sent to the parent alone is passed to the child, whose monitor passes it
 * to the command.
 */
#include "cmd/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "analyze/analyses.h"
#include "analyze/settings.h"
#include "base/buffer.h"
#include "base/whole_number.h"
#include "cmd/merge.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/subject.h"
#include "collect/sample/target_signals.h"

/* As shells report it. */
enum { STATUS_OF_SIGNAL = 128 };

struct repetition {
	struct invocation *invocation;
	struct record_options *options;
	const char *output;
	recording_maker *make;
	int signal_fd;
	sigset_t old_signals;
	uint64_t count; /* of the recordings of each side */
	struct recorded_side sides[DIFF_SIDES];
	size_t side_count; /* 2: --against, whose command is side A; the other one is B */
	double most_error; /* --until: the largest error of a share that is permitted; 0: --repeat */
	double samples;    /* --until: independent samples, of all recordings */
	double error;      /* --until: the largest error so far */
	int signal;        /* that ends the recordings; 0: none arrived */
	int status;        /* the first that is not 0 */
};

/* --- one recording --- */

_Noreturn static void record_in_child(struct repetition *repetition, const char *output, int pipe_fd)
{
	struct recorded recorded = { 0 };
	close(repetition->signal_fd);
	sigprocmask(SIG_SETMASK, &repetition->old_signals, NULL);
	int status = repetition->make(repetition->invocation, repetition->options, output, &recorded);
	bool is_complete = recorded.resource[0] != 0;
	/* At most PIPE_BUF bytes: the write is whole, or the parent has ended and needs none. */
	if (is_complete && write(pipe_fd, &recorded, sizeof(recorded)) < 0)
		status = status ? status : EXIT_FAILED;
	fflush(stderr);
	_exit(status);
}

/* Reads the figures until the pipe's end, and passes on signals. Returns whether there are figures. */
static bool wait_for_child(struct repetition *repetition, int pipe_fd, pid_t child, struct recorded *recorded)
{
	struct pollfd descriptors[] = { { .fd = repetition->signal_fd, .events = POLLIN },
					{ .fd = pipe_fd, .events = POLLIN } };
	ssize_t size = 0, got = 0;
	do {
		struct signalfd_siginfo signal;
		if (poll(descriptors, 2, -1) < 0)
			descriptors[1].revents = 0; /* interrupted: poll did not set it */
		while (target_signals_next(repetition->signal_fd, &signal)) {
			repetition->signal = (int)signal.ssi_signo;
			target_signals_pass(&signal, child);
		}
		if (!descriptors[1].revents)
			continue;
		got = read(pipe_fd, (char *)recorded + size, sizeof(*recorded) - (size_t)size);
		size += got > 0 ? got : 0;
	} while (!descriptors[1].revents || got > 0);
	return size == (ssize_t)sizeof(*recorded);
}

static int status_of(pid_t child)
{
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	return WIFSIGNALED(status) ? STATUS_OF_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Sets *status to the recording's exit status. Returns whether it is complete. */
static bool record_one(struct repetition *repetition, struct recorded_side *side, const char *output, int *status)
{
	int fds[2];
	struct recorded *recorded = &side->made[side->made_count];
	repetition->options->command = side->command;
	repetition->options->command_line = side->command_line;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		*status = failure(repetition->invocation, "cannot make a pipe: %s", strerror(errno));
		return false;
	}
	fflush(stderr);
	pid_t child = fork();
	if (child == 0) {
		close(fds[0]);
		record_in_child(repetition, output, fds[1]);
	}
	int fork_error = errno;
	close(fds[1]);
	bool is_complete = child > 0 && wait_for_child(repetition, fds[0], child, recorded);
	close(fds[0]);
	*status = child > 0 ? status_of(child)
			    : failure(repetition->invocation, "cannot start a process: %s", strerror(fork_error));
	side->made_count += is_complete;
	return is_complete;
}

/* --- until the errors are small --- */

/* Returns the error of the share that is closest to one half, where errors are largest, of the paths that have 5 % or more. */
static double largest_error(const struct view *view, double samples)
{
	static const double least_share = 0.05;
	enum { PARTS = 1000000 };
	double largest = 0;
	for (size_t node = 1; node < view->node_count; node++) {
		double share = (double)view->weight[node] / (double)view->total;
		double error =
			share < least_share ? 0 : analyze_error((uint64_t)llround(share * PARTS), PARTS, samples);
		largest = error > largest ? error : largest;
	}
	return largest;
}

/* Determines the errors that the recordings have together, from the paths of the last one. Returns whether that was possible. */
static bool determine_error(struct repetition *repetition)
{
	struct error error = { 0 };
	const struct view_options first = { .thread = VIEW_ANY };
	const struct recorded_side *side = &repetition->sides[0];
	struct profile *profile = profile_open_file(repetition->invocation, side->names[side->made_count - 1]);
	struct view *view = profile && profile->resource_count ? view_new(profile, &first, &error) : NULL;
	bool is_exact = view && view->resource->kind == RESOURCE_EXACT;
	if (view && view->total > 0 && !is_exact) {
		repetition->samples += view->independent;
		repetition->error = largest_error(view, repetition->samples);
	} else if (view && !is_exact) {
		repetition->status = failure(repetition->invocation,
					     "the command has no samples (choose a shorter interval: -r cpu/100us)");
	} else if (profile && !view) {
		repetition->status = failure_of(repetition->invocation, &error);
	}
	bool is_known = view && (view->total > 0 || is_exact);
	view_free(view);
	profile_free(profile);
	if (!profile)
		repetition->status = EXIT_FAILED;
	return is_known;
}

/* Adds the recordings up, removes them, and prints the error. */
static int add_up(struct repetition *repetition)
{
	const double percent = 100;
	struct invocation *invocation = repetition->invocation;
	const struct recorded_side *side = &repetition->sides[0];
	if (side->made_count == 0)
		return EXIT_FAILED;
	int status = merge_files(invocation, side->names, side->made_count, NULL, repetition->output);
	for (size_t i = 0; i < side->made_count && status == EXIT_DONE; i++)
		unlink(side->names[i]);
	if (status == EXIT_DONE)
		notice(invocation, "the shares of paths with 5 %% or more have errors up to %.2g %%%s",
		       percent * repetition->error,
		       repetition->error <= repetition->most_error ? "" : ", more than was asked for");
	return status;
}

/* --- all --- */

/* Makes recording number `number` of a side. Returns whether another one may follow: of two sides, only where the command succeeded. */
static bool record_side(struct repetition *repetition, struct recorded_side *side, const char *output, uint64_t number)
{
	int status;
	bool goes_on = record_one(repetition, side, output, &status) && repetition->signal == 0;
	if (repetition->status == EXIT_DONE)
		repetition->status = status;
	if (repetition->side_count > 1 && status != EXIT_DONE && repetition->signal == 0)
		failure(repetition->invocation,
			"cannot record both sides: %s, '%s', ended with status %d in recording %" PRIu64 " of %" PRIu64,
			side == repetition->sides ? "the command of --against" : "the command", side->command_line,
			status, number, repetition->count);
	return goes_on && (repetition->side_count == 1 || status == EXIT_DONE);
}

/* The same, and sets the name of its file. */
static bool record_next(struct repetition *repetition, struct recorded_side *side, uint64_t number)
{
	struct buffer name;
	buffer_init(&name);
	recorded_append_name(&name, repetition->output, side, number);
	bool is_named = buffer_error(&name) == 0;
	if (!is_named)
		repetition->status = failure(repetition->invocation, "out of memory");
	char **kept = &side->names[side->made_count];
	*kept = is_named ? (char *)name.bytes : NULL;
	if (!is_named)
		buffer_release(&name);
	bool goes_on = is_named && record_side(repetition, side, *kept, number);
	if (goes_on && repetition->most_error > 0)
		goes_on = determine_error(repetition) && repetition->error > repetition->most_error;
	return goes_on;
}

static int print_summaries(const struct repetition *repetition, bool is_complete)
{
	int result = 0;
	for (size_t i = 0; i < repetition->side_count && result == 0; i++)
		result = recorded_print_summary(&repetition->sides[i], repetition->output, repetition->count);
	return result == 0 && is_complete && repetition->side_count > 1
		       ? recorded_print_next(repetition->sides, repetition->output)
		       : result;
}

/* Records the sides in turns, A B A B ..., so that a machine that changes its speed slowly changes it for both. */
static int record_all(struct repetition *repetition)
{
	bool goes_on = true;
	for (uint64_t i = 1; i <= repetition->count; i++)
		for (size_t side = 0; side < repetition->side_count && goes_on; side++)
			goes_on = record_next(repetition, &repetition->sides[side], i);
	if (repetition->most_error > 0) {
		int status = add_up(repetition);
		return repetition->status != EXIT_DONE ? repetition->status : status;
	}
	bool is_complete = repetition->sides[repetition->side_count - 1].made_count == repetition->count;
	if (print_summaries(repetition, is_complete) < 0)
		repetition->status = failure(repetition->invocation, "out of memory");
	bool is_cut = repetition->signal != 0 && !is_complete;
	return is_cut && repetition->status == EXIT_DONE ? STATUS_OF_SIGNAL + repetition->signal : repetition->status;
}

static bool side_init(struct recorded_side *side, uint64_t count)
{
	side->made = calloc(count, sizeof(*side->made));
	side->names = calloc(count, sizeof(*side->names));
	return side->made && side->names;
}

static void side_release(struct recorded_side *side, uint64_t count)
{
	for (size_t i = 0; side->names && i < count; i++)
		free(side->names[i]);
	free(side->names);
	free(side->made);
}

static int run(struct repetition *repetition)
{
	struct error error = { 0 };
	struct invocation *invocation = repetition->invocation;
	bool has_memory = true;
	for (size_t i = 0; i < repetition->side_count; i++)
		has_memory = side_init(&repetition->sides[i], repetition->count) && has_memory;
	int status = !has_memory ? failure(invocation, "out of memory")
		     : target_signals_take(&repetition->signal_fd, &repetition->old_signals, &error) < 0
			     ? failure_of(invocation, &error)
			     : record_all(repetition);
	if (repetition->signal_fd > 0)
		close(repetition->signal_fd);
	for (size_t i = 0; i < repetition->side_count; i++)
		side_release(&repetition->sides[i], repetition->count);
	return status;
}

/* Makes the command of the options the last side. */
static void add_side(struct repetition *repetition, const char *mark)
{
	const struct record_options *options = repetition->options;
	repetition->sides[repetition->side_count++] = (struct recorded_side){ .mark = mark,
									      .command = options->command,
									      .command_line = options->command_line };
}

/* --- two commands in turns --- */

/* Splits a command as a shell does: quotes, variables, patterns. Returns EXIT_DONE, and words that the caller frees; or another status after
 * a message. */
static int split_command(const struct invocation *invocation, const char *text, wordexp_t *words)
{
	int code = wordexp(text, words, WRDE_NOCMD | WRDE_UNDEF);
	if (code == 0 && words->we_wordc > 0)
		return EXIT_DONE;
	if (code == 0 || code == WRDE_NOSPACE)
		wordfree(words);
	return code == WRDE_NOSPACE
		       ? failure(invocation, "out of memory")
		       : usage_error(invocation,
				     "cannot run '%s' for --against: %s (--against './old input', or \"sh -c '...'\")",
				     text,
				     code == 0             ? "it is empty"
				     : code == WRDE_BADVAL ? "a variable in it is not set"
				     : code == WRDE_SYNTAX ? "a quote or a brace in it is not closed"
							   : "no shell runs it, so it cannot contain |, &, ;, <, >, "
							     "parentheses or a command in its place");
}

static int run_against(struct repetition *repetition, const char *against)
{
	wordexp_t words;
	struct buffer line;
	struct invocation *invocation = repetition->invocation;
	struct record_options *options = repetition->options, b = *options;
	int status = split_command(invocation, against, &words);
	if (status != EXIT_DONE)
		return status;
	buffer_init(&line);
	options->command = words.we_wordv;
	subject_describe(invocation, options, &line);
	options->command_line = (const char *)line.bytes;
	add_side(repetition, "-a");
	options->command = b.command;
	options->command_line = b.command_line;
	add_side(repetition, "-b");
	status = buffer_error(&line) ? failure(invocation, "out of memory") : run(repetition);
	buffer_release(&line);
	wordfree(&words);
	return status;
}

int record_repeat(struct invocation *invocation, struct record_options *options, const char *output, const char *count,
		  const char *against, recording_maker *make)
{
	struct repetition repetition = { .invocation = invocation, .options = options, .output = output, .make = make };
	if (!whole_number_read(count, &repetition.count) || repetition.count == 0 || repetition.count > REPEATS_MOST)
		return usage_error(invocation, "'%s' is not a number of recordings (--repeat 5; at most %d)", count,
				   REPEATS_MOST);
	if (!options->command)
		return usage_error(invocation,
				   "--repeat needs a command, which it starts again (record --repeat %s "
				   "COMMAND)",
				   count);
	if (against)
		return run_against(&repetition, against);
	add_side(&repetition, "");
	return run(&repetition);
}

int record_until(struct invocation *invocation, struct record_options *options, const char *output, const char *error,
		 recording_maker *make)
{
	struct repetition repetition = {
		.invocation = invocation, .options = options, .output = output, .make = make, .count = REPEATS_MOST
	};
	if (settings_read_fraction(error, &repetition.most_error) < 0 || repetition.most_error <= 0 ||
	    repetition.most_error >= 1)
		return usage_error(invocation,
				   "'%s' is not an error of shares above 0 and below 1 (--until 1%%, or 0.01)", error);
	if (!options->command)
		return usage_error(invocation,
				   "--until needs a command, which it starts again (record --until 1%% COMMAND)");
	add_side(&repetition, "");
	return run(&repetition);
}
