#include "record/monitor.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "profile_file/writer.h"
#include "record/attach.h"
#include "record/backend.h"
#include "record/recorder.h"
#include "record/target.h"
#include "symbolize/symbolize.h"

enum {
	NS_PER_MS = 1000000,
	NS_PER_S = 1000000000,
	FLUSH_NS = 1000 * NS_PER_MS,
	/* A record gets its time before it is seen in the ring: by 10 us or so, more
	 * where a hypervisor takes the CPU away in between. */
	SETTLE_NS = NS_PER_MS,
	WAIT_NS = 100 * NS_PER_MS,
	/* While stacks do not fit into samples, the target's memory is needed before
	 * it changes; still more so where it was found to have changed. Each lasts
	 * until there was no such sample for HURRY_LASTS_NS. */
	HURRY_NS = NS_PER_MS,
	RUSH_NS = NS_PER_MS / 5,
	HURRY_SETTLE_NS = NS_PER_MS / 20,
	HURRY_LASTS_NS = 200 * NS_PER_MS,
	/* Rings whose owner has gone do not wake us. */
	UNWOKEN_NS = NS_PER_MS,
	RING_DESCRIPTORS_MAX = 1024,
};

struct monitor {
	const struct record_options *options;
	struct record_result *result;
	const struct backend_vtable *vtable;
	struct backend *backend;
	struct backend_request request;
	struct resource_request requests[RESOURCE_REQUESTS_MAX];
	struct recorder recorder;
	struct backend_sink sink;
	struct writer *writer;
	struct target target;
	char *path; /* of the command's file */
	int signal_fd;
	sigset_t old_signals; /* what the target gets back */
	struct rlimit old_files;
	struct pollfd *descriptors;
	size_t descriptor_count;
	bool ring_owner_gone;
	bool done;
	struct error write_error;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

/* --- before anything runs --- */

/* Which resources, by which backend: what cannot be measured is refused. */
static int plan(struct monitor *monitor, struct error *error)
{
	const struct record_options *options = monitor->options;
	monitor->vtable = &backend_perf;
	monitor->request.resources = monitor->requests;
	monitor->request.resource_count = options->resource_count;
	memcpy(monitor->requests, options->resources, sizeof(monitor->requests));
	if (options->resource_count == 0) {
		int result = resource_parse("cpu", &monitor->requests[0], error);
		bool user_only = false;
		if (result == 0)
			result = monitor->vtable->probe(&monitor->requests[0], &user_only, error);
		/* The default is what may be had: user time where the kernel is not to be seen. */
		if (result == 0 && user_only)
			result = resource_parse("user", &monitor->requests[0], error);
		if (result < 0)
			return result;
		if (options->time_interval)
			monitor->requests[0].interval = options->time_interval;
		monitor->request.resource_count = 1;
	}
	for (size_t i = 0; i < monitor->request.resource_count; i++) {
		bool user_only = false;
		const struct resource_row *row = monitor->requests[i].row;
		int result = monitor->vtable->probe(&monitor->requests[i], &user_only, error);
		if (result < 0)
			return result;
		/* Asked for by name, CPU time is not quietly replaced by user time. */
		if (user_only && row->is_time && row->modes == RESOURCE_ALL_MODES)
			return error_set(error, ERROR_PERMISSION,
					 "%s includes time in the kernel, which kernel.perf_event_paranoid = 2 does "
					 "not permit to see: record -r user, "
					 "or 'sudo sysctl kernel.perf_event_paranoid=1'",
					 row->name);
		monitor->request.user_mode_only |= user_only;
	}
	monitor->result->user_mode_only =
		monitor->request.user_mode_only ||
		(options->resource_count == 0 && monitor->requests[0].row->modes == RESOURCE_USER_MODE);
	return 0;
}

static int describe(struct monitor *monitor)
{
	struct profile *profile = monitor->recorder.profile;
	struct utsname host;
	char text[512] = "";
	int64_t result = recorder_add_resources(&monitor->recorder, &monitor->request, monitor->vtable->name);
	if (result >= 0)
		result = profile_add_note(profile, "command", monitor->options->command_line);
	if (result >= 0 && uname(&host) == 0) {
		result = profile_add_note(profile, "host", host.nodename);
		snprintf(text, sizeof(text), "%s %s %s", host.sysname, host.release, host.machine);
		if (result >= 0)
			result = profile_add_note(profile, "kernel", text);
	}
	snprintf(text, sizeof(text), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	if (result >= 0)
		result = profile_add_note(profile, "cpus", text);
	if (result >= 0 && getcwd(text, sizeof(text)))
		result = profile_add_note(profile, "directory", text);
	if (result >= 0)
		result = profile_add_note(profile, "cpprof", CPPROF_VERSION);
	return result < 0 ? (int)result : 0;
}

/* ^C is the target's: it gets it from the terminal, as it would without us. We
 * take signals from a descriptor, and pass on only what was sent to us alone. */
static int take_signals(struct monitor *monitor, struct error *error)
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGPIPE);
	sigaddset(&signals, SIGXFSZ); /* a file limit of ours is an error of write, not our end */
	sigprocmask(SIG_BLOCK, &signals, &monitor->old_signals);
	sigdelset(&signals, SIGPIPE);
	sigdelset(&signals, SIGXFSZ);
	monitor->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return monitor->signal_fd < 0 ? error_set_errno(error, "cannot receive signals") : 0;
}

static void raise_file_limit(struct monitor *monitor)
{
	getrlimit(RLIMIT_NOFILE, &monitor->old_files);
	struct rlimit all = { .rlim_cur = monitor->old_files.rlim_max, .rlim_max = monitor->old_files.rlim_max };
	setrlimit(RLIMIT_NOFILE, &all);
}

static void warn_if_hidden(const struct monitor *monitor)
{
	const char *why = target_hidden(monitor->path);
	char sentence[512];
	snprintf(sentence, sizeof(sentence), "'%s' will not be seen: %s", monitor->options->command[0], why ? why : "");
	if (why && monitor->options->warn)
		monitor->options->warn(monitor->options->context, sentence);
}

static int prepare(struct monitor *monitor, struct error *error)
{
	const struct record_options *options = monitor->options;
	int result = plan(monitor, error);
	if (result < 0)
		return result;
	if (options->pid == 0) {
		monitor->path = target_find(options->command[0], error);
		if (!monitor->path)
			return error->code;
		warn_if_hidden(monitor);
	}
	monitor->writer = writer_open(options->output, error);
	if (!monitor->writer)
		return error->code;
	result = recorder_init(&monitor->recorder, error);
	if (result < 0)
		return result;
	monitor->sink = recorder_sink(&monitor->recorder);
	if (describe(monitor) < 0)
		return error_set(error, ERROR_MEMORY, "out of memory");
	raise_file_limit(monitor);
	result = take_signals(monitor, error);
	if (result < 0)
		return result;
	monitor->backend = monitor->vtable->open(&monitor->request, error);
	return monitor->backend ? 0 : error->code;
}

/* --- starting --- */

static void stamp_start(struct monitor *monitor)
{
	struct profile *profile = monitor->recorder.profile;
	profile->start_ns = now_ns(CLOCK_MONOTONIC);
	profile->start_unix_ns = (int64_t)now_ns(CLOCK_REALTIME);
}

static int start_command(struct monitor *monitor, struct error *error)
{
	int result = target_fork(&monitor->target, monitor->path, monitor->options->command, &monitor->old_signals,
				 &monitor->old_files, error);
	if (result < 0)
		return result;
	result = monitor->vtable->attach(monitor->backend, monitor->target.pid, true, error);
	stamp_start(monitor);
	if (result == 0) /* the child cannot be gone: it waits for us */
		result = error_set(error, ERROR_SYSTEM, "the process of '%s' ended before it began", monitor->path);
	if (result > 0)
		result = target_go(&monitor->target, monitor->path, error);
	if (result == 0)
		writer_publish(monitor->writer, &monitor->write_error);
	return result;
}

static int start_attached(struct monitor *monitor, struct error *error)
{
	monitor->target = (struct target){ .pid = -1, .pidfd = -1, .go_fd = -1, .fail_fd = -1 };
	monitor->target.pidfd = (int)syscall(SYS_pidfd_open, monitor->options->pid, 0);
	if (monitor->target.pidfd < 0)
		return errno == ESRCH
			       ? error_set(error, ERROR_NOT_FOUND, "there is no process %d", (int)monitor->options->pid)
		       : errno == EINVAL
			       ? error_set(error, ERROR_USAGE, "%d is a thread, not a process: give its process's PID",
					   (int)monitor->options->pid)
			       : error_set_errno(error, "cannot watch process %d", (int)monitor->options->pid);
	int result = attach_process(monitor->vtable, monitor->backend, monitor->options->pid, &monitor->sink, error);
	stamp_start(monitor);
	if (result == 0)
		result = monitor->vtable->start(monitor->backend, error);
	if (result == 0)
		writer_publish(monitor->writer, &monitor->write_error);
	return result;
}

/* --- recording --- */

static void flush(struct monitor *monitor)
{
	struct profile *profile = monitor->recorder.profile;
	profile->end_ns = now_ns(CLOCK_MONOTONIC);
	stacks_publish(monitor->recorder.stacks);
	if (monitor->write_error.code == 0 && writer_flush(monitor->writer, profile, &monitor->write_error) < 0 &&
	    monitor->options->warn) {
		char sentence[640];
		snprintf(sentence, sizeof(sentence), "%s; the target goes on, the recording ends here",
			 monitor->write_error.message);
		monitor->options->warn(monitor->options->context, sentence);
	}
	profile_clear_hits(profile);
}

static void take_signal(struct monitor *monitor)
{
	struct signalfd_siginfo info;
	while (read(monitor->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (monitor->options->pid > 0)
			monitor->done = true;        /* an attached process is left running */
		else if (info.ssi_code != SI_KERNEL) /* not the terminal's: it was sent to us */
			kill(monitor->target.pid, (int)info.ssi_signo);
	}
}

static int list_descriptors(struct monitor *monitor, struct error *error)
{
	size_t rings = monitor->vtable->descriptors(monitor->backend, NULL, 0);
	monitor->descriptors = calloc(rings + 2, sizeof(*monitor->descriptors));
	if (!monitor->descriptors)
		return error_set(error, ERROR_MEMORY, "out of memory");
	monitor->descriptors[0] = (struct pollfd){ .fd = monitor->signal_fd, .events = POLLIN };
	monitor->descriptors[1] = (struct pollfd){ .fd = monitor->target.pidfd, .events = POLLIN };
	monitor->descriptor_count = 2 + monitor->vtable->descriptors(monitor->backend, monitor->descriptors + 2, rings);
	return 0;
}

/* Waits for something to do, at most `wait_ns`. */
static void wait_for_work(struct monitor *monitor, uint64_t wait_ns)
{
	struct timespec wait = { .tv_sec = (time_t)(wait_ns / NS_PER_S), .tv_nsec = (long)(wait_ns % NS_PER_S) };
	if (ppoll(monitor->descriptors, monitor->descriptor_count, &wait, NULL) <= 0)
		return;
	if (monitor->descriptors[0].revents)
		take_signal(monitor);
	if (monitor->descriptors[1].revents)
		monitor->done = true;
	/* A ring whose own thread has gone always says so: no more use in asking. */
	for (size_t i = 2; i < monitor->descriptor_count; i++) {
		if (monitor->descriptors[i].revents & (POLLHUP | POLLERR)) {
			monitor->descriptors[i].fd = -1;
			monitor->ring_owner_gone = true;
		}
	}
}

/* Where it is permitted, we go first when there is something to do: it is
 * little, and what we read of the target's memory must not have changed yet. */
static void raise_priority(void)
{
	enum { MONITOR_NICE = -15 };
	setpriority(PRIO_PROCESS, 0, MONITOR_NICE);
}

static void record(struct monitor *monitor)
{
	raise_priority();
	uint64_t start = now_ns(CLOCK_MONOTONIC);
	uint64_t next_flush = start + FLUSH_NS;
	uint64_t end = monitor->options->duration_ns ? start + monitor->options->duration_ns : UINT64_MAX;
	uint64_t hurry_until = 0;
	uint64_t rush_until = 0;
	while (!monitor->done) {
		uint64_t now = now_ns(CLOCK_MONOTONIC);
		bool hurry = now < hurry_until;
		uint64_t wait = now < rush_until           ? RUSH_NS
				: hurry                    ? HURRY_NS
				: monitor->ring_owner_gone ? UNWOKEN_NS
							   : WAIT_NS;
		uint64_t until = next_flush < end ? next_flush : end;
		uint64_t left = until > now ? until - now : 0;
		wait_for_work(monitor, wait < left ? wait : left);
		now = now_ns(CLOCK_MONOTONIC);
		monitor->vtable->drain(monitor->backend, now - (hurry ? HURRY_SETTLE_NS : SETTLE_NS), &monitor->sink);
		struct stacks_cut cut = stacks_cut_recently(monitor->recorder.stacks);
		if (cut.stacks > 0)
			hurry_until = now + HURRY_LASTS_NS;
		if (cut.too_late > 0)
			rush_until = now + HURRY_LASTS_NS;
		if (now >= next_flush) {
			flush(monitor);
			next_flush = now + FLUSH_NS;
		}
		if (now >= end)
			monitor->done = true;
	}
}

/* --- the end --- */

static void take_counts(struct monitor *monitor)
{
	struct profile *profile = monitor->recorder.profile;
	uint64_t lost_in_all = 0;
	bool lost_known = true;
	for (size_t i = 0; i < monitor->request.resource_count; i++) {
		uint64_t lost;
		monitor->vtable->counts(monitor->backend, i, &profile->resources[i].total, &lost);
		lost_known &= lost != UINT64_MAX;
		profile->resources[i].lost = lost == UINT64_MAX ? 0 : lost;
		lost_in_all += profile->resources[i].lost;
	}
	/* Per event the kernel counts them all; a ring tells only of those after
	 * which it had room again. */
	if (lost_known && lost_in_all > profile->lost)
		profile->lost = lost_in_all;
}

/* Gticks that were used for all that is known: as the events counted, or as the
 * target's account says when it ends. That one also has what the events were kept
 * from seeing (set-user-ID programs). */
static double used(const struct monitor *monitor, size_t request)
{
	const struct resource_row *row = monitor->requests[request].row;
	double counted = (double)monitor->recorder.profile->resources[request].total;
	double accounted = 0;
	if (row->is_time && row->modes != RESOURCE_KERNEL_MODE)
		accounted += (double)monitor->target.user_ns;
	if (row->is_time && row->modes != RESOURCE_USER_MODE)
		accounted += (double)monitor->target.system_ns;
	return counted > accounted ? counted : accounted;
}

/* A thread's interval timers start with it, so what it uses before the first one
 * runs out is never sampled: many short threads add up. The kernel's count tells. */
static void find_unsampled(struct monitor *monitor)
{
	enum { TOLERATED_PERCENT = 10, STANDARD_ERRORS = 4 };
	for (size_t i = 0; i < monitor->request.resource_count; i++) {
		const struct profile_resource *resource = &monitor->recorder.profile->resources[i];
		double expected = used(monitor, i) / (double)resource->interval;
		double missing = expected - (double)monitor->recorder.hits[i] - (double)resource->lost;
		if (missing < expected * TOLERATED_PERCENT / 100 || missing < STANDARD_ERRORS * sqrt(expected))
			continue;
		if (missing / expected > monitor->result->unsampled) {
			monitor->result->unsampled = missing / expected;
			monitor->result->unsampled_name = monitor->requests[i].row->name;
		}
	}
}

static void note_troubles(struct monitor *monitor)
{
	char text[256];
	struct recorder *recorder = &monitor->recorder;
	if (recorder->throttled > 0) {
		snprintf(text, sizeof(text),
			 "the kernel paused sampling %" PRIu64
			 " times: raise kernel.perf_event_max_sample_rate, or the interval",
			 recorder->throttled);
		profile_add_note(recorder->profile, "warning", text);
	}
	if (monitor->result->unsampled > 0) {
		snprintf(text, sizeof(text),
			 "%.0f %% of %s was used where no sample was taken: by threads shorter than the interval (a "
			 "shorter one sees them), or by set-user-ID programs (root sees them)",
			 monitor->result->unsampled * 100, monitor->result->unsampled_name);
		profile_add_note(recorder->profile, "warning", text);
	}
	if (recorder->lost_events > 0) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " events (maps, forks, names) were lost: some samples may be named wrongly",
			 recorder->lost_events);
		profile_add_note(recorder->profile, "warning", text);
	}
	if (recorder->out_of_memory)
		profile_add_note(recorder->profile, "warning",
				 "memory ran out while recording: later samples were lost");
}

static void sum_up(struct monitor *monitor)
{
	const struct profile *profile = monitor->recorder.profile;
	struct record_result *result = monitor->result;
	result->samples = monitor->recorder.samples;
	result->lost = profile->lost;
	result->throttled = monitor->recorder.throttled;
	result->lost_events = monitor->recorder.lost_events;
	for (size_t i = 0; i < profile->cause_count; i++) {
		result->whole += profile->causes[i].whole ? profile->causes[i].count : 0;
		result->completed += profile->causes[i].completed ? profile->causes[i].count : 0;
	}
	result->file_bytes = writer_size(monitor->writer);
	result->still_running = monitor->options->pid > 0 ? 0 : processes_running(monitor->recorder.processes);
	result->status = monitor->target.status;
}

static int open_for_names(void *context, uint32_t module)
{
	const struct monitor *monitor = context;
	return modules_open_for_names(monitor->recorder.modules, module);
}

static void report_progress(void *context, size_t done, size_t total)
{
	const struct monitor *monitor = context;
	if (monitor->options->progress)
		monitor->options->progress(monitor->options->context, done, total);
}

/* Done here, while the files are those that ran, so that reading needs none. */
static void name_addresses(struct monitor *monitor)
{
	struct symbolize_options names = { .open_module = open_for_names,
					   .progress = report_progress,
					   .context = monitor };
	struct error error;
	if (symbolize_profile(monitor->recorder.profile, &names, &error) < 0 && monitor->options->warn)
		monitor->options->warn(monitor->options->context,
				       "memory ran out while naming addresses: 'cpprof report' will do it");
}

static void finish(struct monitor *monitor, struct error *error)
{
	struct profile *profile = monitor->recorder.profile;
	monitor->vtable->stop(monitor->backend);
	if (monitor->options->pid == 0)
		target_reap(&monitor->target);
	monitor->vtable->drain(monitor->backend, UINT64_MAX, &monitor->sink);
	profile->end_ns = now_ns(CLOCK_MONOTONIC);
	take_counts(monitor);
	find_unsampled(monitor);
	stacks_publish(monitor->recorder.stacks);
	note_troubles(monitor);
	/* The rings' memory goes before the symbolizer needs its own. */
	monitor->vtable->close(monitor->backend);
	monitor->backend = NULL;
	flush(monitor);
	if (monitor->write_error.code == 0)
		name_addresses(monitor);
	profile->ended = true;
	if (monitor->write_error.code == 0)
		writer_finish(monitor->writer, profile, &monitor->write_error);
	if (monitor->write_error.code != 0) {
		monitor->result->incomplete = true;
		*error = monitor->write_error;
	}
	sum_up(monitor);
}

int record_run(const struct record_options *options, struct record_result *result, struct error *error)
{
	*result = (struct record_result){ 0 };
	struct monitor monitor = { .options = options,
				   .result = result,
				   .signal_fd = -1,
				   .target = { .pid = -1, .pidfd = -1, .go_fd = -1, .fail_fd = -1 } };
	int status = prepare(&monitor, error);
	if (status == 0)
		status = options->pid > 0 ? start_attached(&monitor, error) : start_command(&monitor, error);
	if (status == 0)
		status = list_descriptors(&monitor, error);
	if (status == 0) {
		record(&monitor);
		finish(&monitor, error);
	}
	target_release(&monitor.target);
	if (monitor.vtable)
		monitor.vtable->close(monitor.backend);
	writer_free(monitor.writer);
	recorder_release(&monitor.recorder);
	free(monitor.descriptors);
	free(monitor.path);
	if (monitor.signal_fd >= 0)
		close(monitor.signal_fd);
	return status;
}
