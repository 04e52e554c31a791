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

#include "analyze/analyses.h"
#include "analyze/settings.h"
#include "base/buffer.h"
#include "base/path.h"
#include "base/whole_number.h"
#include "cmd/merge.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "collect/sample/target_signals.h"
#include "render/render.h"

/* As shells report it. */
enum { STATUS_OF_SIGNAL = 128 };

struct repetition {
	struct invocation *invocation;
	struct record_options *options;
	const char *output;
	recording_maker *make;
	int signal_fd;
	sigset_t old_signals;
	uint64_t count;
	struct recorded *made; /* [made_count] */
	size_t made_count;
	char **names;      /* [made_count] of the complete recordings; owned */
	double most_error; /* --until: the largest error of a share that is permitted; 0: --repeat */
	double samples;    /* --until: independent samples, of all recordings */
	double error;      /* --until: the largest error so far */
	int signal;        /* that ends the recordings; 0: none arrived */
	int status;        /* the first that is not 0 */
};

void recorded_set(struct recorded *recorded, const struct profile *profile, uint64_t samples, uint64_t lost)
{
	const struct profile_resource *first = profile->resources;
	*recorded = (struct recorded){ .samples = samples, .lost = lost };
	if (profile->resource_count == 0)
		return;
	recorded->total = first->total;
	snprintf(recorded->resource, sizeof(recorded->resource), "%s", profile_string(profile, first->name));
	snprintf(recorded->unit, sizeof(recorded->unit), "%s", profile_string(profile, first->unit));
}

/* Appends "dir/a-3.data", and a NUL. */
static void append_name(struct buffer *name, const char *output, uint64_t number)
{
	const char *base = path_basename(output), *dot = strrchr(base, '.');
	const char *end = dot && dot > base ? dot : base + strlen(base);
	buffer_append(name, output, (size_t)(end - output));
	buffer_printf(name, "-%" PRIu64 "%s", number, end);
	buffer_append_byte(name, 0);
}

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

/* Returns whether the recording is complete. */
static bool record_one(struct repetition *repetition, const char *output)
{
	int fds[2];
	struct recorded *recorded = &repetition->made[repetition->made_count];
	if (pipe2(fds, O_CLOEXEC) < 0) {
		repetition->status = failure(repetition->invocation, "cannot make a pipe: %s", strerror(errno));
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
	int status = child > 0 ? status_of(child)
			       : failure(repetition->invocation, "cannot start a process: %s", strerror(fork_error));
	repetition->made_count += is_complete;
	if (repetition->status == EXIT_DONE)
		repetition->status = status;
	return is_complete;
}

/* --- the summary --- */

/* Appends ", cpu 1.25 s each, ±0.8 % (standard deviation)". */
static void append_spread(struct buffer *line, const struct repetition *repetition)
{
	const struct recorded *made = repetition->made;
	const double percent = 100, count = (double)repetition->made_count;
	double sum = 0, squares = 0;
	char amount[RECORDED_NAME_BYTES * 2];
	for (size_t i = 0; i < repetition->made_count; i++) {
		if (made[i].total == 0)
			return;
		sum += (double)made[i].total;
	}
	for (size_t i = 0; i < repetition->made_count; i++)
		squares += ((double)made[i].total - sum / count) * ((double)made[i].total - sum / count);
	buffer_printf(line, ", %s %s each", made[0].resource,
		      render_amount(amount, sizeof(amount), sum / count, made[0].unit));
	if (repetition->made_count > 1)
		buffer_printf(line, ", ±%.1f %% (standard deviation)",
			      percent * sqrt(squares / (count - 1)) / (sum / count));
}

/* Prints "cpprof: 5 recordings, a-1.data to a-5.data: 5230 samples, 0 lost, cpu 1.05 s each, ±0.8 % (standard deviation)". */
static int print_summary(const struct repetition *repetition)
{
	struct buffer line;
	uint64_t samples = 0, lost = 0;
	for (size_t i = 0; i < repetition->made_count; i++) {
		samples += repetition->made[i].samples;
		lost += repetition->made[i].lost;
	}
	buffer_init(&line);
	buffer_printf(&line, "cpprof: %zu", repetition->made_count);
	if (repetition->made_count < repetition->count)
		buffer_printf(&line, " of %" PRIu64, repetition->count);
	buffer_printf(&line, " recording%s", repetition->count == 1 ? "" : "s");
	for (size_t end = 0; end < 2 && end < repetition->made_count; end++) {
		buffer_append_string(&line, end == 0 ? ", " : " to ");
		append_name(&line, repetition->output, end == 0 ? 1 : repetition->made_count);
		line.size -= line.size > 0; /* without the NUL */
	}
	if (repetition->made_count > 0) {
		buffer_printf(&line, ": %" PRIu64 " sample%s, %" PRIu64 " lost", samples, samples == 1 ? "" : "s",
			      lost);
		append_spread(&line, repetition);
	}
	buffer_append_byte(&line, '\n');
	int result = buffer_error(&line);
	if (result == 0)
		fwrite(line.bytes, 1, line.size, stderr);
	buffer_release(&line);
	return result;
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
	struct profile *profile =
		profile_open_file(repetition->invocation, repetition->names[repetition->made_count - 1]);
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
	if (repetition->made_count == 0)
		return EXIT_FAILED;
	int status = merge_files(invocation, repetition->names, repetition->made_count, NULL, repetition->output);
	for (size_t i = 0; i < repetition->made_count && status == EXIT_DONE; i++)
		unlink(repetition->names[i]);
	if (status == EXIT_DONE)
		notice(invocation, "the shares of paths with 5 %% or more have errors up to %.2g %%%s",
		       percent * repetition->error,
		       repetition->error <= repetition->most_error ? "" : ", more than was asked for");
	return status;
}

/* --- all --- */

/* Makes recording number `number`. Returns whether another one may follow. */
static bool record_next(struct repetition *repetition, uint64_t number)
{
	struct buffer name;
	buffer_init(&name);
	append_name(&name, repetition->output, number);
	bool is_named = buffer_error(&name) == 0;
	if (!is_named)
		repetition->status = failure(repetition->invocation, "out of memory");
	char **kept = &repetition->names[repetition->made_count];
	*kept = is_named ? (char *)name.bytes : NULL;
	if (!is_named)
		buffer_release(&name);
	bool goes_on = is_named && record_one(repetition, *kept) && repetition->signal == 0;
	if (goes_on && repetition->most_error > 0)
		goes_on = determine_error(repetition) && repetition->error > repetition->most_error;
	return goes_on;
}

static int record_all(struct repetition *repetition)
{
	bool goes_on = true;
	for (uint64_t i = 1; i <= repetition->count && goes_on; i++)
		goes_on = record_next(repetition, i);
	if (repetition->most_error > 0) {
		int status = add_up(repetition);
		return repetition->status != EXIT_DONE ? repetition->status : status;
	}
	if (print_summary(repetition) < 0)
		repetition->status = failure(repetition->invocation, "out of memory");
	bool is_cut = repetition->signal != 0 && repetition->made_count < repetition->count;
	return is_cut && repetition->status == EXIT_DONE ? STATUS_OF_SIGNAL + repetition->signal : repetition->status;
}

static int run(struct repetition *repetition)
{
	struct error error = { 0 };
	struct invocation *invocation = repetition->invocation;
	repetition->made = calloc(repetition->count, sizeof(*repetition->made));
	repetition->names = calloc(repetition->count + 1, sizeof(*repetition->names));
	int status = !repetition->made || !repetition->names ? failure(invocation, "out of memory")
		     : target_signals_take(&repetition->signal_fd, &repetition->old_signals, &error) < 0
			     ? failure_of(invocation, &error)
			     : record_all(repetition);
	if (repetition->signal_fd > 0)
		close(repetition->signal_fd);
	for (size_t i = 0; repetition->names && i < repetition->count; i++)
		free(repetition->names[i]);
	free(repetition->names);
	free(repetition->made);
	return status;
}

int record_repeat(struct invocation *invocation, struct record_options *options, const char *output, const char *count,
		  recording_maker *make)
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
	return run(&repetition);
}
