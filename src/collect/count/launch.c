#include "collect/count/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/count/tally.h"
#include "collect/count/tally_file.h"
#include "collect/sample/clock.h"
#include "collect/sample/description.h"
#include "collect/sample/preload/access.h"
#include "collect/sample/preload/requests.h"
#include "collect/sample/process_list.h"
#include "collect/sample/target.h"
#include "collect/sample/target_signals.h"
#include "frames/frames.h"
#include "profile/findings.h"
#include "profile_file/writer.h"

enum { PRELOAD_VARIABLE, TALLY_PATH_VARIABLE, MEASURE_VARIABLE, VARIABLES };

struct counted_run {
	const struct instrumented_options *options;
	struct instrumented_result *result;
	struct resource_request resources[RESOURCE_REQUESTS_MAX];
	struct backend_request request; /* points to `resources` */
	struct instrumented_tally tally;
	struct target target;
	size_t still_running;             /* processes that the command left behind */
	char *path;                       /* of the command's executable; owned */
	char *environment[VARIABLES + 1]; /* owned */
	int signal_fd;
	sigset_t old_signals;
};

/* --- options --- */

int instrumented_choose(const char *name, struct instrumented_options *options, struct error *error)
{
	if (strchr(name, '/') || strstr(name, ".so")) {
		options->implementation = name;
		return 0;
	}
	char names[128] = "";
	for (uint32_t i = 0; i < TALLY_MEASUREMENTS; i++) {
		size_t used = strlen(names);
		if (strcmp(name, tally_measurement_name(i)) == 0) {
			options->measurement = (enum tally_measurement)i;
			return 0;
		}
		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", tally_measurement_name(i));
	}
	return error_set(error, ERROR_USAGE, "unknown measurement '%s' (%s, or a library of your own, ./NAME.so)", name,
			 names);
}

static bool measures_real_time(enum tally_measurement measurement)
{
	return measurement == TALLY_PATHS_TIMED || measurement == TALLY_TRACE;
}

static int check_resource(const struct counted_run *run, const struct resource_request *request, struct error *error)
{
	enum tally_measurement measurement = run->options->measurement;
	if (!preload_can_count(request->counter))
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot measure %s with --instrumented: it is not observable inside a program (record "
				 "it in a run of its own)",
				 request->name);
	if (measures_real_time(measurement) && strcmp(request->name, "real") == 0)
		return error_set(error, ERROR_USAGE,
				 "-r real cannot be combined with --instrumented=%s, which measures real time exactly "
				 "(leave out -r real)",
				 tally_measurement_name(measurement));
	return 0;
}

static int take_resources(struct counted_run *run, struct error *error)
{
	const struct record_options *asked = run->options->record;
	size_t count = asked->resource_count;
	memcpy(run->resources, asked->resources, sizeof(run->resources));
	if (count > 0 && run->options->measurement == TALLY_COUNTS)
		return error_set(error, ERROR_USAGE,
				 "-r cannot be combined with --instrumented=counts, which takes no samples "
				 "(--instrumented=paths does)");
	if (count == 0 && run->options->measurement != TALLY_OFF && run->options->measurement != TALLY_COUNTS) {
		int result = resource_parse("cpu", &run->resources[0], error);
		if (result < 0)
			return result;
		if (asked->time_interval)
			run->resources[0].interval = asked->time_interval;
		count = 1;
	}
	run->request = (struct backend_request){ .resources = run->resources,
						 .resource_count = count,
						 .paused = asked->paused };
	for (size_t i = 0; i < count; i++)
		if (check_resource(run, &run->resources[i], error) < 0)
			return error->code;
	return 0;
}

/* --- before it runs --- */

/* Finds the libraries to preload: the library with the hooks and, in front of it, libcpprof-wrap.so if the options
 * request it or the command is linked with it. */
static int find_libraries(const struct counted_run *run, char *libraries, size_t bytes, struct error *error)
{
	char wrap[PATH_MAX] = "", hooks[PATH_MAX];
	int result = preload_access_hooks_library(hooks, sizeof(hooks), error);
	if (result == 0 && (run->options->wrap || preload_access_has_wrap(run->path)))
		result = preload_access_wrap_library(wrap, sizeof(wrap), error);
	snprintf(libraries, bytes, "%s%s%s", wrap, *wrap ? ":" : "", hooks);
	return result;
}

/* Sets the variable that selects the measurement: to its name, or to the implementation's file, absolute if it has a
 * folder. */
static int name_measurement(struct counted_run *run, struct error *error)
{
	const char *name = run->options->implementation;
	char *path = NULL;
	if (name && strchr(name, '/')) {
		path = realpath(name, NULL);
		if (!path || access(path, R_OK) < 0) {
			error_set_errno(error, "cannot load '%s'", name);
			free(path);
			return error->code;
		}
		name = path;
	}
	if (!name)
		name = tally_measurement_name(run->options->measurement);
	if (asprintf(&run->environment[MEASURE_VARIABLE], TALLY_MEASURE_VARIABLE "=%s", name) < 0)
		run->environment[MEASURE_VARIABLE] = NULL;
	free(path);
	return run->environment[MEASURE_VARIABLE] ? 0 : error_memory(error);
}

static int make_environment(struct counted_run *run, struct error *error)
{
	char libraries[2 * PATH_MAX];
	const char *others = getenv("LD_PRELOAD");
	bool has_others = others && *others;
	int result = find_libraries(run, libraries, sizeof(libraries), error);
	if (result == 0)
		result = name_measurement(run, error);
	if (result < 0)
		return result;
	/* Ours precede the libraries that the user preloads: the first definition of a function is the definition that is
	 * called. */
	if (asprintf(&run->environment[PRELOAD_VARIABLE], "LD_PRELOAD=%s%s%s", libraries, has_others ? ":" : "",
		     has_others ? others : "") < 0)
		run->environment[PRELOAD_VARIABLE] = NULL;
	else if (asprintf(&run->environment[TALLY_PATH_VARIABLE], TALLY_VARIABLE "=%s", run->tally.path) < 0)
		run->environment[TALLY_PATH_VARIABLE] = NULL;
	bool made = run->environment[PRELOAD_VARIABLE] && run->environment[TALLY_PATH_VARIABLE];
	return made ? 0 : error_memory(error);
}

/* Checks that the profile can be written, without leaving a file on the disk. */
static int check_output(const char *output, struct error *error)
{
	struct stat status;
	if (stat(output, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
		return error_set(error, ERROR_USAGE,
				 "cannot write '%s': with --instrumented, the output must be a regular file (-o FILE)",
				 output);
	struct writer *writer = writer_open(output, error);
	if (!writer)
		return error->code;
	writer_free(writer);
	return 0;
}

static int prepare(struct counted_run *run, struct error *error)
{
	int result = take_resources(run, error);
	if (result < 0)
		return result;
	run->path = target_find(run->options->record->command[0], error);
	if (!run->path)
		return error->code;
	result = preload_access_hooks_command(run->path, error);
	if (result == 0) /* before files are made, so that a signal leaves none behind */
		result = target_signals_take(&run->signal_fd, &run->old_signals, error);
	if (result == 0)
		result = check_output(run->options->output, error);
	if (result == 0)
		result = instrumented_tally_make(&run->tally, run->options->output, run->options->measurement,
						 &run->request, error);
	return result == 0 ? make_environment(run, error) : result;
}

/* --- during the run --- */

static int start(struct counted_run *run, struct error *error)
{
	struct rlimit files;
	getrlimit(RLIMIT_NOFILE, &files);
	const struct target_start how = { .environment = run->environment,
					  .signals = &run->old_signals,
					  .files = &files };
	int result = target_fork(&run->target, run->path, run->options->record->command, &how, error);
	return result == 0 ? target_exec(&run->target, run->path, error) : result;
}

static void wait_for_target(struct counted_run *run)
{
	struct pollfd descriptors[] = { { .fd = run->signal_fd, .events = POLLIN },
					{ .fd = run->target.pidfd, .events = POLLIN } };
	while (!descriptors[1].revents) {
		struct signalfd_siginfo signal;
		if (poll(descriptors, 2, -1) < 0)
			descriptors[1].revents = 0; /* interrupted: poll did not set it */
		while (target_signals_next(run->signal_fd, &signal))
			target_interrupt(&run->target, &signal);
	}
	target_reap(&run->target);
	run->result->status = run->target.status;
	run->result->was_killed = run->target.killed_by != 0;
}

/* Waits up to a second for processes that the command left behind: some are about to exit, and some were started a
 * moment ago (daemon()) and begin to count. The latter are found by TALLY_VARIABLE in their environment. During exec a
 * process has no environment for a moment, so the wait ends after several looks without a process. ^C ends the wait. */
static void wait_for_others(struct counted_run *run)
{
	enum { STEP_MS = 10, STEPS = 100, LOOKS = 3 };
	struct pollfd signals = { .fd = run->signal_fd, .events = POLLIN };
	const char *given = run->environment[TALLY_PATH_VARIABLE];
	for (int i = 0, without = 0; i < STEPS; i++) {
		bool goes_on = instrumented_tally_running(&run->tally) > 0 || processes_have_variable(given);
		without = goes_on ? 0 : without + 1;
		if (without == LOOKS || poll(&signals, 1, goes_on ? STEP_MS : 1) != 0)
			break;
	}
	run->still_running = instrumented_tally_running(&run->tally);
}

/* --- the result --- */

static const char *how_to_compile(enum tally_measurement measurement)
{
	switch (measurement) {
	case TALLY_PATHS_TIMED:
	case TALLY_TRACE:
		return "compile it with 'cpprof cc' or with -finstrument-functions; -pg's hooks do not report when a "
		       "function is left";
	case TALLY_BLOCKS:
		return "compile it with -fsanitize-coverage=trace-pc (gcc) or "
		       "-fsanitize-coverage=trace-pc-guard,pc-table,no-prune (clang; link without it: clang adds "
		       "hooks of its own), and link it with -lcpprof";
	default:
		return "compile it with 'cpprof cc', or with -pg, -pg -mfentry or -finstrument-functions";
	}
}

/* Returns a finding that says why processes or threads were not counted, or NULL if there is none. */
static const struct profile_finding *find_refusal(const struct profile *profile)
{
	static const enum finding_code codes[] = { FINDING_PROCESSES_NOT_RECORDED, FINDING_THREADS_NOT_RECORDED,
						   FINDING_THREADS_CUT_SHORT };
	const struct profile_finding *refusal = NULL;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]) && !refusal; i++)
		refusal = finding_find(profile, codes[i]);
	return refusal;
}

static void explain_nothing(const struct counted_run *run)
{
	char *text = run->result->nothing;
	const size_t bytes = sizeof(run->result->nothing);
	const char *command = run->options->record->command[0];
	const struct profile *profile = run->result->profile;
	const struct profile_finding *refused = find_refusal(profile);
	if (run->options->measurement == TALLY_OFF)
		snprintf(text, bytes, "nothing was counted: the measurement is off");
	else if (run->target.killed_by)
		snprintf(text, bytes, "nothing was counted: signal %d (%s) ended '%s'", run->target.killed_by,
			 strsignal(run->target.killed_by), command);
	else if (instrumented_tally_processes(&run->tally) == 0)
		snprintf(text, bytes,
			 "nothing was counted: the hooks' library was never loaded (LD_PRELOAD or " TALLY_VARIABLE
			 " may have been cleared from the environment)");
	else if (refused)
		snprintf(text, bytes, "nothing was counted: %s", profile_string(profile, refused->text));
	else if (finding_find(profile, FINDING_POINTS_SWITCHED_OFF))
		snprintf(text, bytes,
			 "nothing was counted: all probe points that were reached were switched off, by the file of "
			 "rules "
			 "in " TALLY_PROBES_VARIABLE ", by the program or by cpprof control");
	else if (run->options->record->paused)
		snprintf(text, bytes,
			 "nothing was counted: the program did not call cpprof_start(), or called no hooks after it "
			 "(if it has none, %s)",
			 how_to_compile(run->options->measurement));
	else
		snprintf(text, bytes, "nothing was counted: '%s' has no code that calls the compiler's hooks (%s)",
			 command, how_to_compile(run->options->measurement));
}

static uint64_t total_of(const struct profile *profile, const char *name)
{
	uint32_t resource = profile_find_resource(profile, name);
	return resource == PROFILE_NONE ? 0 : profile->resources[resource].total;
}

static void sum_up(struct counted_run *run, struct profile *profile)
{
	struct instrumented_result *result = run->result;
	result->calls = total_of(profile, "calls");
	result->blocks = total_of(profile, "blocks");
	result->lost = profile->lost;
	target_add_finding(&run->target, profile);
	if (run->still_running > 0)
		finding_add(profile, FINDING_PROCESSES_STILL_RUNNING, run->still_running,
			    "{# process|# processes} still {runs|run}, uncounted");
	for (size_t i = 0; i < profile->hit_count; i++)
		result->samples += profile_hit_samples(profile, &profile->hits[i]);
}

static void report_progress(void *context, size_t done, size_t total)
{
	const struct record_options *options = context;
	if (options->progress)
		options->progress(options->context, done, total);
}

static void report_download(void *context, const char *path, uint64_t done, uint64_t total)
{
	const struct record_options *options = context;
	options->download(options->context, path, done, total);
}

static int load(struct counted_run *run, struct error *error)
{
	const struct record_options *record = run->options->record;
	const struct frames_options names = { .progress = report_progress,
					      .download = record->download ? report_download : NULL,
					      .context = (void *)record };
	char removed[64]; /* our open descriptor, if the program removed the file */
	snprintf(removed, sizeof(removed), "/proc/self/fd/%d", run->tally.fd);
	bool is_there = access(run->tally.path, F_OK) == 0;
	struct profile *profile = tally_load(is_there ? run->tally.path : removed, &names, error);
	if (!profile)
		return error->code;
	run->result->profile = profile;
	profile->end_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (description_add(profile, run->options->record->command_line) < 0)
		return error_memory(error);
	int labelled = record->rank ? profile_label_all(profile, PROFILE_LABEL_RANK, record->rank) : 0;
	if (labelled < 0)
		return error_set(error, labelled, "%s", error_text(labelled));
	sum_up(run, profile);
	if (profile->findings_error < 0)
		return error_set(error, profile->findings_error, "%s", error_text(profile->findings_error));
	return 0;
}

static int write_profile(struct counted_run *run, struct error *error)
{
	struct instrumented_result *result = run->result;
	if (run->options->measurement == TALLY_TRACE)
		return instrumented_tally_publish(&run->tally, &result->bytes, error);
	struct writer *writer = writer_open(run->options->output, error);
	if (!writer)
		return error->code;
	int code = writer_publish(writer, error);
	if (code == 0)
		code = writer_finish(writer, result->profile, error);
	result->bytes = writer_size(writer);
	writer_free(writer);
	return code;
}

/* Keeps the tally, so that the counts are not lost if they cannot be read or written now. */
static void report_kept_tally(struct counted_run *run, struct error *error)
{
	struct error why = *error;
	run->result->incomplete = true;
	if (access(run->tally.path, F_OK) == 0)
		error_set(error, why.code, "%.300s (the counts are in %s, which 'cpprof report' reads)", why.message,
			  run->tally.path);
	else
		error_set(error, why.code, "%.300s; the tally %s was removed meanwhile", why.message, run->tally.path);
	instrumented_tally_release(&run->tally);
}

static void finish(struct counted_run *run, struct error *error)
{
	struct instrumented_result *result = run->result;
	instrumented_tally_end(&run->tally);
	int code = load(run, error);
	if (code == 0 && result->calls == 0 && result->blocks == 0) {
		explain_nothing(run);
		profile_free(result->profile);
		result->profile = NULL;
	} else if (code == 0) {
		code = write_profile(run, error);
	}
	if (code < 0)
		report_kept_tally(run, error);
	else if (result->profile && run->options->measurement == TALLY_TRACE)
		instrumented_tally_release(&run->tally);
	else
		instrumented_tally_remove(&run->tally);
}

int record_instrumented(const struct instrumented_options *options, struct instrumented_result *result,
			struct error *error)
{
	*result = (struct instrumented_result){ 0 };
	struct counted_run run = { .options = options,
				   .result = result,
				   .tally = { .place.folder = -1, .fd = -1 },
				   .signal_fd = -1,
				   .target = { .pid = -1, .pidfd = -1, .go_fd = -1, .fail_fd = -1 } };
	int status = prepare(&run, error);
	if (status == 0)
		status = start(&run, error);
	if (status == 0) {
		wait_for_target(&run);
		wait_for_others(&run);
		finish(&run, error);
	} else {
		instrumented_tally_remove(&run.tally);
	}
	target_release(&run.target);
	for (int i = 0; i < VARIABLES; i++)
		free(run.environment[i]);
	free(run.path);
	if (run.signal_fd >= 0)
		close(run.signal_fd);
	return status;
}
