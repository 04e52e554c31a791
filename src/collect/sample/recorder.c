#include "collect/sample/recorder.h"

#include <stdlib.h>

#include "base/array.h"

int recorder_init(struct recorder *recorder, struct error *error)
{
	*recorder = (struct recorder){ .profile = profile_new(), .marker_location = PROFILE_NONE };
	label_numbers_init(&recorder->labels);
	hash_map_init(&recorder->changed);
	if (recorder->profile)
		recorder->modules = modules_new(recorder->profile);
	if (recorder->modules)
		recorder->processes = processes_new(recorder->profile, recorder->modules);
	if (recorder->processes)
		recorder->stacks = stacks_new(recorder->profile, recorder->processes, recorder->modules);
	if (recorder->stacks)
		return 0;
	recorder_release(recorder);
	return error_memory(error);
}

void recorder_release(struct recorder *recorder)
{
	stacks_free(recorder->stacks);
	processes_free(recorder->processes);
	modules_free(recorder->modules);
	profile_free(recorder->profile);
	free(recorder->code);
	hash_map_release(&recorder->changed);
	label_numbers_release(&recorder->labels);
	*recorder = (struct recorder){ 0 };
}

void recorder_set_code_loader(struct recorder *recorder, recorder_load_code *load_code, void *context)
{
	recorder->load_code = load_code;
	recorder->load_context = context;
}

void recorder_set_observer(struct recorder *recorder, recorder_on_event *on_event, void *context)
{
	recorder->on_event = on_event;
	recorder->event_context = context;
}

/* --- the sink --- */

static void note_failure(struct recorder *recorder, int result)
{
	if (result < 0)
		recorder->out_of_memory = true;
}

static int add_touch(struct recorder *recorder, const struct backend_sample *sample, struct thread *thread,
		     uint32_t node)
{
	struct process *process = processes_of(recorder->processes, thread);
	struct profile_touch touch = { .time_ns = sample->time_ns,
				       .address = sample->touched,
				       .node = node,
				       .thread = thread->id,
				       .resource = sample->request,
				       .count = sample->hits };
	touch.mapping = processes_name_of_memory(recorder->processes, process, sample->touched);
	int64_t added = profile_add_touch(recorder->profile, &touch);
	return added < 0 ? (int)added : 0;
}

static int add_hit(struct recorder *recorder, const struct backend_sample *sample, uint32_t thread, uint32_t node)
{
	struct profile *profile = recorder->profile;
	size_t first = profile->hit_count;
	int result = profile_add_hit(profile, sample->time_ns, thread, node, sample->request, sample->hits);
	uint32_t labels = label_numbers_get(&recorder->labels, sample->labels);
	return result < 0 ? result : profile_label_hits(profile, first, labels);
}

static void notify_observer(struct recorder *recorder, const struct backend_sample *sample, uint32_t thread,
			    uint32_t node)
{
	const struct profile *profile = recorder->profile;
	struct recorder_position position = { .thread = thread, .node = node };
	if (profile->hit_count > 0)
		position.label_set = profile_hit_labels(profile, profile->hit_count - 1);
	recorder->on_event(recorder->event_context, sample, &position);
}

/* Counts a sample for which there was no memory. */
static void lose(struct recorder *recorder, const struct backend_sample *sample)
{
	recorder->profile->lost++;
	recorder->forgotten++;
	recorder->forgotten_hits[sample->request] += sample->hits;
}

/* Notes that the code of a process has changed. */
static void note_code(struct recorder *recorder, uint32_t pid)
{
	uint32_t number;
	if (recorder->load_code && hash_map_number(&recorder->changed, pid, &number) < 0)
		recorder->out_of_memory = true;
}

static void find_moved_text(struct recorder *recorder)
{
	uint32_t pid;
	while (processes_find_moved_text(recorder->processes, &pid))
		note_code(recorder, pid);
}

static void on_sample(void *context, const struct backend_sample *sample)
{
	struct recorder *recorder = context;
	if (recorder->out_of_memory) {
		lose(recorder, sample);
		return;
	}
	if (recorder->is_full) {
		recorder->profile->lost++;
		recorder->not_kept++;
		recorder->forgotten_hits[sample->request] += sample->hits;
		return;
	}
	find_moved_text(recorder);
	struct thread *thread = processes_thread(recorder->processes, sample->pid, sample->tid);
	int64_t node = thread ? stacks_add(recorder->stacks, thread, sample) : ERROR_MEMORY;
	if (node < 0 || add_hit(recorder, sample, thread->id, (uint32_t)node) < 0) {
		recorder->out_of_memory = true;
		lose(recorder, sample);
		return;
	}
	recorder->samples++;
	recorder->hits[sample->request] += sample->hits;
	recorder->squares[sample->request] += (double)sample->hits * (double)sample->hits;
	if (sample->has_touched)
		note_failure(recorder, add_touch(recorder, sample, thread, (uint32_t)node));
	if (recorder->on_event)
		notify_observer(recorder, sample, thread->id, (uint32_t)node);
}

/* Passes the present code of a process to the backend. */
static void pass_code(struct recorder *recorder, uint32_t pid)
{
	struct process *process = processes_find(recorder->processes, pid);
	if (!process)
		return;
	size_t count = process->code.count;
	if (ARRAY_RESERVE(recorder->code, recorder->code_capacity, count) < 0) {
		recorder->out_of_memory = true;
		return;
	}
	processes_list_code(recorder->processes, process, recorder->code);
	if (recorder->load_code(recorder->load_context, pid, recorder->code, count) < 0)
		recorder->codes_not_loaded++;
}

/* The code is passed once for all changes since the last time: a process may map thousands of files at once. */
static void on_settled(void *context)
{
	struct recorder *recorder = context;
	struct hash_map *changed = &recorder->changed;
	find_moved_text(recorder);
	for (size_t i = 0; i < changed->slot_count && changed->count > 0; i++)
		if (changed->slots[i].value != HASH_MAP_NONE)
			pass_code(recorder, (uint32_t)changed->slots[i].key);
	if (changed->count > 0)
		hash_map_clear(changed);
}

static void on_map(void *context, const struct backend_map *map)
{
	struct recorder *recorder = context;
	note_failure(recorder, processes_map(recorder->processes, map));
	if (!map->is_data)
		note_code(recorder, map->pid);
}

static void on_name(void *context, uint32_t pid, uint32_t tid, const char *name, bool is_exec, uint64_t time_ns)
{
	struct recorder *recorder = context;
	note_failure(recorder, processes_name(recorder->processes, pid, tid, name, is_exec, time_ns));
	if (is_exec)
		note_code(recorder, pid);
}

static void on_fork(void *context, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct recorder *recorder = context;
	note_failure(recorder, processes_fork(recorder->processes, parent_pid, pid, tid, time_ns));
	if (parent_pid != pid)
		note_code(recorder, pid);
}

static void on_thread_exit(void *context, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct recorder *recorder = context;
	if (processes_exit(recorder->processes, pid, tid, time_ns))
		note_code(recorder, pid);
}

/* Returns the location of a name without an address, or a negative error. */
static int64_t add_name(struct recorder *recorder, const char *name, enum module_kind kind)
{
	int64_t module = modules_add_name(recorder->modules, name, kind);
	if (module < 0)
		return module;
	uint32_t id = modules_get(recorder->modules, (uint32_t)module, NULL, false)->id;
	return profile_add_location(recorder->profile, id, 0);
}

/* Adds the node that marks the start of a thread, below the path `node`. Returns the node, or a negative
 * error. */
static int64_t add_marker(struct recorder *recorder, uint32_t node)
{
	if (recorder->marker_location == PROFILE_NONE) {
		int64_t location = add_name(recorder, "[thread]", MODULE_THREAD);
		if (location < 0)
			return location;
		recorder->marker_location = (uint32_t)location;
	}
	return profile_add_node(recorder->profile, node, recorder->marker_location);
}

/* Returns the node below which the paths of a thread begin that `creator` starts, or a negative error.
 * Sets *markers to the number of thread starts on the way to that node. */
static int64_t find_base(struct recorder *recorder, struct thread *creator, const struct backend_sample *sample,
			 uint32_t *markers)
{
	*markers = creator->base_markers;
	if (creator->base_markers == THREAD_MARKERS_MAX)
		return creator->base_node;
	int64_t node = stacks_add_uncounted(recorder->stacks, creator, sample);
	if (node == PROFILE_ROOT) /* a broken path leads to no known start */
		*markers = 0;
	if (node <= 0)
		return node;
	++*markers;
	return add_marker(recorder, (uint32_t)node);
}

static void on_creates(void *context, const struct backend_sample *sample, uint32_t tid)
{
	struct recorder *recorder = context;
	if (recorder->out_of_memory)
		return;
	struct thread *creator = processes_thread(recorder->processes, sample->pid, sample->tid);
	uint32_t markers = 0;
	int64_t node = creator ? find_base(recorder, creator, sample, &markers) : ERROR_MEMORY;
	struct start start = { .pid = sample->created_pid ? sample->created_pid : sample->pid,
			       .node = (uint32_t)node,
			       .markers = markers,
			       .time_ns = sample->time_ns,
			       .copied = sample->may_be_copied ? stacks_outermost_sp(recorder->stacks) : 0 };
	if (node >= 0 && sample->may_be_copied && start.copied == 0)
		return; /* nothing would distinguish a copy from another stack */
	note_failure(recorder, node < 0 ? (int)node : processes_starts(recorder->processes, tid, &start));
}

static void on_labels(void *context, uint32_t number, const char *text, size_t bytes)
{
	struct recorder *recorder = context;
	note_failure(recorder, label_numbers_define(&recorder->labels, recorder->profile, number, text, bytes));
}

static void on_describes(void *context, uint32_t pid, const struct interpreted_code *code, size_t bytes)
{
	struct recorder *recorder = context;
	note_failure(recorder, stacks_describe(recorder->stacks, pid, code, bytes));
}

/* The writer detects that the resource has changed, at whatever time this happens. */
static void on_unit(void *context, uint32_t request, const char *unit)
{
	struct recorder *recorder = context;
	int64_t text = profile_add_string(recorder->profile, unit);
	if (text >= 0)
		recorder->profile->resources[request].unit = (uint32_t)text;
	else
		recorder->out_of_memory = true;
}

static void on_lost(void *context, uint64_t samples)
{
	struct recorder *recorder = context;
	recorder->profile->lost += samples;
}

static void on_lost_events(void *context, uint64_t events)
{
	struct recorder *recorder = context;
	recorder->lost_events += events;
}

static void on_throttled(void *context)
{
	struct recorder *recorder = context;
	recorder->throttled++;
}

struct backend_sink recorder_sink(struct recorder *recorder)
{
	return (struct backend_sink){
		.context = recorder,
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

int recorder_add_unsampled(struct recorder *recorder, uint32_t request, uint64_t hits)
{
	int64_t location = add_name(recorder, "[not sampled]", MODULE_KERNEL);
	int64_t node = location < 0 ? location : profile_add_node(recorder->profile, PROFILE_ROOT, (uint32_t)location);
	return node < 0 ? (int)node
			: profile_add_hit(recorder->profile, 0, PROFILE_NONE, (uint32_t)node, request, hits);
}

/* --- description --- */

int recorder_add_resources(struct recorder *recorder, const struct backend_request *request, const char *backend)
{
	struct profile *profile = recorder->profile;
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
						     .interval = asked->interval };
		int64_t added = profile_add_resource(profile, &resource);
		if (added < 0)
			return (int)added;
	}
	return 0;
}
