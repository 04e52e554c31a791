/* The end of a run: totals, findings, names of addresses, and the sums of the closing line. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

#include "base/heap_trim.h"
#include "collect/sample/clock.h"
#include "collect/sample/destination.h"
#include "collect/sample/kernel_symbols.h"
#include "collect/sample/priority.h"
#include "collect/sample/run.h"
#include "collect/sample/target_signals.h"
#include "frames/frames.h"
#include "frames/missing_names.h"
#include "profile/findings.h"
#include "profile/runtimes.h"

/* Sets a resource's note: whether its total is all that was raised. Only floating point exceptions need such a note:
 * frequent exceptions are not all counted. */
static int note_exactness(struct profile *profile, size_t request, bool is_bound)
{
	const char *text = is_bound ? "at least so many: frequent, not counted further" : "exact";
	int64_t id = profile_add_string(profile, text);
	if (id >= 0)
		profile->resources[request].note = (uint32_t)id;
	return id < 0 ? (int)id : 0;
}

/* Adds the hits of the CPU time that was counted but not sampled: of threads that ended before their first
 * interval, and of programs that the backend does not reach. Then the hits of the resource add up to its total,
 * and the fractions are of all its use. A few hits are missing in each run, because each thread's last interval
 * is not over when the thread ends; so a small difference remains. */
static void add_unsampled_hits(struct run *run, size_t request)
{
	enum { TOLERATED_HITS = 5, TOLERATED_PERCENT = 2 };
	const struct profile_resource *resource = &run->sink.profile->resources[request];
	uint64_t expected = resource->total / resource->interval;
	uint64_t taken = run->sink.hits[request] + resource->lost * run->sink.weight;
	if (!counter_is_cpu_time(run->plan.resources[request].counter) || expected <= taken)
		return;
	uint64_t missing = expected - taken;
	if (missing > TOLERATED_HITS * run->sink.weight && missing > expected * TOLERATED_PERCENT / 100 &&
	    sample_sink_add_unsampled(&run->sink, (uint32_t)request, missing) < 0)
		run->sink.out_of_memory = true;
}

static void read_counts(struct run *run)
{
	struct profile *profile = run->sink.profile;
	uint64_t lost_in_all = 0;
	bool lost_known = true;
	for (size_t i = 0; i < run->plan.request.resource_count; i++) {
		const struct resource_row *row = run->plan.resources[i].row;
		const struct backend_counts counts = run->plan.vtable->counts(run->backend, i);
		uint64_t account = row->modes == RESOURCE_ALL_MODES ? run_accounted(run, row) : 0;
		if (row->counter == COUNTER_FP && counts.total > 0 && note_exactness(profile, i, counts.is_bound) < 0)
			run->sink.out_of_memory = true;
		/* The account separates user from system time only by ticks, so it serves only for their
		 * sum. */
		profile->resources[i].total = account > counts.total && !counts.is_whole ? account : counts.total;
		lost_known &= counts.lost != UINT64_MAX;
		profile->resources[i].lost = counts.lost == UINT64_MAX ? 0 : counts.lost;
		lost_in_all += profile->resources[i].lost;
		profile->resources[i].lost += run->sink.dropped_hits[i];
	}
	/* The kernel counts all lost samples of an event. A ring reports only losses after which it had
	 * room again. */
	lost_in_all += run->sink.dropped_disk_full + run->sink.dropped_no_memory;
	if (lost_known && lost_in_all > profile->lost)
		profile->lost = lost_in_all;
	for (size_t i = 0; i < run->plan.request.resource_count; i++)
		if (!run->plan.vtable->counts(run->backend, i).is_whole)
			add_unsampled_hits(run, i);
}

static void fill_in_result(struct run *run)
{
	const struct profile *profile = run->sink.profile;
	struct record_result *result = run->result;
	result->backend = run->plan.vtable->name;
	result->samples = run->sink.samples;
	result->lost = profile->lost;
	result->status = run->target.status;
	result->left = run->path && !run->target.ended ? run->target.pid : 0;
}

static void report_progress(void *context, size_t done, size_t total)
{
	const struct run *run = context;
	if (run->options->progress)
		run->options->progress(run->options->context, done, total);
}

static void report_download(void *context, const char *path, uint64_t done, uint64_t total)
{
	const struct run *run = context;
	run->options->download(run->options->context, path, done, total);
}

/* Takes the signals that came until now: they asked to end the recording. The next one asks to end the naming, too. */
static void discard_signals(const struct run *run)
{
	struct signalfd_siginfo info;
	while (run->signal_fd >= 0 && target_signals_next(run->signal_fd, &info))
		;
}

/* Names the addresses while the files are still those that ran, so that reading the profile needs no
 * files. */
static void name_addresses(struct run *run)
{
	const struct walk_ends *ends = stacks_ends(run->sink.stacks);
	uint64_t *times = generated_paths_times(&ends->generated, run->sink.profile);
	struct frames_options names = { .open_module = run_open_module,
					.progress = report_progress,
					.download = run->options->download ? report_download : NULL,
					.context = run,
					.limits = run->options->naming,
					.finds_tail_calls = true,
					.times = times,
					.time_count = times ? run->sink.profile->location_count : 0 };
	struct error error;
	discard_signals(run);
	int status = frames_name_profile(run->sink.profile, &names, &error);
	if (status == 0)
		status = missing_names_add(run->sink.profile, &run->leaf_hits);
	if (status < 0 && run->options->warn)
		run->options->warn(run->options->context,
				   "memory ran out while naming addresses: 'cpprof report' will do it");
	free(times);
}

/* Returns the walks that ended for a cause. */
static uint64_t ended_by(const struct profile *profile, enum unwind_cause cause)
{
	const char *text = unwind_cause_text(cause);
	for (size_t i = 0; i < profile->cause_count; i++)
		if (strcmp(profile_string(profile, profile->causes[i].text), text) == 0)
			return profile->causes[i].count;
	return 0;
}

/* Writes how generated code gets names, in parentheses, or nothing if that was tried. */
static void put_nameless_remedy(const struct run *run, const struct runtime *runtime, char *text, size_t bytes)
{
	bool is_attached = !run->options->command;
	const char *remedy = run->options->environment ? NULL : "record --jit requests them";
	if (runtime && runtime->nameless)
		remedy = runtime->nameless;
	else if (runtime && is_attached)
		remedy = runtime->running ? runtime->running : runtime->by_hand;
	const char *ending = runtime && remedy == runtime->by_hand ? " lists it" : "";
	text[0] = 0;
	if (remedy)
		snprintf(text, bytes, " (%s%s)", remedy, ending);
}

/* Counts the walks through generated code by its names, and reports code that has none or keeps no frame pointers. */
static void count_generated(struct run *run)
{
	enum { HOT_PERCENT = 5 };
	struct profile *profile = run->sink.profile;
	struct walk_ends *ends = stacks_ends(run->sink.stacks);
	uint64_t nameless = walk_ends_resolve(ends, profile);
	walk_ends_publish(ends, profile);
	const struct runtime *runtime = runtime_of_profile(profile);
	char remedy[256];
	put_nameless_remedy(run, runtime, remedy, sizeof(remedy));
	uint64_t frameless = ended_by(profile, UNWIND_NO_FRAME);
	if (nameless > 0 && nameless * 100 >= run->sink.samples * HOT_PERCENT)
		finding_add(profile, FINDING_GENERATED_NAMELESS, nameless,
			    "{# sample is|# samples are} in generated code without names%s", remedy);
	else if (frameless > 0 && frameless * 100 >= run->sink.samples * HOT_PERCENT)
		finding_add(profile, FINDING_GENERATED_FRAMELESS, frameless,
			    "{# path ends|# paths end} in generated code without frame pointers%s%s%s",
			    runtime && runtime->frameless ? " (" : "",
			    runtime && runtime->frameless ? runtime->frameless : "",
			    runtime && runtime->frameless ? ")" : "");
}

void run_finish(struct run *run, struct error *error)
{
	const struct destination *destination = run->options->destination;
	const struct backend_vtable *vtable = run->plan.vtable;
	struct profile *profile = run->sink.profile;
	vtable->stop(run->backend);
	if (run->path && (!run->options->apart || run->targets_left == 0))
		target_reap(&run->target);
	vtable->drain(run->backend, UINT64_MAX, &run->backend_sink);
	priority_lower();
	profile->end_ns = clock_now_ns(CLOCK_MONOTONIC);
	run_add_backend_findings(run);
	read_counts(run);
	walk_ends_publish(stacks_ends(run->sink.stacks), profile);
	run_add_findings(run);
	/* Free the rings before the naming of addresses allocates memory. */
	sample_sink_set_code_loader(&run->sink, NULL, NULL);
	struct error none;
	run->kernel_symbols = kernel_symbols_open(profile, vtable, run->backend, &none);
	vtable->close(run->backend);
	run->backend = NULL;
	/* The children that name addresses are copies of this process. */
	modules_end_walks(run->sink.modules);
	heap_trim();
	run_flush(run);
	if (run->write_error.code == 0 && !destination->names_itself)
		name_addresses(run);
	count_generated(run);
	if (profile->findings_error < 0 && run->options->warn)
		run->options->warn(run->options->context, "memory ran out: the profile lacks some of its findings");
	profile->ended = true;
	if (run->write_error.code == 0)
		destination->finish(destination->context, profile, &run->write_error);
	if (run->sink.dropped_no_memory > 0 && run->write_error.code == 0)
		error_set(&run->write_error, ERROR_MEMORY, "memory ran out while recording");
	if (run->write_error.code != 0) {
		run->result->incomplete = true;
		*error = run->write_error;
	}
	fill_in_result(run);
}
