/*
 * The bpf backend: eBPF programs count in the kernel, and unwind the stack there when an interval ends
 * (programs/programs.bpf.c).
 *
 *   (1) The kernel keeps the set of watched threads: a new thread inherits it from its creator.
 *       Side events (side_events.h) of the whole machine report maps, forks, names and exits;
 *       bpf/watched.h skips the events of processes that are not watched.
 *   (2) The code of a process is loaded when its maps are reported (load_code), or at a low rate when there were
 *       samples of it. A stack that the kernel cannot unwind goes to the monitor with its registers (user-space
 *       fallback).
 *   (3) Samples and side events are merged by time, up to the present time.
 *   (4) Everything is bound to descriptors: however the monitor ends, the kernel cleans up.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/sample/bpf/access.h"
#include "collect/sample/bpf/backend_state.h"
#include "collect/sample/bpf/code.h"
#include "collect/sample/bpf/sources.h"
#include "collect/sample/clock.h"
#include "collect/sample/inside.h"
#include "collect/sample/perf/access.h"
#include "collect/sample/probes/tracefs.h"
#include "collect/sample/stacks/sample_decode.h"

/* --- probe --- */

static bool bpf_serves(const struct resource_row *row)
{
	return bpf_source_of(row->counter) != BPF_SOURCE_NONE;
}

static int bpf_probe(const struct resource_request *request, bool *user_mode_only, struct error *error)
{
	*user_mode_only = false;
	int result = inside_refuse_resource(request, error);
	if (result == 0)
		result = bpf_access(error);
	if (result == 0 && request->row->counter == COUNTER_TRACEPOINT)
		result = tracefs_access(error);
	if (result < 0 || !request->row->is_hardware)
		return result;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = request->row->perf_type,
		.config = request->row->perf_config,
		.sample_period = request->row->default_interval,
	};
	int fd = perf_events_open(&attr, -1, 0);
	int refusal = errno;
	if (fd < 0)
		return perf_access_refused(request->row, refusal, false, error);
	close(fd);
	return 0;
}

/* --- open and close --- */

static void bpf_close(struct backend *backend)
{
	if (!backend)
		return;
	bpf_hooks_release(&backend->hooks);
	side_events_free(backend->side);
	perf_events_release(&backend->counters);
	bpf_ring_free(backend->ring);
	code_loader_free(backend->code);
	if (backend->programs)
		programs__destroy(backend->programs);
	bpf_kernel_names_release(&backend->names);
	bpf_watched_release(&backend->watched);
	hash_map_release(&backend->attached);
	hash_map_release(&backend->attached_processes);
	cpus_release(&backend->cpus);
	free(backend->stack);
	free(backend);
}

static size_t highest_cpu(const struct cpus *cpus)
{
	/* CPUs that come online later have a number too. */
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	size_t highest = configured > 0 ? (size_t)configured : 1;
	for (size_t i = 0; i < cpus->count; i++)
		if ((size_t)cpus->ids[i] >= highest)
			highest = (size_t)cpus->ids[i] + 1;
	return highest;
}

static int open_all(struct backend *backend, struct error *error)
{
	int result = cpus_find(&backend->cpus, error);
	if (result < 0)
		return result;
	backend->programs = bpf_programs_load(&backend->request, highest_cpu(&backend->cpus), error);
	if (!backend->programs)
		return error->code;
	bpf_kernel_names_init(&backend->names, backend->programs);
	backend->ring = bpf_ring_new(bpf_map__fd(backend->programs->maps.ring), bpf_ring_bytes(&backend->request));
	if (!backend->ring)
		return error_set_errno(error, "cannot map the ring of the eBPF programs");
	const struct bpf_code_maps maps = {
		.processes = bpf_map__fd(backend->programs->maps.processes),
		.codes = bpf_map__fd(backend->programs->maps.codes),
		.first_chunk = bpf_map__fd(backend->programs->maps.first_chunk),
		.chunks = bpf_map__fd(backend->programs->maps.chunks),
	};
	backend->code = bpf_code_loader_new(&maps, error);
	if (!backend->code)
		return error->code;
	struct backend_request everything = backend->request;
	everything.everything = true;
	backend->side = side_events_fit(&everything, &backend->side_bytes, error);
	if (!backend->side)
		return error->code;
	if (bpf_programs_pass(backend->programs, BPF_PASS_LEVEL) < 0)
		return error_set_errno(error, "cannot list the kernel's tasks");
	return bpf_hooks_attach(&backend->hooks, backend->programs, &backend->request, &backend->cpus, error);
}

static struct backend *bpf_open(const struct backend_request *request, struct error *error)
{
	struct backend *backend = calloc(1, sizeof(*backend));
	if (backend)
		backend->stack = malloc(SAMPLE_STACK_BYTES);
	if (!backend || !backend->stack) {
		free(backend);
		error_memory(error);
		return NULL;
	}
	backend->request = *request;
	memcpy(backend->resources, request->resources, request->resource_count * sizeof(backend->resources[0]));
	backend->request.resources = backend->resources;
	bpf_watched_init(&backend->watched, request->everything, request->no_children);
	hash_map_init(&backend->attached);
	hash_map_init(&backend->attached_processes);
	if (open_all(backend, error) < 0) {
		bpf_close(backend);
		return NULL;
	}
	return backend;
}

/* --- attach --- */

/* Adds a perf event that only counts for each resource of the processor's counters in all modes: the interrupts
 * do not give the total. For one mode, or for the whole machine, there is no such event. */
static int add_counters(struct backend *backend, pid_t tid, bool on_exec, struct error *error)
{
	for (size_t i = 0; i < backend->request.resource_count; i++) {
		const struct resource_row *row = backend->resources[i].row;
		if (!row->is_hardware || row->modes != RESOURCE_ALL_MODES)
			continue;
		struct perf_event_attr attr;
		perf_events_attributes(&attr, tid, on_exec);
		attr.inherit_thread = backend->request.no_children;
		attr.type = row->perf_type;
		attr.config = row->perf_config;
		int result = perf_events_add(&backend->counters, &attr, tid, -1, NULL, (uint32_t)i, error);
		if (result <= 0)
			return result;
	}
	return 1;
}

static int wait_for_exec(struct backend *backend, pid_t pid, struct error *error)
{
	const struct bpf_thread thread = {
		.pid = (uint32_t)pid,
		.tid = (uint32_t)pid,
		.state = BPF_THREAD_WAITS_FOR_EXEC,
	};
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0 && errno == ESRCH)
		return 0;
	int result =
		pidfd < 0 ? -1
			  : bpf_map_update_elem(bpf_map__fd(backend->programs->maps.threads), &pidfd, &thread, BPF_ANY);
	if (result < 0)
		error_set_errno(error, "cannot observe process %d", (int)pid);
	if (pidfd >= 0)
		close(pidfd);
	return result < 0 ? error->code : 1;
}

/* Watches a process for which no thread was attached before. The programs watch its threads in bpf_start. Returns 1,
 * 0 if a watched process has started it since, so that it inherits everything, or a negative error. */
static int watch_process(struct backend *backend, pid_t pid, struct error *error)
{
	const uint8_t wanted = 1;
	const uint32_t key = (uint32_t)pid;
	bool inherits = bpf_watched_has(&backend->watched, key);
	if (bpf_watched_add(&backend->watched, pid) < 0)
		return error_memory(error);
	if (bpf_map_update_elem(bpf_map__fd(backend->programs->maps.wanted), &key, &wanted, BPF_ANY) < 0)
		return error_set_errno(error, "cannot observe process %d", (int)pid);
	/* Side events first: no event of the process is missed from now on. */
	if (!backend->has_side && side_events_attach(backend->side, PERF_EVENTS_EVERYTHING, false, error) <= 0)
		return error->code;
	backend->has_side = true;
	if (!backend->first) {
		backend->first = pid;
		return bpf_hooks_limit(&backend->hooks, backend->programs, pid, error) < 0 ? error->code : 1;
	}
	if (!backend->is_wide) {
		backend->is_wide = true;
		backend->is_blind = bpf_hooks_widen(&backend->hooks, backend->programs) < 0;
	}
	return !inherits;
}

static int attach_everything(struct backend *backend, struct error *error)
{
	int result = side_events_attach(backend->side, PERF_EVENTS_EVERYTHING, false, error);
	backend->has_side = result > 0;
	return result;
}

static int bpf_attach(struct backend *backend, pid_t pid, pid_t tid, bool on_exec, struct error *error)
{
	if (hash_map_get(&backend->attached, (uint64_t)tid) != HASH_MAP_NONE)
		return 0;
	if (!backend->request.everything && syscall(SYS_tkill, tid, 0) < 0 && errno == ESRCH)
		return 0;
	bool is_new = hash_map_get(&backend->attached_processes, (uint64_t)pid) == HASH_MAP_NONE;
	if (hash_map_put(&backend->attached, (uint64_t)tid, 1) < 0 ||
	    (is_new && hash_map_put(&backend->attached_processes, (uint64_t)pid, 1) < 0))
		return error_memory(error);
	if (backend->request.everything)
		return attach_everything(backend, error);
	int result = is_new ? watch_process(backend, pid, error) : 1;
	if (result > 0 && on_exec)
		result = wait_for_exec(backend, tid, error);
	return result > 0 ? add_counters(backend, tid, on_exec, error) : result;
}

/* Visits all tasks twice. The first visit can miss a thread that has a smaller number than its creator, if
 * it was started before the visit reached the creator. */
static int bpf_start(struct backend *backend, struct error *error)
{
	side_events_start(backend->side);
	int result = perf_events_enable(&backend->counters, 0, error);
	for (int i = 0; i < 2 && result == 0; i++)
		if (bpf_programs_pass(backend->programs, BPF_PASS_WATCH) < 0)
			result = error_set_errno(error, "cannot list the kernel's tasks");
	backend->programs->bss->on_since_ns = clock_now_ns(CLOCK_MONOTONIC);
	backend->programs->bss->is_on = 1;
	return result;
}

static int bpf_load(struct backend *backend, uint32_t pid, const struct backend_code *code, size_t count)
{
	return code_loader_load(backend->code, pid, code, count);
}

/* --- drain --- */

static size_t bpf_descriptors(const struct backend *backend, struct pollfd *descriptors, size_t limit)
{
	size_t count = side_events_descriptors(backend->side, descriptors, limit);
	if (count < limit)
		descriptors[count] = (struct pollfd){ .fd = bpf_ring_descriptor(backend->ring), .events = POLLIN };
	return count + 1;
}

static uint64_t gticks_of(const struct backend *backend, uint32_t request, uint64_t amount)
{
	const struct resource_row *row = backend->resources[request].row;
	return counter_is_wait(row->counter) && row->gtick_ns ? amount / row->gtick_ns : amount;
}

/* Returns how many bytes copy_stack in programs/sample.bpf.h copies at most: it begins within a page. */
static size_t stack_requested(const struct sample_record *record)
{
	const uint64_t *registers = (const uint64_t *)(record + 1);
	bool has_stack = record->kind == SAMPLE_FALLBACK;
	return has_stack ? SAMPLE_STACK_BYTES - registers[ARCH_SP_REGISTER] % SAMPLE_PAGE_BYTES : 0;
}

/* Returns whether a program at a tracepoint takes the samples of a request. Otherwise the sample
 * has the registers of the code that was interrupted. */
static bool is_sampled_by_tracing(const struct backend *backend, uint32_t request)
{
	enum bpf_source source = bpf_source_of(backend->resources[request].counter);
	return source != BPF_SOURCE_CLOCK && source != BPF_SOURCE_EVENT;
}

static void deliver(struct backend *backend, const struct sample_record *record, const struct backend_sink *sink)
{
	struct backend_sample sample;
	if (record->kind == SAMPLE_DESCRIPTION) {
		sink->describes(sink->context, record->pid, (const struct interpreted_code *)(record + 1),
				record->stack_bytes);
		return;
	}
	decode_sample(record, record + 1, stack_requested(record), backend->stack, &sample);
	if (record->request == SAMPLE_NO_REQUEST) {
		sample.created_pid = record->hits ? record->about : 0;
		sink->creates(sink->context, &sample, record->about);
	} else if (record->request < backend->request.resource_count) {
		sample.amount = gticks_of(backend, record->request, record->amount);
		if (is_sampled_by_tracing(backend, record->request))
			bpf_kernel_names_trim(&backend->names, &sample);
		sink->sample(sink->context, &sample);
	}
}

/* Returns the next sample. Where there was no memory to list all samples at once, those that were delivered make room. */
static const struct sample_record *next_record(struct backend *backend, bool *complete)
{
	const struct sample_record *record = bpf_ring_peek(backend->ring);
	if (!record && !*complete) {
		*complete = bpf_ring_refresh(backend->ring);
		record = bpf_ring_peek(backend->ring);
	}
	return record;
}

/*
 * No record needs time to settle. A thread has written its earlier record in one ring before its later
 * record in the other ring. So `now` is taken first, then the samples are listed, then the side events:
 * everything that a thread wrote up to `now` is then present, and in order.
 *
 * Returns whether a later event should be delivered soon: after a map, because its code cannot be unwound
 * before that, unless code is passed late; after a copied stack, because it may have to be completed.
 */
static bool bpf_drain(struct backend *backend, uint64_t until_ns, const struct backend_sink *sink)
{
	enum { TRIES = 100 };
	const struct backend_sink filter = bpf_watched_filter(&backend->watched);
	backend->watched.sink = sink;
	bool all = until_ns == UINT64_MAX;
	uint64_t now = all ? UINT64_MAX : clock_now_ns(CLOCK_MONOTONIC);
	bool complete = bpf_ring_refresh(backend->ring);
	for (int i = 0; i < TRIES && !complete; i++)
		complete = bpf_ring_refresh(backend->ring);
	side_events_refresh(backend->side);
	if (!complete && !all)
		return true;
	for (;;) {
		uint64_t side_ns = UINT64_MAX;
		bool has_side = side_events_peek(backend->side, &side_ns);
		const struct sample_record *record = next_record(backend, &complete);
		bool side_first = has_side && (!record || side_ns <= record->time_ns);
		if ((!has_side && !record) || (side_first ? side_ns : record->time_ns) > now)
			return (has_side && !backend->request.has_low_rate) || bpf_ring_has_stack(backend->ring);
		if (side_first) {
			side_events_deliver(backend->side, &filter);
			if (backend->watched.has_children && !backend->is_wide) {
				backend->is_wide = backend->was_late = true;
				backend->is_blind = bpf_hooks_widen(&backend->hooks, backend->programs) < 0;
			}
		} else {
			deliver(backend, record, sink);
			bpf_ring_next(backend->ring);
		}
	}
}

/* --- the end --- */

static void bpf_stop(struct backend *backend)
{
	if (backend->stopped)
		return;
	backend->stopped = true;
	perf_events_disable(&backend->counters);
	backend->programs->bss->is_on = 0;
	backend->unfinished = bpf_programs_pass(backend->programs, BPF_PASS_FINISH) < 0;
	side_events_stop(backend->side);
	backend->results = backend->programs->bss->results;
}

static uint64_t counted(const struct backend *backend, size_t request)
{
	uint64_t total = 0;
	for (size_t i = 0; i < backend->counters.count; i++) {
		uint64_t value;
		if (backend->counters.events[i].tag == request &&
		    read(backend->counters.events[i].fd, &value, sizeof(value)) == sizeof(value))
			total += value;
	}
	return total;
}

static struct backend_counts bpf_counts(const struct backend *backend, size_t request)
{
	const struct resource_row *row = backend->resources[request].row;
	uint64_t total = row->is_hardware ? counted(backend, request)
					  : gticks_of(backend, (uint32_t)request, backend->results.totals[request]);
	return (struct backend_counts){
		.total = total,
		.lost = backend->results.lost[request],
		.is_whole = row->counter == COUNTER_CPU,
	};
}

static int bpf_write_kernel_names(struct backend *backend, const uint64_t *addresses, size_t count, int fd)
{
	return bpf_kernel_names_write(&backend->names, addresses, count, fd);
}

const struct backend_vtable backend_bpf = {
	.name = "bpf",
	.has_kernel = true,
	.has_interpreters = true,
	.serves = bpf_serves,
	.probe = bpf_probe,
	.open = bpf_open,
	.attach = bpf_attach,
	.load_code = bpf_load,
	.write_kernel_names = bpf_write_kernel_names,
	.start = bpf_start,
	.descriptors = bpf_descriptors,
	.drain = bpf_drain,
	.stop = bpf_stop,
	.counts = bpf_counts,
	.add_findings = bpf_add_findings,
	.close = bpf_close,
};
