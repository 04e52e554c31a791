#include "collect/sample/preload/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/sample/clock.h"
#include "collect/sample/preload/channel.h"
#include "collect/sample/preload/requests.h"
#include "collect/sample/stacks/sample_decode.h"
#include "collect/sample/state/proc.h"

struct preload_events *preload_events_new(struct preload_slots *slots, const struct backend_request *request)
{
	struct preload_events *events = calloc(1, sizeof(*events));
	if (!events)
		return NULL;
	events->slots = slots;
	events->request = request;
	events->start_ns = clock_now_ns(CLOCK_MONOTONIC);
	return events;
}

void preload_events_free(struct preload_events *events)
{
	free(events);
}

/* --- from /proc --- */

/* Reads the kernel's name of a thread, which other backends report too. Returns false if the thread has
 * ended. */
static bool find_name(char *name, size_t bytes, const struct preload_thread *thread)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", thread->pid, thread->tid);
	FILE *file = fopen(path, "re");
	bool found = file && fgets(name, (int)bytes, file);
	if (found)
		name[strcspn(name, "\n")] = 0;
	if (file)
		fclose(file);
	return found;
}

/* Returns the pid of the parent, or 0 if it is unknown. */
static uint32_t parent_of(uint32_t pid)
{
	uint64_t parent = 0;
	return proc_stat_read(pid, PROC_STAT_PARENT, &parent) ? (uint32_t)parent : 0;
}

/* --- code --- */

/* Lets the threads continue that wait until the code of their process is loaded. */
static void release_threads(struct preload_events *events, struct preload_process *process, uint32_t wanted)
{
	struct channel_process *shared = preload_slots_shared(events->slots, process);
	process->code_loaded = wanted;
	__atomic_store_n(&shared->code_loaded, wanted, __ATOMIC_RELEASE);
	preload_channel_wake(&shared->code_loaded);
}

/* Reports new code of a process, and lets the process continue. If another program has replaced it, /proc
 * shows that program's code, and is not read. */
static void update_code(struct preload_events *events, const struct preload_thread *thread,
			const struct backend_sink *sink, bool needs_reading)
{
	struct preload_process *process = &events->slots->processes[thread->process];
	const struct channel_process *shared = preload_slots_shared(events->slots, process);
	uint32_t wanted = __atomic_load_n(&shared->code_wanted, __ATOMIC_ACQUIRE);
	if (needs_reading && !process->is_replaced) {
		process->maps_read_ns = clock_now_ns(CLOCK_MONOTONIC);
		preload_maps_update(&process->maps, thread->pid, thread->tid, events->record.record.time_ns, sink);
	}
	sink->settled(sink->context); /* the process needs its code */
	release_threads(events, process, wanted);
}

/* A walk reached code that no event has reported: it was generated at run time, or loaded by the C library
 * itself. Reads the maps, so that later walks have the code, and the user-space fallback for this stack
 * too. */
static void find_code(struct preload_events *events, const struct preload_thread *thread,
		      const struct backend_sink *sink)
{
	static const uint64_t every_ns = 10 * 1000 * 1000;
	const struct preload_process *process = events->current;
	const struct channel_process *shared = preload_slots_shared(events->slots, process);
	bool is_itself = !process->is_dead && !process->is_replaced && process->execs_ns == 0 &&
			 __atomic_load_n(&shared->execs, __ATOMIC_ACQUIRE) == 0;
	/* Maps that were read after the sample have the code, if it is mapped at all. */
	if (is_itself && events->record.record.time_ns > process->maps_read_ns &&
	    clock_now_ns(CLOCK_MONOTONIC) >= process->maps_read_ns + every_ns)
		update_code(events, thread, sink, true);
}

/* --- events --- */

struct event {
	struct preload_events *events;
	struct preload_thread *thread;
	struct preload_process *process;
	const struct backend_sink *sink;
	const struct sample_record *record;
	const char *text; /* NUL-terminated */
};

static void report_name(const struct event *event, const char *name, bool is_exec)
{
	event->sink->name(event->sink->context, event->thread->pid, event->thread->tid, name, is_exec,
			  event->record->time_ns);
}

static void on_started(const struct event *event)
{
	const struct backend_sink *sink = event->sink;
	uint32_t pid = event->thread->pid;
	uint32_t parent = event->process->follows ? 0 : parent_of(pid);
	if (parent && preload_slots_find(event->events->slots, parent))
		sink->fork(sink->context, parent, pid, event->thread->tid, event->record->time_ns);
	char name[32];
	report_name(event, find_name(name, sizeof(name), event->thread) ? name : event->text, true);
	/* The process still waits for its code, so it transfers nothing meanwhile. */
	preload_slots_account(event->events->slots, event->process, false);
	update_code(event->events, event->thread, sink, true);
}

/* A forked process has its parent's code, if that is known. Its present maps may belong to another program
 * that it has executed meanwhile. */
static void on_forked(const struct event *event)
{
	const struct backend_sink *sink = event->sink;
	uint32_t pid = event->thread->pid;
	uint64_t parent_pid = (uint64_t)event->record->detail;
	struct preload_process *parent = NULL;
	if (parent_pid > 0 && parent_pid <= INT32_MAX && parent_pid != pid)
		parent = preload_slots_find(event->events->slots, (uint32_t)parent_pid);
	if (parent)
		sink->fork(sink->context, (uint32_t)parent_pid, pid, event->thread->tid, event->record->time_ns);
	bool has_maps =
		parent && parent->maps.count > 0 && preload_maps_copy(&event->process->maps, &parent->maps) == 0;
	char name[32];
	if (find_name(name, sizeof(name), event->thread))
		report_name(event, name, false);
	preload_slots_account(event->events->slots, event->process, true);
	update_code(event->events, event->thread, sink, !has_maps);
}

static void on_thread(const struct event *event)
{
	const struct preload_thread *thread = event->thread;
	event->sink->fork(event->sink->context, thread->pid, thread->pid, thread->tid, event->record->time_ns);
	if (event->text[0])
		report_name(event, event->text, false);
}

/* Reports the new name of a thread that was reported before. Other threads report their names when they
 * begin. */
static void on_named(const struct event *event)
{
	const struct preload_slots *slots = event->events->slots;
	for (size_t i = 0; i < CHANNEL_THREADS; i++) {
		const struct preload_thread *thread = &slots->threads[i];
		if (thread->is_known && thread->has_begun && thread->process == event->thread->process &&
		    thread->tid == event->record->about)
			event->sink->name(event->sink->context, thread->pid, thread->tid, event->text, false,
					  event->record->time_ns);
	}
}

static void on_exits(const struct event *event)
{
	event->thread->is_exit_reported = true;
	event->sink->exit(event->sink->context, event->thread->pid, event->thread->tid, event->record->time_ns);
}

/* One reading of the maps may serve several events. */
static void on_code(const struct event *event)
{
	const struct channel_process *shared = preload_slots_shared(event->events->slots, event->process);
	if (event->process->code_loaded != __atomic_load_n(&shared->code_wanted, __ATOMIC_ACQUIRE))
		update_code(event->events, event->thread, event->sink, true);
}

static void on_execs(const struct event *event)
{
	event->process->execs_ns = event->record->time_ns;
	event->process->absence =
		preload_starts_announced(&event->events->slots->starts, event->text, event->record->about);
}

static void on_resource(const struct event *event)
{
	const struct backend_request *request = event->events->request;
	uint32_t number = event->record->about;
	if (number >= request->resource_count || request->resources[number].counter != COUNTER_OWN)
		return;
	preload_declared_request(&event->events->declared, number);
	if (event->text[0])
		event->sink->unit(event->sink->context, number, event->text);
}

static void on_declared(const struct event *event)
{
	preload_declared_other(&event->events->declared, event->text);
}

static void on_labels(const struct event *event)
{
	if (event->record->about != 0)
		event->sink->labels(event->sink->context, event->record->about, event->text,
				    event->record->stack_bytes);
}

static void on_flush(const struct event *event)
{
	const struct channel_process *shared = preload_slots_shared(event->events->slots, event->process);
	event->process->flush_wanted = __atomic_load_n(&shared->flush_wanted, __ATOMIC_ACQUIRE);
	event->process->wants_flush = true;
	event->events->wants_flush = true;
}

static void report_event(struct preload_events *events, struct preload_thread *thread, const struct backend_sink *sink)
{
	static void (*const handlers[])(const struct event *event) = {
		[CHANNEL_STARTED] = on_started, [CHANNEL_FORKED] = on_forked,     [CHANNEL_THREAD] = on_thread,
		[CHANNEL_NAMED] = on_named,     [CHANNEL_EXITS] = on_exits,       [CHANNEL_CODE] = on_code,
		[CHANNEL_EXECS] = on_execs,     [CHANNEL_RESOURCE] = on_resource, [CHANNEL_LABELS] = on_labels,
		[CHANNEL_FLUSH] = on_flush,     [CHANNEL_DECLARED] = on_declared,
	};
	struct preload_record *record = &events->record;
	char text[CHANNEL_TEXT_BYTES + 1];
	memcpy(text, record->content, record->record.stack_bytes);
	text[record->record.stack_bytes] = 0;
	const struct event event = { .events = events,
				     .thread = thread,
				     .process = events->current,
				     .sink = sink,
				     .record = &record->record,
				     .text = text };
	if (record->record.end >= sizeof(handlers) / sizeof(handlers[0])) {
		preload_ring_give_up(&thread->ring);
		return;
	}
	if (record->record.end <= CHANNEL_THREAD)
		thread->has_begun = events->current->has_begun = true;
	handlers[record->record.end](&event);
}

/* --- samples --- */

static void report_sample(struct preload_events *events, struct preload_thread *thread, const struct backend_sink *sink)
{
	struct sample_record *record = &events->record.record;
	struct backend_sample sample;
	bool is_creation = record->request == SAMPLE_NO_REQUEST;
	if (record->end >= WALK_END_COUNT || (!is_creation && record->request >= events->request->resource_count)) {
		preload_ring_give_up(&thread->ring);
		return;
	}
	if (preload_waits_is_stack(record)) {
		preload_waits_store(thread, &events->record);
		return;
	}
	uint32_t creator_pid = record->pid;
	record->pid = thread->pid;
	if (record->kind == SAMPLE_FALLBACK && record->end == WALK_NO_CODE)
		find_code(events, thread, sink);
	decode_sample(record, events->record.content, SAMPLE_STACK_BYTES, events->stack, &sample);
	if (is_creation) {
		/* A process that did not begin with a copy of its creator's stack reports a path
		 * of the creator's process. */
		if (creator_pid != thread->pid && preload_slots_find(events->slots, creator_pid)) {
			sample.pid = creator_pid;
			sample.created_pid = thread->pid;
		}
		sink->creates(sink->context, &sample, thread->tid);
	} else {
		sample.tid = thread->tid;
		sample.labels = record->about;
		sample.amount = preload_gticks_of(events->request->resources[record->request].row, record->amount);
		sink->sample(sink->context, &sample);
	}
}

/* --- in order --- */

/* Returns the record's own time, or the time of the drain if the former is impossible. */
static uint64_t time_of(const struct preload_events *events, const struct sample_record *record)
{
	bool is_possible = record->time_ns >= events->start_ns && record->time_ns <= clock_now_ns(CLOCK_MONOTONIC);
	return is_possible ? record->time_ns : events->now_ns;
}

static void report_next(struct preload_events *events, struct preload_thread *thread, const struct backend_sink *sink)
{
	/* Other threads may still write records while the process executes another program. */
	static const uint64_t tolerated_ns = 2 * 1000 * 1000;
	struct sample_record *record = &events->record.record;
	uint64_t time_ns = time_of(events, preload_ring_peek(&thread->ring));
	preload_ring_take(&thread->ring, &events->record);
	record->time_ns = time_ns;
	events->current = &events->slots->processes[thread->process];
	if (time_ns > events->current->execs_ns + tolerated_ns)
		events->current->execs_ns = 0; /* the exec has failed */
	if (record->kind == CHANNEL_EVENT)
		report_event(events, thread, sink);
	else if (record->kind == SAMPLE_DESCRIPTION)
		sink->describes(sink->context, thread->pid, (const struct interpreted_code *)events->record.content,
				record->stack_bytes);
	else
		report_sample(events, thread, sink);
	events->current = NULL;
}

static void end_wait(struct preload_events *events, const struct preload_thread *thread, uint64_t end_ns,
		     const struct backend_sink *sink)
{
	preload_waits_end(events->slots, thread, events->request, events->start_ns, end_ns, events->stack, sink);
}

/* Returns whether the thread's slot still shows it as running: it has not announced its end. */
static bool was_alive(const struct preload_thread *thread)
{
	return __atomic_load_n(&thread->ring.shared->state, __ATOMIC_ACQUIRE) == CHANNEL_LIVE &&
	       __atomic_load_n(&thread->ring.shared->tid, __ATOMIC_RELAXED) == thread->tid;
}

static void finish(struct preload_events *events, uint32_t number, const struct backend_sink *sink)
{
	struct preload_thread *thread = &events->slots->threads[number];
	const struct preload_process *process = &events->slots->processes[thread->process];
	uint64_t end_ns = process->is_dead ? process->over_ns : events->now_ns;
	if (process->over_ns && was_alive(thread))
		end_wait(events, thread, process->over_ns, sink);
	if (thread->has_begun && !thread->is_exit_reported && !process->is_replaced)
		sink->exit(sink->context, thread->pid, thread->tid, end_ns);
	preload_slots_finish_thread(events->slots, number, events->now_ns);
}

/* Returns whether this is the first thread of its process. It is finished last, because the process is
 * forgotten with it. */
static bool is_first(const struct preload_thread *thread)
{
	return thread->tid == thread->pid;
}

/* Queues the next record of a thread, or finishes the thread if no more records will come. */
static void line_up(struct preload_events *events, uint32_t number, const struct backend_sink *sink)
{
	struct preload_thread *thread = &events->slots->threads[number];
	const struct sample_record *next = thread->is_known ? preload_ring_peek(&thread->ring) : NULL;
	if (next)
		preload_order_put(&events->order, time_of(events, next), number);
	else if (thread->is_known && thread->has_ended && !is_first(thread))
		finish(events, number, sink);
}

/* Finishes first threads, after all records of the other threads and of the child processes were reported. */
static void finish_first(struct preload_events *events, bool all, const struct backend_sink *sink)
{
	for (uint32_t i = 0; i < CHANNEL_THREADS; i++) {
		struct preload_thread *thread = &events->slots->threads[i];
		const struct preload_process *process = &events->slots->processes[thread->process];
		bool is_last = thread->is_known && thread->has_ended && is_first(thread) && process->threads == 1;
		if (is_last && !preload_ring_peek(&thread->ring) &&
		    (all || !preload_slots_lingers(process, events->now_ns)))
			finish(events, i, sink);
	}
}

/* Ends the waits of threads that still run when the recording ends. */
static void end_waits(struct preload_events *events, const struct backend_sink *sink)
{
	for (size_t i = 0; i < CHANNEL_THREADS; i++) {
		const struct preload_thread *thread = &events->slots->threads[i];
		if (thread->is_known && !thread->has_ended && was_alive(thread))
			end_wait(events, thread, events->now_ns, sink);
	}
}

void preload_events_drain(struct preload_events *events, bool all, const struct backend_sink *sink)
{
	events->now_ns = clock_now_ns(CLOCK_MONOTONIC);
	events->order.count = 0;
	preload_slots_update(events->slots, events->now_ns);
	for (uint32_t i = 0; i < CHANNEL_THREADS; i++)
		line_up(events, i, sink);
	while (events->order.count > 0) {
		if (events->order.turns[0].time_ns > events->now_ns && !all)
			break;
		uint32_t number = preload_order_take(&events->order);
		report_next(events, &events->slots->threads[number], sink);
		line_up(events, number, sink);
	}
	finish_first(events, all, sink);
	if (all)
		end_waits(events, sink);
	preload_slots_finish_processes(events->slots, events->now_ns);
}

void preload_events_flushed(struct preload_events *events)
{
	events->wants_flush = false;
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++) {
		struct preload_process *process = &events->slots->processes[i];
		struct channel_process *shared = preload_slots_shared(events->slots, process);
		if (!process->is_known || !process->wants_flush)
			continue;
		process->wants_flush = false;
		__atomic_store_n(&shared->flush_done, process->flush_wanted, __ATOMIC_RELEASE);
		preload_channel_wake(&shared->flush_done);
	}
}
