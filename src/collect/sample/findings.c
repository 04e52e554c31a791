/* The monitor's findings about a run: hits that do not add up to the total, losses, and the cost of sampling. */
#include "profile/findings.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "collect/sample/label_use.h"
#include "collect/sample/run.h"

uint64_t run_accounted(const struct run *run, const struct resource_row *row)
{
	uint64_t sum = 0;
	if (!run->path || run->options->everything || !counter_is_cpu_time(row->counter) ||
	    finding_find(run->sink.profile, FINDING_PARTS_MEASURED))
		return 0;
	if (row->modes != RESOURCE_KERNEL_MODE)
		sum += run->target.user_ns;
	if (row->modes != RESOURCE_USER_MODE)
		sum += run->target.system_ns;
	return sum;
}

/* --- use that was not sampled, or sampled too often --- */

/* Returns the gticks that were used. The total of all modes is the account where that is more (finish.c). 0: unknown. */
static double used(const struct run *run, size_t request)
{
	const struct resource_row *row = run->plan.resources[request].row;
	uint64_t counted = run->sink.profile->resources[request].total;
	uint64_t account = row->modes == RESOURCE_ALL_MODES ? 0 : run_accounted(run, row);
	return (double)(counted > account ? counted : account);
}

struct deviation {
	double share;   /* of the resource's use; below 0: not sampled; 0: none, or within chance */
	double samples; /* that were taken beyond those expected, or were expected and not taken */
};

/* Where an interval timer starts with its thread, use before the end of the first interval is never
 * sampled. The use of many short threads adds up, and the total includes it. */
static struct deviation deviation_of(const struct run *run, size_t request)
{
	/* The account of one mode alone is a sample itself, taken by the kernel's ticks. */
	enum { TOLERATED_PERCENT = 2, MODE_TOLERATED_PERCENT = 10, STANDARD_ERRORS = 4 };
	const struct profile_resource *resource = &run->sink.profile->resources[request];
	bool is_whole = run->plan.resources[request].row->modes == RESOURCE_ALL_MODES;
	double tolerated = is_whole ? TOLERATED_PERCENT : MODE_TOLERATED_PERCENT;
	double expected = used(run, request) / (double)resource->interval;
	double beyond = (double)run->sink.hits[request] + (double)(resource->lost * run->sink.weight) - expected;
	double variance = expected;
	if (counter_is_cpu_time(run->plan.resources[request].counter) && run->sink.squares[request] > variance)
		variance = run->sink.squares[request];
	if (expected <= 0 || fabs(beyond) < expected * tolerated / 100 ||
	    fabs(beyond) < STANDARD_ERRORS * sqrt(variance))
		return (struct deviation){ 0 };
	return (struct deviation){ beyond / expected, fabs(beyond) };
}

/* Returns the probable place of use that was not sampled. */
static const char *place_of_unsampled(const struct run *run)
{
	if (finding_find(run->sink.profile, FINDING_PROGRAMS_NOT_RECORDED))
		return ""; /* that finding gives the reason */
	if (run->plan.vtable->only_commands)
		return ": short threads, or programs while they start";
	/* The timers of the eBPF programs and of recordings of the whole machine outlive the threads: no
	 * thread is too short for them. */
	if (run->options->everything || run->plan.vtable->load_code)
		return "";
	return ": short threads, or set-user-ID programs";
}

static void add_deviation(struct run *run, size_t request)
{
	const struct deviation deviation = deviation_of(run, request);
	const char *name = run->plan.resources[request].row->name;
	double percent = fabs(deviation.share) * 100;
	if (deviation.share < 0)
		finding_add(run->sink.profile, FINDING_UNSAMPLED, (uint64_t)deviation.samples,
			    "%.0f %% of %s not sampled%s", percent, name, place_of_unsampled(run));
	else if (deviation.share > 0)
		finding_add(run->sink.profile, FINDING_OVERSAMPLED, (uint64_t)deviation.samples,
			    "%.0f %% more %s sampled than counted", percent, name);
}

/* Adds the largest share first, because the closing line shows one finding of each code. */
static void add_deviations(struct run *run)
{
	const size_t count = run->plan.request.resource_count;
	size_t worst = 0;
	for (size_t i = 1; i < count; i++)
		if (fabs(deviation_of(run, i).share) > fabs(deviation_of(run, worst).share))
			worst = i;
	add_deviation(run, worst);
	for (size_t i = 0; i < count; i++)
		if (i != worst)
			add_deviation(run, i);
}

/* --- the cost of sampling --- */

/* Returns the CPU time that was recorded, in ns: the kernel's account of the command and of the children
 * that it waited for, or the counted time, whichever is more. For other targets it is an upper bound. */
static double cpu_time(const struct run *run)
{
	const struct profile *profile = run->sink.profile;
	uint64_t most = run->target.user_ns + run->target.system_ns;
	/* The use of other processes is unknown. It is at most all processors all the time. */
	if (!run->path || run->options->everything)
		return (double)(profile->end_ns - profile->start_ns) * (double)sysconf(_SC_NPROCESSORS_ONLN);
	for (size_t i = 0; i < run->plan.request.resource_count; i++)
		if (counter_is_cpu_time(run->plan.resources[i].counter) && profile->resources[i].total > most)
			most = profile->resources[i].total;
	return (double)most;
}

/* Each sample takes some microseconds of the sampled thread's time. */
static void add_costly(struct run *run)
{
	enum { MOST_PER_SECOND = 20000, SAMPLES_MIN = 1000, NS_PER_S = 1000000000 };
	/* In a shorter time the cost is not noticeable. The account also lacks daemons for which no
	 * process waited. */
	static const double ns_min = 0.05 * NS_PER_S;
	double ns = cpu_time(run);
	if (ns < ns_min)
		return;
	uint64_t samples = run->sink.samples, taken = 0;
	for (size_t i = 0; i < run->plan.request.resource_count; i++)
		taken += run->plan.vtable->counts(run->backend, i).taken;
	uint64_t all = taken > samples ? taken : samples;
	double per_second = (double)all * NS_PER_S / ns;
	if (all >= SAMPLES_MIN && per_second > MOST_PER_SECOND)
		finding_add(run->sink.profile, FINDING_SAMPLES_COSTLY, (uint64_t)per_second,
			    taken > samples ? "# samples a second slow the program: %s takes one of each event"
					    : "# samples a second slow the program: longer intervals cost less",
			    run->plan.vtable->name);
}

/* --- losses --- */

static void add_full(struct run *run)
{
	static const double ns_per_s = 1e9;
	struct profile *profile = run->sink.profile;
	uint64_t ns = run->full_ns + (run->full_since_ns ? profile->end_ns - run->full_since_ns : 0);
	double seconds = (double)ns / ns_per_s;
	if (run->sink.dropped_disk_full > 0)
		finding_add(profile, FINDING_DISK_FULL, run->sink.dropped_disk_full,
			    "{# sample was|# samples were} lost while the disk was full, for %.1f s", seconds);
	else if (ns > 0)
		finding_add(profile, FINDING_DISK_WAS_FULL, 0, "the disk was full for %.1f s", seconds);
}

static void add_losses(struct run *run)
{
	const struct sample_sink *sink = &run->sink;
	struct profile *profile = sink->profile;
	/* When the whole machine is recorded, most processes continue to run. */
	bool is_ours = run->path && !run->options->everything;
	size_t running = is_ours ? processes_running(sink->processes) : 0;
	if (sink->out_of_memory)
		finding_add(profile, FINDING_OUT_OF_MEMORY, 0, "memory ran out while recording");
	add_full(run);
	if (sink->throttled > 0)
		finding_add(profile, FINDING_SAMPLING_PAUSED, sink->throttled,
			    "the kernel paused sampling {# time|# times}");
	if (run->refused > 0)
		finding_add(
			profile, FINDING_PROCESSES_NOT_RECORDED, run->refused,
			"{# process was|# processes were} not recorded: {it belongs|they belong} to another user, or "
			"may not be traced");
	if (running > 0)
		finding_add(profile, FINDING_PROCESSES_STILL_RUNNING, running,
			    "{# process|# processes} that the command started still {runs|run}, unrecorded");
	if (sink->lost_events > 0)
		finding_add(profile, FINDING_EVENTS_LOST, sink->lost_events,
			    "{# event|# events} (maps, forks, names) {was|were} lost");
	if (sink->labels.unknown > 0)
		finding_add(profile, FINDING_LABELS_LOST, sink->labels.unknown,
			    "{# sample has|# samples have} lost {its|their} labels");
	if (!run->plan.vtable->has_labels && (run->sets_labels || label_use_of_modules(profile)))
		finding_add(profile, FINDING_LABELS_NOT_RECORDED, 0, "labels are not recorded by %s",
			    run->plan.vtable->name);
	if (sink->codes_not_loaded > 0)
		finding_add(profile, FINDING_CODE_NOT_LOADED, sink->codes_not_loaded,
			    "the code of a process could not be loaded into the kernel {# time|# times}");
}

/* Reports that the recording did not begin and end with the command. target_add_finding reports signals. */
static void add_part(struct run *run)
{
	const char *reason = run->options->everything ? "the recording has the processes of the whole machine"
			     : !run->path             ? "the recording began after its processes"
			     : !run->target.ended     ? "the recording ended before the command"
						      : NULL;
	if (reason)
		finding_add_part(run->sink.profile, reason);
}

/* Names the first interpreter whose functions are not shown. */
static void add_interpreters(struct run *run)
{
	enum { MAJOR_SHIFT = 24, MINOR_SHIFT = 16 };
	struct profile *profile = run->sink.profile;
	for (size_t i = 0; i < profile->module_count; i++) {
		const struct module *module = modules_by_id(run->sink.modules, (uint32_t)i);
		if (!module || !module->language)
			continue;
		uint32_t version = module->interpreter_version;
		if (!run->plan.vtable->has_interpreters)
			finding_add(profile, FINDING_INTERPRETER_NOT_SHOWN, 0,
				    "functions of %s programs are not shown by %s", module->language,
				    run->plan.vtable->name);
		else if (module->interpreter.kind == INTERPRETER_NONE && version)
			finding_add(profile, FINDING_INTERPRETER_NOT_SHOWN, 0,
				    "functions of %s %u.%u programs are not shown: cpprof does not know this version",
				    module->language, version >> MAJOR_SHIFT, version >> MINOR_SHIFT & UINT8_MAX);
		else if (module->interpreter.kind == INTERPRETER_NONE)
			finding_add(profile, FINDING_INTERPRETER_NOT_SHOWN, 0,
				    "functions of %s programs are not shown: cpprof does not know this version",
				    module->language);
		else
			continue;
		return;
	}
}

static void add_restrictions(struct run *run)
{
	struct profile *profile = run->sink.profile;
	if (run->plan.passed_over[0])
		finding_add(profile, FINDING_BACKEND_REFUSED, 0, "not by %s", run->plan.passed_over);
	if (!run->plan.vtable->has_kernel && !run->options->no_kernel)
		finding_add(profile, FINDING_KERNEL_NOT_RECORDED, 0, "the kernel's functions are not recorded by %s",
			    run->plan.vtable->name);
	if (run->sink.weight > 1)
		finding_add(profile, FINDING_RATE_LOWERED, 0, "sampled at 1/%u of the requested rate",
			    (unsigned)run->sink.weight);
	if (run->hides_kernel)
		finding_add(profile, FINDING_KERNEL_NOT_RECORDED, 0,
			    "the kernel hides its functions: kernel.kptr_restrict or kernel.perf_event_paranoid");
	if (run->plan.request.user_mode_only || run->plan.user_by_default)
		finding_add(profile, FINDING_USER_MODE_ONLY, 0,
			    "user mode only: kernel.perf_event_paranoid permits no more");
}

void run_add_backend_findings(struct run *run)
{
	const struct backend_vtable *vtable = run->plan.vtable;
	if (vtable->add_findings)
		vtable->add_findings(run->backend, run->sink.profile);
}

void run_add_findings(struct run *run)
{
	target_add_finding(&run->target, run->sink.profile);
	add_deviations(run);
	add_costly(run);
	add_losses(run);
	add_part(run);
	add_restrictions(run);
	add_interpreters(run);
}
