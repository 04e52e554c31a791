/* The end of a run: totals, what was missed, names, and the sums that the user is told. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "record/destination.h"
#include "record/run.h"
#include "symbolize/symbolize.h"

static void take_counts(struct run *run)
{
	struct profile *profile = run->recorder.profile;
	uint64_t lost_in_all = 0;
	bool lost_known = true;
	for (size_t i = 0; i < run->plan.request.resource_count; i++) {
		uint64_t lost;
		run->plan.vtable->counts(run->backend, i, &profile->resources[i].total, &lost);
		lost_known &= lost != UINT64_MAX;
		profile->resources[i].lost = lost == UINT64_MAX ? 0 : lost;
		lost_in_all += profile->resources[i].lost;
	}
	/* Per event the kernel counts them all; a ring tells only of those after
	 * which it had room again. */
	if (lost_known && lost_in_all > profile->lost)
		profile->lost = lost_in_all;
}

/* CPU time, of which each thread's clock runs on its own. */
static bool is_cpu_time(const struct resource_row *row)
{
	return row->hook == HOOK_CLOCK && row->measure == MEASURE_EVENTS && row->gtick_ns == 1;
}

/* Gticks that were used for all that is known: as the events counted, or as the
 * target's account says when it ends. That one also has what the events were kept
 * from seeing (set-user-ID programs). */
static double used(const struct run *run, size_t request)
{
	const struct resource_row *row = run->plan.resources[request].row;
	double counted = (double)run->recorder.profile->resources[request].total;
	double accounted = 0;
	if (row->modes != RESOURCE_KERNEL_MODE)
		accounted += (double)run->target.user_ns;
	if (row->modes != RESOURCE_USER_MODE)
		accounted += (double)run->target.system_ns;
	return counted > accounted ? counted : accounted;
}

/* Where a thread's interval timer starts with it, what it uses before the first
 * one runs out is never sampled: many short threads add up. The count tells. A
 * backend that walks stacks itself, or records the whole machine, samples by the
 * processors' clocks: no thread is too short for those. */
static void find_unsampled(struct run *run)
{
	enum { TOLERATED_PERCENT = 10, STANDARD_ERRORS = 4 };
	if (run->options->everything || run->plan.vtable->load_code)
		return;
	for (size_t i = 0; i < run->plan.request.resource_count; i++) {
		if (!is_cpu_time(run->plan.resources[i].row))
			continue;
		const struct profile_resource *resource = &run->recorder.profile->resources[i];
		double expected = used(run, i) / (double)resource->interval;
		double missing = expected - (double)run->recorder.hits[i] - (double)resource->lost;
		if (missing < expected * TOLERATED_PERCENT / 100 || missing < STANDARD_ERRORS * sqrt(expected))
			continue;
		if (missing / expected > run->result->unsampled) {
			run->result->unsampled = missing / expected;
			run->result->unsampled_name = run->plan.resources[i].row->name;
		}
	}
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
	if (run->result->unsampled > 0) {
		snprintf(text, sizeof(text),
			 "%.0f %% of %s was used where no sample was taken: by threads shorter than the interval (a "
			 "shorter one sees them), or by set-user-ID programs (root sees them)",
			 run->result->unsampled * 100, run->result->unsampled_name);
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
	struct symbolize_options names = { .open_module = run_open_module,
					   .progress = report_progress,
					   .context = run };
	struct error error;
	if (symbolize_profile(run->recorder.profile, &names, &error) < 0 && run->options->warn)
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
	profile->end_ns = run_now_ns(CLOCK_MONOTONIC);
	take_counts(run);
	find_unsampled(run);
	stacks_publish(run->recorder.stacks);
	note_troubles(run);
	if (run->plan.vtable->notes)
		run->plan.vtable->notes(run->backend, add_note, profile);
	/* The rings' memory goes before the symbolizer needs its own. */
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
