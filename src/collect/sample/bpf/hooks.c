#include "collect/sample/bpf/hooks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/sample/bpf/programs.h"
#include "collect/sample/bpf/sources.h"
#include "collect/sample/bpf/uprobes.h"
#include "collect/sample/perf/access.h"
#include "collect/sample/perf/events.h"
#include "collect/sample/perf/period_pair.h"
#include "collect/sample/probes/probe_points.h"

static int add_link(struct bpf_hooks *hooks, struct bpf_link *link)
{
	if (ARRAY_RESERVE(hooks->links, hooks->capacity, hooks->count + 1) < 0) {
		bpf_link__destroy(link);
		return ERROR_MEMORY;
	}
	hooks->links[hooks->count++] = link;
	return 0;
}

void bpf_hooks_release(struct bpf_hooks *hooks)
{
	for (size_t i = 0; i < hooks->count; i++)
		bpf_link__destroy(hooks->links[i]);
	bpf_functions_release(&hooks->functions);
	bpf_allocators_release(&hooks->allocators);
	free(hooks->links);
	*hooks = (struct bpf_hooks){ 0 };
}

/* --- perf events --- */

/* Attaches a program to a perf event, which the link then owns. If that fails, *refusal is the errno. */
static int attach_event(struct bpf_hooks *hooks, struct bpf_program *program, struct perf_event_attr *attr, pid_t tid,
			int cpu, uint64_t cookie, int *refusal)
{
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = cookie);
	*refusal = 0;
	int fd = perf_events_open(attr, tid, cpu);
	if (fd < 0) {
		*refusal = errno;
		return ERROR_SYSTEM;
	}
	struct bpf_link *link = bpf_program__attach_perf_event_opts(program, fd, &options);
	if (!link) {
		*refusal = errno;
		close(fd);
		return ERROR_SYSTEM;
	}
	return add_link(hooks, link);
}

/* Returns a random number from 0 to 1, from which the periods of one CPU's clocks are derived. */
static double chance(void)
{
	uint32_t random = 0;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		return 0;
	return (double)random / UINT32_MAX;
}

/* Attaches to clocks of a CPU, which run independently of the thread that runs. For `real`, they sample the
 * time that is spent running. */
static int attach_clock(struct bpf_hooks *hooks, struct programs *programs, const struct resource_request *request,
			size_t number, int cpu, struct error *error)
{
	const struct resource_row *row = request->row;
	bool is_counter = row->is_hardware;
	uint64_t periods[PERIODS_MAX];
	unsigned count = period_pair_plan(bpf_request_of(request).interval, is_counter, chance(), periods);
	for (unsigned i = 0; i < count; i++) {
		struct perf_event_attr attr = {
			.size = sizeof(attr),
			.type = is_counter ? row->perf_type : PERF_TYPE_SOFTWARE,
			.config = is_counter ? row->perf_config : PERF_COUNT_SW_CPU_CLOCK,
			.sample_period = periods[i],
			.exclude_kernel = row->modes == RESOURCE_USER_MODE,
			.exclude_user = row->modes == RESOURCE_KERNEL_MODE,
			.exclude_idle = 1,
			.exclude_hv = 1,
			.exclude_guest = 1,
		};
		int refusal;
		int result = attach_event(hooks, programs->progs.on_clock, &attr, -1, cpu, number, &refusal);
		if (result == ERROR_MEMORY)
			return error_memory(error);
		if (result < 0)
			return perf_access_refused(row, refusal, false, error);
	}
	return 0;
}

static int attach_software_event(struct bpf_hooks *hooks, struct programs *programs,
				 const struct resource_request *request, size_t number, int cpu, struct error *error)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = request->row->perf_type,
		.config = request->row->perf_config,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR,
	};
	int refusal;
	int result = attach_event(hooks, programs->progs.on_software_event, &attr, -1, cpu, number, &refusal);
	if (result == ERROR_MEMORY)
		return error_memory(error);
	return result < 0 ? perf_access_refused(request->row, refusal, false, error) : 0;
}

static int attach_to_cpus(struct bpf_hooks *hooks, struct programs *programs, const struct resource_request *request,
			  size_t number, const struct cpus *cpus, struct error *error)
{
	bool has_clock = resource_is_clock(request->row) || request->counter == COUNTER_REAL;
	int result = 0;
	for (size_t i = 0; i < cpus->count && result == 0; i++) {
		if (has_clock)
			result = attach_clock(hooks, programs, request, number, cpus->ids[i], error);
		else if (bpf_source_of(request->counter) == BPF_SOURCE_EVENT)
			result = attach_software_event(hooks, programs, request, number, cpus->ids[i], error);
	}
	return result;
}

/* --- probes --- */

static int add_probe(struct bpf_hooks *hooks, struct programs *programs, const struct bpf_probe *probe,
		     uint64_t *cookie, struct error *error)
{
	uint32_t number = (uint32_t)hooks->probe_count;
	if (number == BPF_PROBES)
		return error_set(error, ERROR_LIMIT, "too many functions, probes and tracepoints (limit %d)",
				 BPF_PROBES);
	if (bpf_map_update_elem(bpf_map__fd(programs->maps.probes), &number, probe, BPF_ANY) < 0)
		return error_set_errno(error, "cannot configure the eBPF programs");
	hooks->probe_count++;
	*cookie = number;
	return 0;
}

static struct bpf_link *attach_point(struct programs *programs, const struct resource_request *request,
				     const struct probe_point *point, uint64_t cookie)
{
	if (request->counter == COUNTER_USDT) {
		LIBBPF_OPTS(bpf_usdt_opts, options, .usdt_cookie = cookie);
		return bpf_program__attach_usdt(programs->progs.on_static_probe, -1, point->path, request->target.group,
						request->target.name, &options);
	}
	LIBBPF_OPTS(bpf_uprobe_opts, options, .retprobe = point->at_return, .bpf_cookie = cookie);
	return bpf_program__attach_uprobe_opts(programs->progs.on_function, -1, point->path, point->offset, &options);
}

/* Adds the probe of a probe point. Sets *cookie to the probe's number. */
static int add_point(struct bpf_hooks *hooks, struct programs *programs, const struct resource_request *request,
		     size_t number, const struct probe_point *point, uint64_t *cookie, struct error *error)
{
	bool is_events = request->counter == COUNTER_CALLS || request->counter == COUNTER_ALLOCS;
	const struct bpf_probe probe = {
		.request = (uint8_t)number,
		.argument = is_events ? 0 : point->argument,
		.factor = is_events ? 0 : point->factor,
		.at_return = point->at_return,
		.value_bytes = point->type.bytes,
		.value_signed = point->type.is_signed,
		.guard = point->guard,
		.guard_above = point->guard_above,
		.is_allocation = request->counter == COUNTER_ALLOC_BYTES || request->counter == COUNTER_ALLOCS,
	};
	return add_probe(hooks, programs, &probe, cookie, error);
}

/* Adds a group with the points from `first` on that are in one file. Returns their number, or a negative
 * error. */
static int add_group(struct bpf_hooks *hooks, struct programs *programs, const struct resource_request *request,
		     size_t number, const struct probe_points *points, size_t first, struct error *error)
{
	const struct probe_point *leader = &points->items[first];
	struct bpf_group *group = bpf_functions_add(&hooks->functions, leader->path, leader->at_return);
	if (!group)
		return error_memory(error);
	while (first + group->count < points->count && group->count < BPF_GROUP_MAX) {
		const struct probe_point *point = &points->items[first + group->count];
		if (strcmp(point->path, leader->path) != 0 || point->at_return != leader->at_return)
			break;
		int result = add_point(hooks, programs, request, number, point, &group->cookies[group->count], error);
		if (result < 0)
			return result;
		group->offsets[group->count++] = point->offset;
	}
	return (int)group->count;
}

static int attach_one(struct bpf_hooks *hooks, struct programs *programs, const struct resource_request *request,
		      size_t number, const struct probe_point *point, struct error *error)
{
	uint64_t cookie = 0;
	int result = add_point(hooks, programs, request, number, point, &cookie, error);
	if (result < 0)
		return result;
	struct bpf_link *link = attach_point(programs, request, point, cookie);
	if (!link)
		return error_set_errno(error, "cannot attach a probe to %s in %s", request->name, point->path);
	return add_link(hooks, link) < 0 ? error_memory(error) : 1;
}

static int attach_points(struct bpf_hooks *hooks, struct programs *programs, const struct resource_request *request,
			 size_t number, const struct probe_points *points, struct error *error)
{
	bool grouped = request->counter != COUNTER_USDT && bpf_uprobes_can_group();
	for (size_t done = 0; done < points->count;) {
		int result = grouped ? add_group(hooks, programs, request, number, points, done, error)
				     : attach_one(hooks, programs, request, number, &points->items[done], error);
		if (result < 0)
			return result;
		done += (size_t)result;
	}
	return 0;
}

static int attach_to_functions(struct bpf_hooks *hooks, struct programs *programs,
			       const struct backend_request *request, size_t number, struct error *error)
{
	size_t count = process_list_is_empty(request->processes) ? 0 : request->processes->count;
	pid_t *pids = calloc(count + 1, sizeof(*pids));
	if (!pids)
		return error_memory(error);
	for (size_t i = 0; i < count; i++)
		pids[i] = request->processes->items[i].pid;
	const struct probe_scope scope = { .command = request->command, .pids = pids, .pid_count = count };
	struct probe_points points = { 0 };
	int result = probe_points_find(&request->resources[number], &scope, &points, error);
	free(pids);
	if (result == 0)
		result = attach_points(hooks, programs, &request->resources[number], number, &points, error);
	enum counter counter = request->resources[number].counter;
	if (result == 0 && (counter == COUNTER_ALLOCS || counter == COUNTER_ALLOC_BYTES) &&
	    bpf_allocators_add(&hooks->allocators, &points) < 0)
		result = error_memory(error);
	probe_points_release(&points);
	return result;
}

/* Adds a probe to the chain of a tracepoint. Sets *is_first if the tracepoint had none: the program is not attached to
 * it yet. Returns 0 or a negative error. */
static int chain_probe(struct bpf_hooks *hooks, struct programs *programs, uint64_t id, uint32_t number, bool *is_first)
{
	int probes = bpf_map__fd(programs->maps.probes);
	for (size_t i = 0; i < hooks->tracepoint_count; i++) {
		struct bpf_attached_tracepoint *attached = &hooks->tracepoints[i];
		struct bpf_probe last;
		if (attached->id != id)
			continue;
		*is_first = false;
		if (bpf_map_lookup_elem(probes, &attached->last, &last) < 0)
			return ERROR_SYSTEM;
		last.next = number;
		if (bpf_map_update_elem(probes, &attached->last, &last, BPF_ANY) < 0)
			return ERROR_SYSTEM;
		attached->last = number;
		return 0;
	}
	*is_first = true;
	hooks->tracepoints[hooks->tracepoint_count++] = (struct bpf_attached_tracepoint){ .id = id, .last = number };
	return 0;
}

static int attach_to_tracepoint(struct bpf_hooks *hooks, struct programs *programs,
				const struct resource_request *request, size_t number, const struct cpus *cpus,
				struct error *error)
{
	struct tracepoint tracepoint;
	int result = tracepoint_find(request, &tracepoint, error);
	if (result < 0)
		return result;
	const struct bpf_probe probe = {
		.request = (uint8_t)number,
		.value_bytes = (uint8_t)tracepoint.size,
		.value_signed = tracepoint.is_signed,
		.field_offset = tracepoint.offset,
	};
	uint64_t cookie = 0;
	bool is_first;
	result = add_probe(hooks, programs, &probe, &cookie, error);
	if (result < 0)
		return result;
	if (chain_probe(hooks, programs, tracepoint.id, (uint32_t)cookie, &is_first) < 0)
		return error_set_errno(error, "cannot configure the eBPF programs");
	if (!is_first)
		return 0;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = tracepoint.id,
		.sample_period = 1,
	};
	int refusal;
	/* One event, on any CPU: the program runs for the tracepoint on all CPUs. */
	result = attach_event(hooks, programs->progs.on_tracepoint, &attr, -1, cpus->ids[0], cookie, &refusal);
	if (result == ERROR_MEMORY)
		return error_memory(error);
	errno = refusal;
	return result < 0 ? error_set_errno(error, "cannot attach a probe to %s", request->name) : 0;
}

/* --- all of it --- */

/* Attaches the programs whose section names their hook. */
static int attach_tracing(struct bpf_hooks *hooks, struct programs *programs, struct error *error)
{
	struct bpf_program *program;
	bpf_object__for_each_program(program, programs->obj)
	{
		if (bpf_program__type(program) != BPF_PROG_TYPE_TRACING || !bpf_program__autoload(program) ||
		    program == programs->progs.on_task)
			continue;
		struct bpf_link *link = bpf_program__attach_trace(program);
		if (!link)
			return error_set_errno(error, "cannot attach the eBPF program %s", bpf_program__name(program));
		if (add_link(hooks, link) < 0)
			return error_memory(error);
	}
	return 0;
}

int bpf_hooks_attach(struct bpf_hooks *hooks, struct programs *programs, const struct backend_request *request,
		     const struct cpus *cpus, struct error *error)
{
	int result = 0;
	for (size_t i = 0; i < request->resource_count && result == 0; i++) {
		const struct resource_request *resource = &request->resources[i];
		switch (bpf_source_of(resource->counter)) {
		case BPF_SOURCE_FUNCTION:
		case BPF_SOURCE_USDT:
			result = attach_to_functions(hooks, programs, request, i, error);
			break;
		case BPF_SOURCE_TRACEPOINT:
			result = attach_to_tracepoint(hooks, programs, resource, i, cpus, error);
			break;
		default:
			result = attach_to_cpus(hooks, programs, resource, i, cpus, error);
			break;
		}
	}
	/* All processes are wanted, or the kernel cannot trap the calls of a single one. */
	if (result == 0 && hooks->functions.count > 0 && (request->everything || !bpf_functions_can_limit()))
		result =
			bpf_functions_attach(&hooks->functions, bpf_program__fd(programs->progs.on_function), 0, error);
	return result < 0 ? result : attach_tracing(hooks, programs, error);
}

int bpf_hooks_limit(struct bpf_hooks *hooks, struct programs *programs, pid_t pid, struct error *error)
{
	if (hooks->functions.link_count > 0)
		return 0;
	return bpf_functions_attach(&hooks->functions, bpf_program__fd(programs->progs.on_function), pid, error);
}

struct widening {
	struct bpf_hooks *hooks;
	struct programs *programs;
};

static int copy_probe(void *context, uint64_t number, pid_t but_not, uint64_t *copy)
{
	struct widening *widening = context;
	struct bpf_probe probe;
	uint32_t key = (uint32_t)number;
	if (bpf_map_lookup_elem(bpf_map__fd(widening->programs->maps.probes), &key, &probe) < 0)
		return ERROR_SYSTEM;
	probe.but_not = (uint32_t)but_not;
	return add_probe(widening->hooks, widening->programs, &probe, copy, NULL);
}

int bpf_hooks_widen(struct bpf_hooks *hooks, struct programs *programs)
{
	struct widening widening = { hooks, programs };
	return bpf_functions_widen(&hooks->functions, bpf_program__fd(programs->progs.on_function), copy_probe,
				   &widening);
}
