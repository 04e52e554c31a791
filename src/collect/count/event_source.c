#include "collect/count/event_source.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/path.h"
#include "collect/count/events.h"
#include "frames/frames.h"

/* Calls that end before the next event: the open calls from `path` outwards, up to its ancestor `until`, which stays
 * open. */
struct leaving {
	uint32_t path, until;
	uint64_t ticks;
};

struct source {
	struct event_source base;
	struct tally *tally;
	struct profile *names; /* its locations have names */
	struct buffer text;    /* "MODULE+0xADDRESS", for a location without a name */
	size_t next_thread;
	/* The thread whose events are being read, or NULL. */
	const struct count_thread *thread;
	struct tally_events events;
	bool *is_open;       /* by path: its last `enter` has no `leave` yet, and it may go on */
	uint32_t open_count; /* of them */
	uint32_t entered;    /* the path of the last ENTER; calls that are open are on it, except after a jump */
	uint32_t current;    /* path */
	bool has_stayed;     /* the last event was a LEAVE to the path that was current already */
	bool leaves, all_report_exits; /* the process has hooks that report exits; it has no other hooks */
	struct leaving leaving;
	bool is_entering; /* report that `current` was entered, after `leaving` */
	uint64_t enter_ticks;
};

/* --- fields of an event --- */

static uint64_t since_start_ns(const struct source *source, uint64_t ticks)
{
	const struct count_process *process = &source->tally->processes[source->thread->process];
	uint64_t start = process->shared->start_ticks, began = source->tally->header.start_ns;
	uint64_t now = process->shared->start_ns + (ticks > start ? tally_ns(process, ticks - start) : 0);
	return now > began ? now - began : 0;
}

static void set_event(const struct source *source, enum event_kind kind, uint64_t ticks, struct event *event)
{
	*event = (struct event){ .kind = kind,
				 .time_ns = since_start_ns(source, ticks),
				 .process = source->tally->processes[source->thread->process].shared->pid,
				 .thread = source->thread->shared->tid };
}

/* `outwards` counts the location's frames from the innermost one to the function's; UINT32_MAX: the outermost.
 * Returns 1 or a negative error. */
static int set_function(struct source *source, int64_t id, uint32_t outwards, struct event *event)
{
	const struct profile *names = source->names;
	if (id < 0)
		return (int)id;
	const struct profile_location *location = &names->locations[id];
	if (location->first_frame == PROFILE_NONE || location->frame_count == 0) {
		const char *path = profile_string(names, names->modules[location->module].path);
		buffer_clear(&source->text);
		buffer_printf(&source->text, "%s+0x%" PRIx64, path_basename(path), location->address);
		buffer_append_byte(&source->text, 0);
		event->function = (const char *)source->text.bytes;
		return buffer_error(&source->text) ? ERROR_MEMORY : 1;
	}
	uint32_t last = location->frame_count - 1;
	uint32_t frame = location->first_frame + (outwards < last ? outwards : last);
	event->function = profile_string(names, names->functions[names->frames[frame].function].name);
	return 1;
}

static int set_path(struct source *source, enum event_kind kind, uint64_t ticks, uint32_t path, struct event *event)
{
	uint32_t process = source->thread->process;
	set_event(source, kind, ticks, event);
	return set_function(
		source,
		tally_entry_location(source->tally, source->names, process, source->thread->tree.paths[path].function),
		UINT32_MAX, event);
}

static int set_sample(struct source *source, const struct tally_event *raw, struct event *event)
{
	uint32_t process = source->thread->process;
	set_event(source, EVENT_SAMPLE, raw->ticks, event);
	if (tally_is_runtime(source->tally, process, raw->pc)) {
		event->function = "[hooks]";
		return 1;
	}
	return set_function(source, tally_location(source->tally, source->names, process, raw->pc), 0, event);
}

/* --- from changes of the path to ENTER and LEAVE --- */

static bool is_below(const struct count_tree *tree, uint32_t path, uint32_t ancestor)
{
	while (path != TALLY_NONE && path > ancestor)
		path = tree->paths[path].parent;
	return path == ancestor;
}

static void leave_to(struct source *source, uint64_t ticks, uint32_t path)
{
	source->leaving = (struct leaving){ .path = source->current, .until = path, .ticks = ticks };
}

static void set_open(struct source *source, uint32_t path, bool is_open)
{
	source->open_count += is_open;
	source->open_count -= source->is_open[path];
	source->is_open[path] = is_open;
}

/* Forgets the calls that have ended because the thread is in `path` now, without a report of their ends. */
static void drop_ended_calls(struct source *source, uint32_t path)
{
	const struct count_tree *tree = &source->thread->tree;
	/* A parent has a smaller number than its children, so the two meet at their common ancestor. */
	for (uint32_t ended = source->entered; ended != path;) {
		if (ended < path) {
			path = tree->paths[path].parent;
			continue;
		}
		set_open(source, ended, false);
		ended = tree->paths[ended].parent;
	}
}

/* An ENTER ends the calls that are open below its caller, even if no hook reported their exits. */
static void take_enter(struct source *source, const struct tally_event *raw)
{
	const struct count_tree *tree = &source->thread->tree;
	uint32_t parent = tree->paths[raw->path].parent;
	if (source->all_report_exits && parent != TALLY_NONE && is_below(tree, source->current, parent))
		leave_to(source, raw->ticks, parent);
	else if (!source->all_report_exits && parent != TALLY_NONE)
		drop_ended_calls(source, parent);
	source->current = source->entered = raw->path;
	source->has_stayed = false;
	source->is_entering = true;
	source->enter_ticks = raw->ticks;
}

static void take_leave(struct source *source, const struct tally_event *raw)
{
	/* Path timing stops here: the thread exits within its calls, or continues them later. */
	if (source->has_stayed && raw->path == COUNT_ROOT)
		return;
	source->has_stayed = raw->path == source->current;
	if (source->leaves && is_below(&source->thread->tree, source->current, raw->path))
		leave_to(source, raw->ticks, raw->path);
	source->current = raw->path;
}

/* Reports the last change of the path, one event per call. Returns 1, 0 if everything was reported, or a negative
 * error. */
static int report_change(struct source *source, struct event *event)
{
	struct leaving *leaving = &source->leaving;
	while (leaving->path != leaving->until) {
		uint32_t left = leaving->path;
		leaving->path = source->thread->tree.paths[left].parent;
		if (!source->is_open[left])
			continue;
		set_open(source, left, false);
		return set_path(source, EVENT_LEAVE, leaving->ticks, left, event);
	}
	if (!source->is_entering)
		return 0;
	source->is_entering = false;
	int status = set_path(source, EVENT_ENTER, source->enter_ticks, source->current, event);
	event->depth = source->open_count;
	set_open(source, source->current, true);
	return status;
}

/* Processes an event of the thread. Returns 1 if it filled in `event`, 0 if the path changed (see report_change), or
 * a negative error. */
static int take(struct source *source, const struct tally_event *raw, struct event *event)
{
	switch (raw->kind) {
	case TALLY_EVENT_ENTER:
		take_enter(source, raw);
		return 0;
	case TALLY_EVENT_LEAVE:
		take_leave(source, raw);
		return 0;
	default:
		break;
	}
	if (raw->other == TALLY_EVENT_TICK)
		return set_sample(source, raw, event);
	set_event(source, EVENT_USER, raw->ticks, event);
	event->id = raw->id;
	event->value = raw->value;
	return 1;
}

/* --- thread after thread --- */

static int begin_thread(struct source *source)
{
	const struct count_thread *thread = &source->tally->threads[source->next_thread++];
	uint32_t hooks = source->tally->processes[thread->process].shared->hooks;
	source->is_open = calloc(thread->tree.path_count, sizeof(*source->is_open));
	int status = source->is_open ? tally_events_begin(&source->events, source->tally, thread) : ERROR_MEMORY;
	if (status < 0) {
		free(source->is_open);
		source->is_open = NULL;
		return status;
	}
	source->thread = thread;
	source->open_count = 0;
	source->current = source->entered = COUNT_ROOT;
	source->has_stayed = false;
	source->leaves = hooks & (TALLY_HOOK_CYG | TALLY_HOOK_PROBE);
	source->all_report_exits = source->leaves && !(hooks & (TALLY_HOOK_MCOUNT | TALLY_HOOK_FENTRY));
	source->leaving = (struct leaving){ 0 };
	source->is_entering = false;
	return 0;
}

static void end_thread(struct source *source)
{
	if (!source->thread)
		return;
	tally_events_end(&source->events);
	free(source->is_open);
	source->is_open = NULL;
	source->thread = NULL;
}

static int next_of_thread(struct source *source, struct event *event)
{
	struct tally_event raw;
	int status = report_change(source, event);
	while (status == 0 && (status = tally_events_next(&source->events, &raw)) > 0) {
		status = take(source, &raw, event);
		if (status == 0)
			status = report_change(source, event);
	}
	return status;
}

static int source_next(struct event_source *base, struct event *event, struct error *error)
{
	struct source *source = (struct source *)base;
	for (;;) {
		if (!source->thread && source->next_thread == source->tally->thread_count)
			return 0;
		int status = source->thread ? 0 : begin_thread(source);
		if (status < 0)
			return error_set(error, status, "%s", error_text(status));
		status = next_of_thread(source, event);
		if (status < 0)
			return tally_events_error(source->thread, status, error);
		if (status > 0)
			return status;
		end_thread(source);
	}
}

/* --- open and close --- */

static void source_close(struct event_source *base)
{
	struct source *source = (struct source *)base;
	end_thread(source);
	buffer_release(&source->text);
	profile_free(source->names);
	tally_free(source->tally);
	free(source);
}

static int name_all(struct source *source, struct error *error)
{
	int status = tally_locations(source->tally, source->names, error);
	if (status == 0)
		status = frames_name_profile(source->names, NULL, error);
	if (status == 0 && tally_name_probes(source->tally, source->names) < 0)
		status = error_memory(error);
	return status;
}

static void refuse(const char *path, struct error *error)
{
	error_set(error, ERROR_FORMAT,
		  "'%s' is not a trace, so it has no events (cpprof record --instrumented=trace writes one)", path);
}

struct event_source *tally_event_source_open(const char *path, struct error *error)
{
	struct tally *tally = tally_open(path, error);
	if (!tally || tally->header.measurement != TALLY_TRACE) {
		if (tally || error->code == ERROR_FORMAT)
			refuse(path, error);
		tally_free(tally);
		return NULL;
	}
	struct source *source = calloc(1, sizeof(*source));
	if (!source) {
		tally_free(tally);
		error_memory(error);
		return NULL;
	}
	*source = (struct source){ .base = { .next = source_next, .close = source_close },
				   .tally = tally,
				   .names = profile_new() };
	buffer_init(&source->text);
	if (!source->names)
		error_memory(error);
	if (!source->names || name_all(source, error) < 0) {
		source_close(&source->base);
		return NULL;
	}
	return &source->base;
}
