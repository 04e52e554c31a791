/* The end of a run: totals, what was missed, names, and the sums that the user is told. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "collect/sample/clock.h"
#include "collect/sample/destination.h"
#include "collect/sample/run.h"
#include "frames/frames.h"

static bool has_windows(const struct run *run)
{
	return run->plan.vtable->has_windows && run->plan.vtable->has_windows(run->backend);
}

/* Gticks of the resource that the target's account has when it ends, of it and of
 * what it waited for; 0: it has none, no command was run, or not all of its time was to be measured. It also has what events
 * are kept from seeing: a thread's own end when it executes a set-user-ID program. */
static uint64_t accounted(const struct run *run, const struct resource_row *row)
{
	uint64_t sum = 0;
	if (!run->path || run->options->everything || !counter_is_cpu_time(row->counter) || has_windows(run))
		return 0;
	if (row->modes != RESOURCE_KERNEL_MODE)
		sum += run->target.user_ns;
	if (row->modes != RESOURCE_USER_MODE)
		sum += run->target.system_ns;
	return sum;
}

static void take_remark(struct run *run, size_t request)
{
	const struct backend_vtable *vtable = run->plan.vtable;
	struct profile *profile = run->recorder.profile;
	const char *remark = vtable->remark ? vtable->remark(run->backend, request) : NULL;
	int64_t text = remark ? profile_add_string(profile, remark) : -1;
	if (text >= 0)
		profile->resources[request].note = (uint32_t)text;
}

static void take_counts(struct run *run)
{
	struct profile *profile = run->recorder.profile;
	uint64_t lost_in_all = 0;
	bool lost_known = true;
	for (size_t i = 0; i < run->plan.request.resource_count; i++) {
		const struct resource_row *row = run->plan.resources[i].row;
		uint64_t lost, *total = &profile->resources[i].total;
		run->plan.vtable->counts(run->backend, i, total, &lost);
		take_remark(run, i);
		/* The account knows user and system time only as shares of ticks. */
		if (row->modes == RESOURCE_ALL_MODES && accounted(run, row) > *total)
			*total = accounted(run, row);
		lost_known &= lost != UINT64_MAX;
		profile->resources[i].lost = lost == UINT64_MAX ? 0 : lost;
		lost_in_all += profile->resources[i].lost;
	}
	/* Per event the kernel counts them all; a ring tells only of those after
	 * which it had room again. */
	if (lost_known && lost_in_all > profile->lost)
		profile->lost = lost_in_all;
}

/* Gticks that were used for all that is known: as counted, or as accounted. 0: not known. */
static double used(const struct run *run, size_t request)
{
	uint64_t counted = run->recorder.profile->resources[request].total;
	uint64_t account = accounted(run, run->plan.resources[request].row);
	return (double)(counted > account ? counted : account);
}

/* Where a thread's interval timer starts with it, what it uses before the first
 * one runs out is never sampled: many short threads add up. The count tells. The
 * eBPF programs, and who records the whole machine, have timers that outlive the threads:
 * none is too short for those. */
static double unsampled_share(const struct run *run, size_t request)
{
	enum { TOLERATED_PERCENT = 10, STANDARD_ERRORS = 4 };
	const struct profile_resource *resource = &run->recorder.profile->resources[request];
	double expected = used(run, request) / (double)resource->interval;
	double missing = expected - (double)run->recorder.hits[request] - (double)resource->lost;
	if (expected <= 0)
		return 0;
	bool is_chance = missing < expected * TOLERATED_PERCENT / 100 || missing < STANDARD_ERRORS * sqrt(expected);
	return is_chance ? 0 : missing / expected;
}

static const char *unconnected_of(const struct run *run)
{
	const struct backend_vtable *vtable = run->plan.vtable;
	return vtable->unconnected ? vtable->unconnected(run->backend) : NULL;
}

/* The first of all warnings: it tells why there may be no sample. */
static void note_unconnected(struct run *run)
{
	const char *unconnected = unconnected_of(run);
	if (unconnected)
		profile_add_note(run->recorder.profile, "warning", unconnected);
}

/* Where no sample was taken, in few words. */
static const char *unsampled_in(const struct run *run)
{
	const struct backend_vtable *vtable = run->plan.vtable;
	const char *unconnected = unconnected_of(run);
	return unconnected             ? unconnected
	       : vtable->only_commands ? "short threads, or programs while they start"
				       : "short threads, or set-user-ID programs";
}

static void find_unsampled(struct run *run)
{
	if (run->options->everything || (run->plan.vtable->load_code && !run->plan.vtable->only_commands))
		return;
	for (size_t i = 0; i < run->plan.request.resource_count; i++) {
		const char *name = run->plan.resources[i].name;
		double share = unsampled_share(run, i);
		char text[sizeof(run->plan.resources[i].name) + 192];
		if (share == 0)
			continue;
		snprintf(text, sizeof(text),
			 "%.0f %% of %s fell where no sample was taken: in threads that ended before their first "
			 "interval (a shorter one sees them), or in %s (the bpf backend sees them)",
			 share * 100, name,
			 run->plan.vtable->only_commands ? "programs while they start, or that it is not loaded into"
							 : "set-user-ID programs");
		profile_add_note(run->recorder.profile, "warning", text);
		if (share > run->result->unsampled) {
			run->result->unsampled = share;
			run->result->unsampled_name = run->plan.resources[i].row->name;
			snprintf(run->result->unsampled_in, sizeof(run->result->unsampled_in), "%s", unsampled_in(run));
		}
	}
}

/* CPU time of all that is known to have been recorded, in ns: what the command, and what it waited
 * for, has used by its account; or more, if that was counted. */
static double cpu_time(const struct run *run)
{
	const struct profile *profile = run->recorder.profile;
	uint64_t most = run->target.user_ns + run->target.system_ns;
	/* What others used is not known: at most, all processors all the time. */
	if (!run->path || run->options->everything)
		return (double)(profile->end_ns - profile->start_ns) * (double)sysconf(_SC_NPROCESSORS_ONLN);
	for (size_t i = 0; i < run->plan.request.resource_count; i++)
		if (counter_is_cpu_time(run->plan.resources[i].counter) && profile->resources[i].total > most)
			most = profile->resources[i].total;
	return (double)most;
}

/* Each sample takes some microseconds of the thread that it is taken in. */
static void find_crowded(struct run *run)
{
	enum { MOST_PER_SECOND = 20000, SAMPLES_MIN = 1000, NS_PER_S = 1000000000 };
	/* Of less, nobody sees that it was slower; and what a daemon used that nobody waited for, and
	 * that was not counted, is not known. */
	static const double ns_min = 0.05 * NS_PER_S;
	double ns = cpu_time(run);
	double per_second = ns >= ns_min ? (double)run->recorder.samples * NS_PER_S / ns : 0;
	if (run->recorder.samples >= SAMPLES_MIN && per_second > MOST_PER_SECOND)
		run->result->crowded = (uint64_t)per_second;
}

static void add_note(void *context, const char *key, const char *text)
{
	profile_add_note(context, key, text);
}

static void note_troubles(struct run *run)
{
	char text[256];
	struct recorder *recorder = &run->recorder;
	if (recorder->throttled > 0) {
		snprintf(text, sizeof(text),
			 "the kernel paused sampling %" PRIu64
			 " times: raise kernel.perf_event_max_sample_rate, or the interval",
			 recorder->throttled);
		profile_add_note(recorder->profile, "warning", text);
	}
	if (run->result->crowded > 0) {
		snprintf(text, sizeof(text),
			 "about %" PRIu64 " samples a second of CPU time: sampling slows the program; longer intervals "
			 "(-r RES/INTERVAL) cost less",
			 run->result->crowded);
		profile_add_note(recorder->profile, "warning", text);
	}
	if (recorder->lost_events > 0) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " events (maps, forks, names) were lost: some samples may be named wrongly",
			 recorder->lost_events);
		profile_add_note(recorder->profile, "warning", text);
	}
	if (recorder->labels.unknown > 0) {
		snprintf(text, sizeof(text), "%" PRIu64 " samples have lost their labels: the telling of them was lost",
			 recorder->labels.unknown);
		profile_add_note(recorder->profile, "warning", text);
	}
	if (recorder->codes_not_loaded > 0) {
		snprintf(text, sizeof(text),
			 "%" PRIu64
			 " times the code of a process could not be loaded into the kernel: stacks in it were "
			 "handed over, and more samples may be lost (of fewer processes there is room)",
			 recorder->codes_not_loaded);
		profile_add_note(recorder->profile, "warning", text);
	}
	if (recorder->out_of_memory)
		profile_add_note(recorder->profile, "warning",
				 "memory ran out while recording: later samples were lost");
}

/* What was not watched at all is worse than what was measured in part. */
static void find_shortcoming(struct run *run)
{
	const struct backend_vtable *vtable = run->plan.vtable;
	struct record_result *result = run->result;
	const char *unconnected = unconnected_of(run);
	if (unconnected && result->unsampled == 0)
		snprintf(result->shortcoming, sizeof(result->shortcoming), "%s", unconnected);
	else if (vtable->shortcoming)
		vtable->shortcoming(run->backend, result->shortcoming, sizeof(result->shortcoming));
}

static void sum_up(struct run *run)
{
	const struct profile *profile = run->recorder.profile;
	struct record_result *result = run->result;
	result->backend = run->plan.vtable->name;
	snprintf(result->passed_over, sizeof(result->passed_over), "%s", run->plan.passed_over);
	result->user_mode_only = run->plan.request.user_mode_only || run->plan.user_by_default;
	result->samples = run->recorder.samples;
	result->lost = profile->lost;
	result->throttled = run->recorder.throttled;
	result->lost_events = run->recorder.lost_events;
	for (size_t i = 0; i < profile->cause_count; i++) {
		result->whole += profile->causes[i].whole ? profile->causes[i].count : 0;
		result->completed += profile->causes[i].completed ? profile->causes[i].count : 0;
	}
	/* Of the whole machine, most that runs was there before and stays. */
	bool is_ours = run->path && !run->options->everything;
	result->still_running = is_ours ? processes_running(run->recorder.processes) : 0;
	result->status = run->target.status;
}

static void report_progress(void *context, size_t done, size_t total)
{
	const struct run *run = context;
	if (run->options->progress)
		run->options->progress(run->options->context, done, total);
}

/* Done here, while the files are those that ran, so that reading needs none. */
static void name_addresses(struct run *run)
{
	struct frames_options names = { .open_module = run_open_module, .progress = report_progress, .context = run };
	struct error error;
	if (frames_name_profile(run->recorder.profile, &names, &error) < 0 && run->options->warn)
		run->options->warn(run->options->context,
				   "memory ran out while naming addresses: 'cpprof report' will do it");
}

void run_finish(struct run *run, struct error *error)
{
	const struct destination *destination = run->options->destination;
	const struct backend_vtable *vtable = run->plan.vtable;
	struct profile *profile = run->recorder.profile;
	vtable->stop(run->backend);
	if (run->path)
		target_reap(&run->target);
	vtable->drain(run->backend, UINT64_MAX, &run->sink);
	profile->end_ns = clock_now_ns(CLOCK_MONOTONIC);
	take_counts(run);
	note_unconnected(run);
	find_unsampled(run);
	find_crowded(run);
	stacks_publish(run->recorder.stacks);
	note_troubles(run);
	if (run->plan.vtable->notes)
		run->plan.vtable->notes(run->backend, add_note, profile);
	find_shortcoming(run);
	/* The rings' memory goes before the naming of addresses needs its own. */
	recorder_set_code_loader(&run->recorder, NULL, NULL);
	vtable->close(run->backend);
	run->backend = NULL;
	run_flush(run);
	if (run->write_error.code == 0 && !destination->names_itself)
		name_addresses(run);
	profile->ended = true;
	if (run->write_error.code == 0)
		destination->finish(destination->context, profile, &run->write_error);
	if (run->write_error.code != 0) {
		run->result->incomplete = true;
		*error = run->write_error;
	}
	sum_up(run);
}
