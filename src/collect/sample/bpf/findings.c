/* The losses and facts of a run of the bpf backend. */
#include <inttypes.h>
#include <stdio.h>

#include "collect/sample/bpf/backend_state.h"
#include "collect/sample/perf/access.h"
#include "profile/findings.h"

/* "1234 of 1250 stacks were unwound in the kernel; user-space fallback: 12 too deep, 4 ..." */
static void add_walks(const struct backend *backend, struct profile *profile)
{
	static const char *const texts[] = {
#define X(name, text) text,
		WALK_LIST(X)
#undef X
	};
	char text[512] = "";
	size_t used = 0;
	uint64_t in_all = 0, walked = 0;
	for (int i = 0; i < WALK_END_COUNT; i++) {
		in_all += backend->results.ends[i];
		walked += i <= WALK_OTHER_ABI ? backend->results.ends[i] : 0;
		if (i <= WALK_OTHER_ABI || backend->results.ends[i] == 0 || used >= sizeof(text))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%" PRIu64 " %s",
					 used == 0 ? "; user-space fallback: " : ", ", backend->results.ends[i],
					 texts[i]);
	}
	if (in_all > 0)
		finding_add(profile, FINDING_KERNEL_STACKS, in_all - walked,
			    "%" PRIu64 " of %" PRIu64 " stack%s unwound in the kernel%s", walked, in_all,
			    in_all == 1 ? " was" : "s were", text);
}

/* Returns whether a clock interrupts more often than this setting permits. The kernel then pauses the
 * clock without a report. */
static bool is_clock_too_fast(const struct backend *backend, long most_per_second)
{
	enum { NS_PER_S = 1000 * 1000 * 1000 };
	for (size_t i = 0; i < backend->request.resource_count; i++) {
		const struct resource_request *request = &backend->resources[i];
		if (counter_is_cpu_time(request->counter) || request->counter == COUNTER_REAL)
			if (bpf_request_of(request).interval < (uint64_t)(NS_PER_S / most_per_second))
				return true;
	}
	return false;
}

static void add_losses(const struct backend *backend, struct profile *profile)
{
	enum { KB = 1024 };
	uint64_t threads = backend->results.lost_threads, creations = backend->results.lost_creations;
	uint64_t missed = bpf_programs_missed(backend->programs);
	long most = perf_access_max_sample_rate();
	if (backend->side_bytes < SIDE_EVENTS_RING_BYTES)
		finding_add(profile, FINDING_RINGS_SMALL, 0,
			    "rings of only %zu KB for each CPU: locked memory is limited", backend->side_bytes / KB);
	if (threads > 0)
		finding_add(profile, FINDING_THREADS_NOT_RECORDED, threads,
			    "{# thread was|# threads were} not recorded: no memory in the kernel");
	if (creations > 0)
		finding_add(profile, FINDING_STARTS_UNKNOWN, creations, "the start of {# thread|# threads} is unknown");
	if (backend->results.signs_assumed > 0)
		finding_add(profile, FINDING_SIGNS_ASSUMED, backend->results.signs_assumed,
			    "{# value|# values} of 2^31 to 2^32 - 1 in an argument or return value of unknown type "
			    "{was|were} taken for {a negative number|negative numbers}");
	if (missed > 0)
		finding_add(
			profile, FINDING_EVENTS_MISSED, missed,
			"{# event|# events} came while {its|their} eBPF program was busy, and {is|are} not counted");
	if (backend->is_blind)
		finding_add(
			profile, FINDING_FUNCTIONS_UNOBSERVED, backend->is_blind,
			"{# attempt|# attempts} to observe functions in the processes that the target started failed");
	if (backend->unfinished)
		finding_add(profile, FINDING_TOTALS_INCOMPLETE, backend->unfinished,
			    "{# read|# reads} of the living threads' totals failed");
	if (most > 0 && is_clock_too_fast(backend, most))
		finding_add(profile, FINDING_SAMPLE_RATE_LIMITED, 0,
			    "kernel.perf_event_max_sample_rate = %ld is below the requested rate", most);
}

/* A probe's trap belongs to the time of the function that it interrupts: to malloc's, for alloc-bytes. */
static void add_probe_cost(const struct backend *backend, struct profile *profile)
{
	enum { TRAP_NS = 1000, TOLERATED_PERCENT = 1, CALLS_MIN = 1000 };
	const uint64_t calls = backend->results.function_calls;
	for (size_t i = 0; i < backend->request.resource_count; i++) {
		enum counter counter = backend->resources[i].counter;
		bool is_time = counter_is_cpu_time(counter) || counter == COUNTER_REAL;
		uint64_t tolerated_ns = backend->results.totals[i] / 100 * TOLERATED_PERCENT;
		if (!is_time || calls < CALLS_MIN || calls * TRAP_NS < tolerated_ns)
			continue;
		finding_add(profile, FINDING_PROBES_COSTLY, calls,
			    "%s includes the probes' own time at {# call|# calls} of the functions they count",
			    backend->resources[i].row->name);
		return;
	}
}

void bpf_add_findings(const struct backend *backend, struct profile *profile)
{
	add_losses(backend, profile);
	finding_add(profile, FINDING_UNWIND_ROWS, code_loader_rows(backend->code),
		    "{# unwind row|# unwind rows} of 8 bytes and %" PRIu64 " bytes of index in the kernel",
		    code_loader_index_bytes(backend->code));
	add_walks(backend, profile);
	add_probe_cost(backend, profile);
	bpf_allocators_add_finding(&backend->hooks.allocators, profile);
	if (backend->was_late && backend->hooks.functions.count > 0)
		finding_add(profile, FINDING_FIRST_CALLS_UNCOUNTED, 0,
			    "calls of the first process that the target started are not counted in its first moments");
}
