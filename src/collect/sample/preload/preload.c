/*
 * The preload backend: a library inside the target, the agent, counts and samples (collect/agent/), and
 * writes into memory that it shares with the monitor. It needs no privileges.
 *
 *   (1) The target finds the library and the memory through its environment. So do all programs
 *       that it starts, each process separately.
 *   (2) When the agent announces that code has changed, the monitor reads it from /proc and loads
 *       it into the shared memory, where the agent's walks look it up. The target waits for that.
 *   (3) Everything that a target has written is readable, however the target ended.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/sample/backend.h"
#include "collect/sample/clock.h"
#include "collect/sample/preload/access.h"
#include "collect/sample/preload/channel.h"
#include "collect/sample/preload/code.h"
#include "collect/sample/preload/events.h"
#include "collect/sample/preload/requests.h"
#include "collect/sample/preload/slots.h"
#include "profile/findings.h"

enum { PRELOAD_VARIABLE, CHANNEL_PATH_VARIABLE, VARIABLES };
enum { SHARE_BYTES = 64 };

struct backend {
	struct backend_request request;
	struct resource_request resources[RESOURCE_REQUESTS_MAX];
	struct preload_channel *channel;
	struct preload_slots *slots;
	struct preload_events *events;
	struct code_loader *code;
	char *environment[VARIABLES + 1]; /* owned */
	struct preload_sums sums;         /* as of the last drain */
};

static bool preload_serves(const struct resource_row *row)
{
	return preload_can_count(row->counter);
}

static int preload_probe(const struct resource_request *request, bool *user_mode_only, struct error *error)
{
	char library[PATH_MAX];
	*user_mode_only = false;
	int result = preload_access_resource(request, error);
	return result < 0 ? result : preload_access_library(library, sizeof(library), error);
}

/* --- open and close --- */

static void preload_close(struct backend *backend)
{
	if (!backend)
		return;
	code_loader_free(backend->code);
	preload_events_free(backend->events);
	preload_slots_free(backend->slots);
	preload_channel_free(backend->channel);
	for (int i = 0; i < VARIABLES; i++)
		free(backend->environment[i]);
	free(backend);
}

/* Our library is put before those that the user preloads: of several definitions, the linker uses the
 * first. */
static int make_environment(struct backend *backend, struct error *error)
{
	char library[PATH_MAX];
	const char *others = getenv("LD_PRELOAD");
	int result = preload_access_library(library, sizeof(library), error);
	if (result < 0)
		return result;
	bool has_others = others && *others;
	if (asprintf(&backend->environment[PRELOAD_VARIABLE], "LD_PRELOAD=%s%s%s", library, has_others ? ":" : "",
		     has_others ? others : "") < 0)
		backend->environment[PRELOAD_VARIABLE] = NULL;
	else if (asprintf(&backend->environment[CHANNEL_PATH_VARIABLE], CHANNEL_VARIABLE "=/proc/%d/fd/%d:%" PRIu64,
			  (int)getpid(), preload_channel_file(backend->channel),
			  preload_channel_inode(backend->channel)) < 0)
		backend->environment[CHANNEL_PATH_VARIABLE] = NULL;
	bool made = backend->environment[PRELOAD_VARIABLE] && backend->environment[CHANNEL_PATH_VARIABLE];
	return made ? 0 : error_memory(error);
}

/* Returns the slot of the process whose record is being reported, if it has that pid, otherwise of the
 * connected process with that pid, or NULL. */
static struct channel_process *find_process(void *context, uint32_t pid)
{
	struct backend *backend = context;
	struct preload_process *process = backend->events->current;
	if (!process || process->pid != pid)
		process = preload_slots_find(backend->slots, pid);
	return process ? preload_slots_shared(backend->slots, process) : NULL;
}

/* Returns whether other backends cannot measure all of the request, whatever is permitted. */
static bool is_from_inside(const struct backend_request *request)
{
	bool inside = request->paused;
	for (size_t i = 0; i < request->resource_count; i++)
		inside |= counter_is_inside(request->resources[i].counter);
	return inside;
}

static int open_all(struct backend *backend, struct error *error)
{
	if (backend->request.command &&
	    preload_access_command(backend->request.command, is_from_inside(&backend->request), error) < 0)
		return error->code;
	backend->channel = preload_channel_new(&backend->request, error);
	if (!backend->channel || make_environment(backend, error) < 0)
		return error->code;
	struct channel *memory = preload_channel_memory(backend->channel);
	backend->slots = preload_slots_new(memory, error);
	if (!backend->slots)
		return error->code;
	for (uint32_t i = 0; i < memory->request_count; i++)
		backend->slots->keeps_accounts |= preload_unobserved_concerns(memory->requests[i].counter);
	snprintf(backend->slots->starts.channel_path, sizeof(backend->slots->starts.channel_path), "%s",
		 strchr(backend->environment[CHANNEL_PATH_VARIABLE], '=') + 1);
	backend->events = preload_events_new(backend->slots, &backend->request);
	if (!backend->events)
		return error_memory(error);
	backend->code = preload_code_loader_new(memory, find_process, backend, error);
	return backend->code ? 0 : error->code;
}

static struct backend *preload_open(const struct backend_request *request, struct error *error)
{
	struct backend *backend = calloc(1, sizeof(*backend));
	if (!backend) {
		error_memory(error);
		return NULL;
	}
	backend->request = *request;
	memcpy(backend->resources, request->resources, request->resource_count * sizeof(backend->resources[0]));
	backend->request.resources = backend->resources;
	if (open_all(backend, error) < 0) {
		preload_close(backend);
		return NULL;
	}
	return backend;
}

static char *const *preload_environment(const struct backend *backend)
{
	return backend->environment;
}

/* The target connects, so there is nothing to attach to. */
static int preload_attach(struct backend *backend, pid_t pid, pid_t tid, bool on_exec, struct error *error)
{
	(void)backend, (void)pid, (void)tid;
	if (on_exec)
		return 1;
	return error_set(error, ERROR_UNSUPPORTED,
			 "the preload backend records only commands that it starts, no running process");
}

static int preload_start(struct backend *backend, struct error *error)
{
	(void)backend, (void)error;
	return 0;
}

static int preload_load(struct backend *backend, uint32_t pid, const struct backend_code *code, size_t count)
{
	return code_loader_load(backend->code, pid, code, count);
}

/* --- drain --- */

static size_t preload_descriptors(const struct backend *backend, struct pollfd *descriptors, size_t limit)
{
	const int all[] = { preload_channel_bell(backend->channel), backend->slots->deaths };
	const size_t count = sizeof(all) / sizeof(all[0]);
	for (size_t i = 0; i < count && i < limit; i++)
		descriptors[i] = (struct pollfd){ .fd = all[i], .events = POLLIN };
	return count;
}

/* No record needs time to settle: each ring is in order, and records of several threads are ordered by the
 * times at which they were written. A later record rings the bell. */
static bool preload_drain(struct backend *backend, uint64_t until_ns, const struct backend_sink *sink)
{
	static const uint64_t experiment_lasts_ns = 1000000000;
	bool all = until_ns == UINT64_MAX;
	struct channel_experiment *experiment = &preload_channel_memory(backend->channel)->experiment;
	__atomic_store_n(&experiment->until_ns, clock_now_ns(CLOCK_MONOTONIC) + experiment_lasts_ns, __ATOMIC_RELAXED);
	uint64_t lost_events = backend->sums.lost_events;
	preload_channel_clear_bell(backend->channel);
	preload_events_drain(backend->events, all, sink);
	if (all) {
		backend->sums = preload_slots_sums(backend->slots, clock_now_ns(CLOCK_MONOTONIC));
		if (backend->sums.lost_events > lost_events)
			sink->lost_events(sink->context, backend->sums.lost_events - lost_events);
	}
	return false;
}

static bool preload_wants_flush(const struct backend *backend)
{
	return backend->events->wants_flush;
}

static void preload_flushed(struct backend *backend)
{
	preload_events_flushed(backend->events);
}

/* --- experiments --- */

/* In this order, because threads of the target read at any time: see struct channel_experiment. */
static bool preload_experiment(struct backend *backend, const struct backend_experiment *experiment)
{
	struct channel_experiment *shared = &preload_channel_memory(backend->channel)->experiment;
	const struct preload_process *process = experiment ? preload_slots_find(backend->slots, experiment->pid) : NULL;
	uint64_t delays = __atomic_load_n(&shared->delays, __ATOMIC_ACQUIRE);
	__atomic_store_n(&shared->frames, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shared->delays, ((delays >> CHANNEL_DELAY_BITS) + 1) << CHANNEL_DELAY_BITS, __ATOMIC_SEQ_CST);
	if (!process)
		return false;
	shared->percent = experiment->percent;
	shared->program = preload_slots_shared(backend->slots, process)->program;
	for (size_t i = 0; i < experiment->frames; i++)
		shared->path[i] =
			(struct channel_range){ .start = experiment->path[i].start, .end = experiment->path[i].end };
	__atomic_store_n(&shared->frames, (uint32_t)experiment->frames, __ATOMIC_RELEASE);
	return true;
}

static struct backend_progress preload_progress(const struct backend *backend, size_t request)
{
	const struct channel *memory = preload_channel_memory(backend->channel);
	const struct preload_sums sums = preload_slots_sums(backend->slots, clock_now_ns(CLOCK_MONOTONIC));
	uint64_t delays = __atomic_load_n(&memory->experiment.delays, __ATOMIC_ACQUIRE);
	return (struct backend_progress){ .amount = preload_gticks_of(backend->resources[request].row,
								      sums.totals[request]),
					  .delay_ns = delays & CHANNEL_DELAY_MASK };
}

/* --- the end --- */

static void preload_stop(struct backend *backend)
{
	struct channel *memory = preload_channel_memory(backend->channel);
	preload_slots_close_accounts(backend->slots);
	__atomic_store_n(&memory->is_over, 1, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++) {
		if (__atomic_load_n(&memory->processes[i].state, __ATOMIC_RELAXED) == CHANNEL_FREE)
			continue;
		preload_channel_wake(&memory->processes[i].code_loaded);
		preload_channel_wake(&memory->processes[i].flush_done);
	}
}

static struct backend_counts preload_counts(const struct backend *backend, size_t request)
{
	const struct resource_row *row = backend->resources[request].row;
	return (struct backend_counts){ .total = preload_gticks_of(row, backend->sums.totals[request]),
					.lost = backend->sums.lost[request],
					.is_bound = backend->sums.bounded >> request & 1 };
}

/* --- findings --- */

/* Adds the program that was not recorded, with the reason if it is known. */
static void add_unconnected(const struct backend *backend, struct profile *profile)
{
	const struct preload_starts *starts = &backend->slots->starts;
	const struct preload_absence *absence = starts->absence.reason ? &starts->absence : &backend->sums.absence;
	const uint64_t programs = backend->sums.not_connected;
	if (programs == 0 && backend->slots->had_any)
		return;
	if (absence->reason)
		finding_add(profile, FINDING_PROGRAMS_NOT_RECORDED, programs, "'%s' was not recorded: %s",
			    absence->name, absence->reason);
	else
		finding_add(profile, FINDING_PROGRAMS_NOT_RECORDED, programs, "'%s' did not load the library",
			    starts->last);
	if (!backend->slots->had_any)
		finding_add(profile, FINDING_LIBRARY_NEVER_LOADED, 0,
			    "the program never loaded the preload backend's library");
}

/* Adds the share of the transfers that the agent did not observe, once for requests that count the same. */
static void add_unobserved(const struct backend *backend, struct profile *profile)
{
	char share[SHARE_BYTES];
	for (size_t i = 0; i < backend->request.resource_count; i++)
		if (preload_unobserved_text(&backend->sums.unobserved,
					    preload_request_of(&backend->resources[i]).counter, share, sizeof(share)))
			finding_add(profile, FINDING_TRANSFERS_UNOBSERVED, 0,
				    "%s were not observed: C library's streams, or direct system calls", share);
}

static void add_no_room(const struct backend *backend, struct profile *profile)
{
	const uint64_t processes = preload_channel_memory(backend->channel)->processes_refused;
	const uint64_t threads = backend->sums.unwatched;
	if (processes > 0)
		finding_add(profile, FINDING_PROCESSES_NOT_RECORDED, processes,
			    "{# process was|# processes were} not recorded: limit %d at a time", CHANNEL_PROCESSES);
	if (threads > 0 && backend->sums.flags & CHANNEL_FINDING_MEMORY)
		finding_add(profile, FINDING_THREADS_NOT_RECORDED, threads,
			    "{# thread was|# threads were} not recorded: no memory for {its|their} samples (ulimit -v, "
			    "ulimit -l, seccomp)");
	else if (threads > 0)
		finding_add(profile, FINDING_THREADS_NOT_RECORDED, threads,
			    "{# thread was|# threads were} not recorded: limit %d at a time", CHANNEL_THREADS);
	if (backend->sums.untimed > 0)
		finding_add(profile, FINDING_THREADS_NOT_RECORDED, backend->sums.untimed,
			    "{# thread was|# threads were} not sampled: the kernel gave no timer (ulimit -i)");
}

/* Adds the ways in which the program itself impaired the measurement. */
static void add_interference(const struct backend *backend, struct profile *profile)
{
	static const struct {
		uint32_t flag;
		enum finding_code code;
		const char *text;
	} rows[] = {
		{ CHANNEL_FINDING_SIGNAL, FINDING_TIMER_SIGNAL_TAKEN,
		  "the program took the signal of the timers for itself, or the kernel did not give it" },
		{ CHANNEL_FINDING_FPE, FINDING_FP_SIGNAL_TAKEN, "the program handles SIGFPE or SIGTRAP by itself" },
		{ CHANNEL_FINDING_NEW, FINDING_OWN_OPERATOR_NEW, "the program has an operator new of its own" },
		{ CHANNEL_FINDING_MALLOC, FINDING_OWN_MALLOC, "the program has a malloc of its own" },
		{ CHANNEL_FINDING_APART, FINDING_CALLS_UNOBSERVED,
		  "calls of a library that was opened with RTLD_DEEPBIND or by dlmopen are missing" },
		{ CHANNEL_FINDING_SANDBOX, FINDING_SANDBOXED,
		  "the program forbids itself system calls (seccomp) that the measurement needs" },
		{ CHANNEL_FINDING_FREQUENT, FINDING_FP_FREQUENT,
		  "frequent floating point exceptions were not counted further: there are more than the totals" },
		{ CHANNEL_FINDING_WINDOWS, FINDING_PARTS_MEASURED,
		  "the program chose which parts of its time were measured" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (backend->sums.flags & rows[i].flag)
			finding_add(profile, rows[i].code, 0, "%s", rows[i].text);
}

static void preload_add_findings(const struct backend *backend, struct profile *profile)
{
	const struct preload_sums *sums = &backend->sums;
	const uint64_t ticks_per_s = preload_ticks_short_of(&backend->request);
	add_unconnected(backend, profile);
	add_no_room(backend, profile);
	add_unobserved(backend, profile);
	if (backend->slots->had_any)
		preload_declared_add_findings(&backend->events->declared, &backend->request, profile);
	if (sums->late_ticks > 0)
		finding_add(profile, FINDING_TICKS_LATE, sums->late_ticks,
			    "{# tick|# ticks} came late: the program's own alternate signal stack was too small");
	if (sums->stretch > 0)
		finding_add(profile, FINDING_WAITS_COARSE, sums->stretch,
			    "waiting threads had up to {# time|# times} fewer ticks: they were many");
	if (sums->broken_rings > 0)
		finding_add(profile, FINDING_SAMPLES_DAMAGED, sums->broken_rings,
			    "the program itself damaged the samples of {# thread|# threads}");
	add_interference(backend, profile);
	if (ticks_per_s > 0)
		finding_add(profile, FINDING_TIME_COARSE, ticks_per_s,
			    "at most {# sample|# samples} a second of time, with several hits each");
	finding_add(profile, FINDING_UNWIND_ROWS, code_loader_rows(backend->code),
		    "{# unwind row|# unwind rows} of 8 bytes and %" PRIu64 " bytes of index in the target",
		    code_loader_index_bytes(backend->code));
}

const struct backend_vtable backend_preload = {
	.name = "preload",
	.only_commands = true,
	.has_labels = true,
	.has_interpreters = true,
	.serves = preload_serves,
	.probe = preload_probe,
	.open = preload_open,
	.attach = preload_attach,
	.load_code = preload_load,
	.environment = preload_environment,
	.start = preload_start,
	.descriptors = preload_descriptors,
	.drain = preload_drain,
	.wants_flush = preload_wants_flush,
	.flushed = preload_flushed,
	.stop = preload_stop,
	.counts = preload_counts,
	.add_findings = preload_add_findings,
	.experiment = preload_experiment,
	.progress = preload_progress,
	.close = preload_close,
};
