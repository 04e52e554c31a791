#include "collect/sample/sample_sink.h"

#include <stdlib.h>

#include "base/array.h"

int sample_sink_init(struct sample_sink *sink, struct error *error)
{
	*sink = (struct sample_sink){ .profile = profile_new(), .weight = 1, .marker_location = PROFILE_NONE };
	label_numbers_init(&sink->labels);
	hash_map_init(&sink->changed);
	if (sink->profile)
		sink->modules = modules_new(sink->profile);
	if (sink->modules)
		sink->processes = processes_new(sink->profile, sink->modules);
	if (sink->processes)
		sink->stacks = stacks_new(sink->profile, sink->processes, sink->modules);
	if (sink->stacks)
		return 0;
	sample_sink_release(sink);
	return error_memory(error);
}

void sample_sink_release(struct sample_sink *sink)
{
	stacks_free(sink->stacks);
	processes_free(sink->processes);
	modules_free(sink->modules);
	profile_free(sink->profile);
	free(sink->code);
	hash_map_release(&sink->changed);
	label_numbers_release(&sink->labels);
	*sink = (struct sample_sink){ 0 };
}

void sample_sink_set_code_loader(struct sample_sink *sink, sample_sink_load_code *load_code, void *context)
{
	sink->load_code = load_code;
	sink->load_context = context;
}

void sample_sink_load_late(struct sample_sink *sink)
{
	sink->loads_late = true;
	modules_make_parts(sink->modules);
	processes_read_owners_late(sink->processes);
}

void sample_sink_set_observer(struct sample_sink *sink, sample_sink_on_event *on_event, void *context)
{
	sink->on_event = on_event;
	sink->event_context = context;
}

/* --- the sink --- */

static void note_failure(struct sample_sink *sink, int result)
{
	if (result < 0)
		sink->out_of_memory = true;
}

static int add_touch(struct sample_sink *sink, const struct backend_sample *sample, struct thread *thread,
		     uint32_t node)
{
	struct process *process = processes_of(sink->processes, thread);
	struct profile_touch touch = { .time_ns = sample->time_ns,
				       .address = sample->touched,
				       .node = node,
				       .thread = thread->id,
				       .resource = sample->request,
				       .count = sample->hits * sink->weight };
	touch.mapping = processes_name_of_memory(sink->processes, process, sample->touched);
	int64_t added = profile_add_touch(sink->profile, &touch);
	return added < 0 ? (int)added : 0;
}

static int add_hit(struct sample_sink *sink, const struct backend_sample *sample, uint32_t thread, uint32_t node)
{
	struct profile *profile = sink->profile;
	size_t first = profile->hit_count;
	int result =
		profile_add_hit(profile, sample->time_ns, thread, node, sample->request, sample->hits * sink->weight);
	uint32_t labels = label_numbers_get(&sink->labels, sample->labels);
	return result < 0 ? result : profile_label_hits(profile, first, labels);
}

static void notify_observer(struct sample_sink *sink, const struct backend_sample *sample, uint32_t thread,
			    uint32_t node)
{
	const struct profile *profile = sink->profile;
	struct sample_sink_position position = { .thread = thread, .node = node };
	if (profile->hit_count > 0)
		position.label_set = profile_hit_labels(profile, profile->hit_count - 1);
	sink->on_event(sink->event_context, sample, &position);
}

/* Counts a sample for which there was no memory. */
static void lose(struct sample_sink *sink, const struct backend_sample *sample)
{
	sink->profile->lost++;
	sink->dropped_no_memory++;
	sink->dropped_hits[sample->request] += sample->hits;
}

/* Notes that the code of a process has changed. */
static void note_code(struct sample_sink *sink, uint32_t pid)
{
	uint32_t number;
	if (sink->load_code && hash_map_number(&sink->changed, pid, &number) < 0)
		sink->out_of_memory = true;
}

/* Notes that the backend has copied a stack. It gets the code of a process then: most programs that start all the time end without a sample. */
static void note_copied(struct sample_sink *sink, const struct backend_sample *sample)
{
	struct process *process =
		sink->loads_late && sample->has_registers ? processes_find(sink->processes, sample->pid) : NULL;
	if (!process)
		return;
	process->has_copied_stack = true;
	/* The walk did not see what code is on the rest of the stack. */
	if (stacks_is_cut(sink->stacks) && !process->needs_all) {
		process->needs_all = true;
		process->is_code_passed = false;
	}
	if (!process->is_code_passed || process->walked != modules_walked(sink->modules))
		note_code(sink, sample->pid);
}

static void find_moved_text(struct sample_sink *sink)
{
	uint32_t pid;
	while (processes_find_moved_text(sink->processes, &pid))
		note_code(sink, pid);
}

static void on_sample(void *context, const struct backend_sample *sample)
{
	struct sample_sink *sink = context;
	if (sink->out_of_memory) {
		lose(sink, sample);
		return;
	}
	if (sink->is_full) {
		sink->profile->lost++;
		sink->dropped_disk_full++;
		sink->dropped_hits[sample->request] += sample->hits;
		return;
	}
	find_moved_text(sink);
	struct thread *thread = processes_thread(sink->processes, sample->pid, sample->tid);
	int64_t node = thread && processes_sampled(sink->processes, thread) == 0
			       ? stacks_add(sink->stacks, thread, sample)
			       : ERROR_MEMORY;
	if (node < 0 || add_hit(sink, sample, thread->id, (uint32_t)node) < 0) {
		sink->out_of_memory = true;
		lose(sink, sample);
		return;
	}
	sink->samples++;
	uint64_t hits = sample->hits * sink->weight;
	sink->hits[sample->request] += hits;
	sink->squares[sample->request] += (double)hits * (double)hits;
	if (sample->has_touched)
		note_failure(sink, add_touch(sink, sample, thread, (uint32_t)node));
	if (sink->on_event)
		notify_observer(sink, sample, thread->id, (uint32_t)node);
	note_copied(sink, sample);
}

/* Returns whether the backend does not get the code of a process yet. It notes an interpreter's frames only with the code, so it gets that at once. */
static bool is_late(const struct sample_sink *sink, const struct process *process)
{
	return sink->loads_late && !process->has_copied_stack && !process->is_interpreted;
}

/* Passes the present code of a process to the backend. */
static void pass_code(struct sample_sink *sink, uint32_t pid)
{
	struct process *process = processes_find(sink->processes, pid);
	bool has_code = process && !is_late(sink, process);
	if (process && !has_code && !process->is_code_passed)
		return;
	/* A process without code may have given its place to another one. */
	int64_t count = has_code ? processes_list_code(sink->processes, process, &sink->code, &sink->code_capacity) : 0;
	if (count < 0) {
		sink->out_of_memory = true;
		return;
	}
	if (process) {
		process->is_code_passed = count > 0;
		process->walked = modules_walked(sink->modules);
	}
	if (sink->load_code(sink->load_context, pid, sink->code, (size_t)count) < 0)
		sink->codes_not_loaded++;
}

/* The code is passed once for all changes since the last time: a process may map thousands of files at once. */
static void on_settled(void *context)
{
	struct sample_sink *sink = context;
	struct hash_map *changed = &sink->changed;
	find_moved_text(sink);
	for (size_t i = 0; i < changed->slot_count && changed->count > 0; i++)
		if (changed->slots[i].value != HASH_MAP_NONE)
			pass_code(sink, (uint32_t)changed->slots[i].key);
	if (changed->count > 0)
		hash_map_clear(changed);
	modules_settle(sink->modules);
}

static void on_map(void *context, const struct backend_map *map)
{
	struct sample_sink *sink = context;
	note_failure(sink, processes_map(sink->processes, map));
	if (!map->is_data)
		note_code(sink, map->pid);
}

static void on_name(void *context, uint32_t pid, uint32_t tid, const char *name, bool is_exec, uint64_t time_ns)
{
	struct sample_sink *sink = context;
	note_failure(sink, processes_name(sink->processes, pid, tid, name, is_exec, time_ns));
	if (is_exec)
		note_code(sink, pid);
}

static void on_fork(void *context, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct sample_sink *sink = context;
	note_failure(sink, processes_fork(sink->processes, parent_pid, pid, tid, time_ns));
	if (parent_pid != pid)
		note_code(sink, pid);
}

static void on_thread_exit(void *context, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct sample_sink *sink = context;
	if (processes_exit(sink->processes, pid, tid, time_ns))
		note_code(sink, pid);
}

/* Returns the location of a name without an address, or a negative error. */
static int64_t add_name(struct sample_sink *sink, const char *name, enum module_kind kind)
{
	int64_t module = modules_add_name(sink->modules, name, kind);
	if (module < 0)
		return module;
	uint32_t id = modules_get(sink->modules, (uint32_t)module, NULL, false)->id;
	return profile_add_location(sink->profile, id, 0);
}

/* Adds the node that marks the start of a thread, below the path `node`. Returns the node, or a negative
 * error. */
static int64_t add_marker(struct sample_sink *sink, uint32_t node)
{
	if (sink->marker_location == PROFILE_NONE) {
		int64_t location = add_name(sink, "[thread]", MODULE_THREAD);
		if (location < 0)
			return location;
		sink->marker_location = (uint32_t)location;
	}
	return profile_add_node(sink->profile, node, sink->marker_location);
}

/* Returns the node below which the paths of a thread begin that `creator` starts, or a negative error.
 * Sets *markers to the number of thread starts on the way to that node. */
static int64_t find_base(struct sample_sink *sink, struct thread *creator, const struct backend_sample *sample,
			 uint32_t *markers)
{
	*markers = creator->base_markers;
	if (creator->base_markers == THREAD_MARKERS_MAX)
		return creator->base_node;
	int64_t node = stacks_add_uncounted(sink->stacks, creator, sample);
	if (node == PROFILE_ROOT) /* a broken path leads to no known start */
		*markers = 0;
	if (node <= 0)
		return node;
	++*markers;
	return add_marker(sink, (uint32_t)node);
}

static void on_creates(void *context, const struct backend_sample *sample, uint32_t tid)
{
	struct sample_sink *sink = context;
	if (sink->out_of_memory)
		return;
	struct thread *creator = processes_thread(sink->processes, sample->pid, sample->tid);
	uint32_t markers = 0;
	int64_t node = creator ? find_base(sink, creator, sample, &markers) : ERROR_MEMORY;
	note_copied(sink, sample);
	struct start start = { .pid = sample->created_pid ? sample->created_pid : sample->pid,
			       .node = (uint32_t)node,
			       .markers = markers,
			       .time_ns = sample->time_ns,
			       .copied = sample->may_be_copied ? stacks_outermost_sp(sink->stacks) : 0 };
	if (node >= 0 && sample->may_be_copied && start.copied == 0)
		return; /* nothing would distinguish a copy from another stack */
	note_failure(sink, node < 0 ? (int)node : processes_starts(sink->processes, tid, &start));
}

static void on_labels(void *context, uint32_t number, const char *text, size_t bytes)
{
	struct sample_sink *sink = context;
	note_failure(sink, label_numbers_define(&sink->labels, sink->profile, number, text, bytes));
}

static void on_describes(void *context, uint32_t pid, const struct interpreted_code *code, size_t bytes)
{
	struct sample_sink *sink = context;
	note_failure(sink, stacks_describe(sink->stacks, pid, code, bytes));
}

/* The writer detects that the resource has changed, at whatever time this happens. */
static void on_unit(void *context, uint32_t request, const char *unit)
{
	struct sample_sink *sink = context;
	int64_t text = profile_add_string(sink->profile, unit);
	if (text >= 0)
		sink->profile->resources[request].unit = (uint32_t)text;
	else
		sink->out_of_memory = true;
}

static void on_lost(void *context, uint64_t samples)
{
	struct sample_sink *sink = context;
	sink->profile->lost += samples;
}

static void on_lost_events(void *context, uint64_t events)
{
	struct sample_sink *sink = context;
	sink->lost_events += events;
}

static void on_throttled(void *context)
{
	struct sample_sink *sink = context;
	sink->throttled++;
}

struct backend_sink sample_sink_for_backend(struct sample_sink *sink)
{
	return (struct backend_sink){
		.context = sink,
		.sample = on_sample,
		.map = on_map,
		.name = on_name,
		.fork = on_fork,
		.exit = on_thread_exit,
		.creates = on_creates,
		.labels = on_labels,
		.describes = on_describes,
		.unit = on_unit,
		.lost = on_lost,
		.lost_events = on_lost_events,
		.throttled = on_throttled,
		.settled = on_settled,
	};
}

int sample_sink_add_unsampled(struct sample_sink *sink, uint32_t request, uint64_t hits)
{
	int64_t location = add_name(sink, "[not sampled]", MODULE_KERNEL);
	int64_t node = location < 0 ? location : profile_add_node(sink->profile, PROFILE_ROOT, (uint32_t)location);
	return node < 0 ? (int)node : profile_add_hit(sink->profile, 0, PROFILE_NONE, (uint32_t)node, request, hits);
}

/* --- description --- */

int sample_sink_add_resources(struct sample_sink *sink, const struct backend_request *request, const char *backend)
{
	struct profile *profile = sink->profile;
	for (size_t i = 0; i < request->resource_count; i++) {
		const struct resource_request *asked = &request->resources[i];
		const struct resource_row *row = asked->row;
		bool user_only = request->user_mode_only && row->modes == RESOURCE_ALL_MODES;
		const char *texts[] = { asked->name, asked->title, asked->gtick, backend,
					user_only ? "user mode only" : "" };
		uint32_t ids[5];
		for (size_t j = 0; j < 5; j++) {
			int64_t id = profile_add_string(profile, texts[j]);
			if (id < 0)
				return (int)id;
			ids[j] = (uint32_t)id;
		}
		struct profile_resource resource = { .name = ids[0],
						     .title = ids[1],
						     .unit = ids[2],
						     .backend = ids[3],
						     .note = ids[4],
						     .kind = RESOURCE_SAMPLED,
						     .interval = asked->interval / sink->weight };
		int64_t added = profile_add_resource(profile, &resource);
		if (added < 0)
			return (int)added;
	}
	return 0;
}
