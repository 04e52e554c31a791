#include "collect/sample/monitor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/parallel.h"
#include "collect/sample/attach.h"
#include "collect/sample/causal/director.h"
#include "collect/sample/clock.h"
#include "collect/sample/description.h"
#include "collect/sample/destination.h"
#include "collect/sample/kernel_symbols.h"
#include "collect/sample/label_use.h"
#include "collect/sample/namespaces.h"
#include "collect/sample/priority.h"
#include "collect/sample/run.h"
#include "collect/sample/stacks/command_code.h"
#include "collect/sample/state/proc.h"
#include "collect/sample/target_signals.h"

/* --- before anything runs --- */

static int describe(struct run *run)
{
	int result = sample_sink_add_resources(&run->sink, &run->plan.request, run->plan.vtable->name);
	return result < 0 ? result : description_add(run->sink.profile, run->options->command_line);
}

static void raise_file_limit(struct run *run)
{
	getrlimit(RLIMIT_NOFILE, &run->old_files);
	struct rlimit all = { .rlim_cur = run->old_files.rlim_max, .rlim_max = run->old_files.rlim_max };
	setrlimit(RLIMIT_NOFILE, &all);
}

static void warn_if_hidden(const struct run *run)
{
	/* A backend that is loaded into its commands refuses unsuitable commands itself, when it opens. */
	const char *why = run->plan.vtable->only_commands ? NULL : target_hidden(run->path);
	char sentence[512];
	snprintf(sentence, sizeof(sentence), "'%s' will not be recorded: %s", run->options->command[0], why ? why : "");
	if (why && run->options->warn)
		run->options->warn(run->options->context, sentence);
}

/* Warns before the target runs, while another backend can still be chosen. */
static void warn_if_labels_are_lost(struct run *run)
{
	const struct record_options *options = run->options;
	const struct process_list *list = options->processes;
	const char *backend = run->plan.vtable->name;
	char sentence[512];
	pid_t labels = 0;
	if (run->plan.vtable->has_labels || !options->warn)
		return;
	for (size_t i = 0; !labels && !process_list_is_empty(list) && i < list->count; i++)
		labels = label_use_of_process(list->items[i].pid) ? list->items[i].pid : 0;
	if (labels)
		snprintf(sentence, sizeof(sentence),
			 "process %d sets labels, which the %s backend does not record (the preload backend does, in "
			 "commands that cpprof starts)",
			 (int)labels, backend);
	else if (run->sets_labels)
		snprintf(sentence, sizeof(sentence),
			 "'%s' sets labels, which the %s backend does not record (--backend preload does)",
			 options->command[0], backend);
	else
		return;
	run->sets_labels = true;
	options->warn(options->context, sentence);
}

static int load_code(void *context, uint32_t pid, const struct backend_code *code, size_t count)
{
	const struct run *run = context;
	if (run->options->director)
		causal_director_code(run->options->director, pid, code, count);
	return run->plan.vtable->load_code(run->backend, pid, code, count);
}

/* Requests the kernel's stacks where their functions get names. */
static void choose_kernel_stacks(struct run *run)
{
	const struct backend_vtable *vtable = run->plan.vtable;
	bool are_wanted = vtable->has_kernel && !run->options->no_kernel && !run->plan.request.user_mode_only;
	bool have_names = are_wanted && (vtable->write_kernel_names || kernel_symbols_are_shown());
	run->plan.request.kernel_stacks = have_names;
	run->hides_kernel = are_wanted && !have_names;
	stacks_show_kernel(run->sink.stacks, run->hides_kernel);
}

/* Opens the chosen backend. Some obstacles appear only here, such as an eBPF program that the kernel does
 * not load; then the next backend that measures everything is opened. */
static int open_backend(struct run *run, struct error *error)
{
	do {
		choose_kernel_stacks(run);
		run->backend = run->plan.vtable->open(&run->plan.request, error);
	} while (!run->backend && plan_next(&run->plan, run->options, error));
	return run->backend ? 0 : error->code;
}

/* Reads the unwind rules of the command. */
static int open_code(struct run *run, struct error *error)
{
	(void)error;
	command_code_open(run->sink.modules, run->path);
	return 0;
}

struct opening {
	int (*open)(struct run *run, struct error *error);
	struct run *run;
	struct error *error;
	int result;
};

static void open_one(void *item)
{
	struct opening *opening = item;
	opening->result = opening->open(opening->run, opening->error);
}

/* The kernel verifies the programs of a backend for about as long as we read the unwind rules of
 * a command. Neither uses anything that the other changes, so both happen at the same time. */
static int open_backend_and_code(struct run *run, struct error *error)
{
	const struct record_options *options = run->options;
	struct opening openings[] = { { open_backend, run, error, 0 }, { open_code, run, error, 0 } };
	bool loads_code = run->path && run->plan.vtable->load_code && !options->everything;
	parallel_run(open_one, openings, loads_code ? 2 : 1, sizeof(openings[0]));
	if (openings[0].result < 0)
		return openings[0].result;
	if (options->director)
		causal_director_begins(options->director, run->sink.profile, run->plan.vtable, run->backend);
	if (run->plan.vtable->load_code)
		sample_sink_set_code_loader(&run->sink, load_code, run);
	return 0;
}

static int take_signals(struct run *run, struct error *error)
{
	if (!run->options->apart)
		return target_signals_take(&run->signal_fd, &run->old_signals, error);
	target_signals_leave(&run->old_signals);
	return 0;
}

/* Opens the destination. A signal would leave a new file behind, so signals are taken before that. */
static int open_destination(struct run *run, struct error *error)
{
	const struct destination *destination = run->options->destination;
	int result = destination->waits ? 0 : take_signals(run, error);
	if (result == 0 && destination->open)
		result = destination->open(destination->context, error);
	if (result == 0 && destination->waits)
		result = take_signals(run, error);
	return result;
}

static int prepare(struct run *run, struct error *error)
{
	const struct record_options *options = run->options;
	const struct destination *destination = options->destination;
	int result = namespaces_check(error);
	if (result == 0)
		result = plan_make(&run->plan, options, error);
	if (result < 0)
		return result;
	if (options->command) {
		run->path = target_find(options->command[0], error);
		if (!run->path)
			return error->code;
		run->sets_labels = label_use_of_command(run->path);
		if (run->sets_labels)
			plan_for_labels(&run->plan, options);
		run->plan.request.command = run->path;
		warn_if_hidden(run);
	}
	result = open_destination(run, error);
	if (result == 0)
		result = sample_sink_init(&run->sink, error);
	if (result < 0)
		return result;
	if (options->weight > 0)
		run->sink.weight = options->weight;
	if (destination->event)
		sample_sink_set_observer(&run->sink, destination->event, destination->context);
	if (options->everything)
		processes_merge_kernel_threads(run->sink.processes);
	if (options->has_low_rate)
		sample_sink_load_late(&run->sink);
	run->backend_sink = sample_sink_for_backend(&run->sink);
	raise_file_limit(run);
	result = open_backend_and_code(run, error);
	if (result == 0)
		warn_if_labels_are_lost(run);
	if (result == 0 && describe(run) < 0)
		return error_memory(error);
	return result;
}

/* --- starting --- */

static void stamp_start(struct run *run)
{
	struct profile *profile = run->sink.profile;
	profile->start_ns = clock_now_ns(CLOCK_MONOTONIC);
	profile->start_unix_ns = (int64_t)clock_now_ns(CLOCK_REALTIME);
}

/* The monitor's priority is raised before the command runs, but after the fork, so that the command does not inherit
 * it: a short command may be over before a monitor of ordinary priority sees it. */
static int fork_command(struct run *run, struct error *error)
{
	const struct backend_vtable *vtable = run->plan.vtable;
	char *const *environment = vtable->environment ? vtable->environment(run->backend) : NULL;
	const struct record_apart *apart = run->options->apart;
	const struct target_start how = { .environment = environment,
					  .user_environment = run->options->environment,
					  .signals = &run->old_signals,
					  .files = &run->old_files,
					  .streams = apart ? apart->command_streams : NULL };
	int result = target_fork(&run->target, run->path, run->options->command, &how, error);
	if (result == 0)
		processes_set_command(run->sink.processes, (uint32_t)run->target.pid,
				      process_user_read(run->target.pid));
	if (result >= 0)
		priority_raise();
	return result;
}

static int start_command(struct run *run, struct error *error)
{
	int result = fork_command(run, error);
	if (result < 0)
		return result;
	result = run->plan.vtable->attach(run->backend, run->target.pid, run->target.pid, true, error);
	stamp_start(run);
	if (result == 0) /* the child cannot have ended: it waits for us */
		result = error_set(error, ERROR_SYSTEM, "the process of '%s' ended before it began", run->path);
	return result > 0 ? target_exec(&run->target, run->path, error) : result;
}

/* The recording ends when the processes that the user gave have ended. */
static int observe_end(struct run *run, const struct listed_process *listed, struct error *error)
{
	int pidfd = (int)syscall(SYS_pidfd_open, listed->pid, 0);
	if (pidfd >= 0) {
		run->attached[run->attached_count++] = pidfd;
		return 0;
	}
	if (errno == ESRCH && listed->origin != PROCESS_BY_ID)
		return 0;
	if (errno == ESRCH)
		return error_set(error, ERROR_NOT_FOUND, "there is no process %d", (int)listed->pid);
	if (errno == EINVAL || errno == ENOENT) /* ENOENT: from Linux 6.16 on */
		return error_set(error, ERROR_USAGE,
				 "cannot record %d: it is a thread, not a process (give the PID of its process)",
				 (int)listed->pid);
	return error_set_errno(error, "cannot observe process %d", (int)listed->pid);
}

static int start_attached(struct run *run, struct error *error)
{
	const struct backend_vtable *vtable = run->plan.vtable;
	struct process_list *list = run->options->processes;
	run->attached = calloc(list->count, sizeof(*run->attached));
	if (!run->attached)
		return error_memory(error);
	int result = 0;
	for (size_t i = 0; i < list->count && result == 0; i++)
		result = observe_end(run, &list->items[i], error);
	if (result == 0)
		result = attach_processes(vtable, run->backend, list, !run->options->no_children,
					  run->plan.request.data_maps, &run->backend_sink, &run->refused, error);
	stamp_start(run);
	return result == 0 ? vtable->start(run->backend, error) : result;
}

/* Forks a command after attaching, so that the backend reports it like any other process. */
static int start_everything(struct run *run, struct error *error)
{
	const struct backend_vtable *vtable = run->plan.vtable;
	/* Events arrive from now on, while each process's maps are read. */
	if (!run->path)
		priority_raise();
	int result = attach_everything(vtable, run->backend, run->plan.request.data_maps, &run->backend_sink, error);
	if (result == 0 && run->path)
		result = fork_command(run, error);
	stamp_start(run);
	if (result == 0)
		result = vtable->start(run->backend, error);
	if (result == 0 && run->path)
		result = target_exec(&run->target, run->path, error);
	return result;
}

static int start(struct run *run, struct error *error)
{
	const struct destination *destination = run->options->destination;
	int result = run->options->everything                          ? start_everything(run, error)
		     : !process_list_is_empty(run->options->processes) ? start_attached(run, error)
								       : start_command(run, error);
	if (result == 0 && destination->publish)
		destination->publish(destination->context, &run->write_error);
	return result;
}

int monitor_run(const struct record_options *options, struct record_result *result, struct error *error)
{
	const struct destination *destination = options->destination;
	*result = (struct record_result){ 0 };
	struct run run = { .options = options,
			   .result = result,
			   .signal_fd = -1,
			   .kernel_symbols = -1,
			   .target = { .pid = -1, .pidfd = -1, .go_fd = -1, .fail_fd = -1 } };
	int status = prepare(&run, error);
	if (status == 0)
		status = start(&run, error);
	if (status == 0)
		status = run_drain(&run, error);
	if (status == 0)
		run_finish(&run, error);
	target_release(&run.target);
	/* Close the backend first: it uses unwind tables that the modules of the sink own. */
	if (run.plan.vtable)
		run.plan.vtable->close(run.backend);
	if (destination->close)
		destination->close(destination->context);
	if (status == 0) {
		result->profile = run.sink.profile;
		run.sink.profile = NULL;
	}
	sample_sink_release(&run.sink);
	leaf_hits_release(&run.leaf_hits);
	for (size_t i = 0; i < run.attached_count; i++)
		close(run.attached[i]);
	free(run.attached);
	free(run.descriptors);
	free(run.path);
	if (run.signal_fd >= 0)
		close(run.signal_fd);
	if (run.kernel_symbols >= 0)
		close(run.kernel_symbols);
	return status;
}
