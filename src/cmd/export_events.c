#include "cmd/export_events.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/path.h"
#include "collect/count/events.h"
#include "frames/frames.h"

struct listing {
	const struct tally *tally;
	struct profile *names; /* has a location for each address */
	FILE *out;
	/* The thread that is being listed. */
	const struct tallied_thread *thread;
	bool *is_open;          /* by path: its last `enter` has no `leave` yet */
	uint32_t current;       /* path */
	bool has_stayed;        /* the last event was a LEAVE that left nothing */
	bool leaves, only_tell; /* hooks that tell when a function is left; and there are no others */
};

/* --- one line --- */

static uint64_t seconds_ns(const struct listing *listing, uint64_t tsc)
{
	const struct tallied_process *process = &listing->tally->processes[listing->thread->process];
	uint64_t start = process->shared->start_tsc, began = listing->tally->header.start_ns;
	uint64_t now = process->shared->start_ns + (tsc > start ? tally_ns(process, tsc - start) : 0);
	return now > began ? now - began : 0;
}

static void begin_line(const struct listing *listing, uint64_t tsc, const char *kind)
{
	static const uint64_t second = 1000 * 1000 * 1000;
	uint64_t ns = seconds_ns(listing, tsc);
	fprintf(listing->out, "%" PRIu64 ".%09" PRIu64 " %" PRIu32 " %" PRIu32 " %s ", ns / second, ns % second,
		listing->tally->processes[listing->thread->process].shared->pid, listing->thread->shared->tid, kind);
}

/* `outwards`: how many of the location's frames the function is away from the innermost, UINT32_MAX: the outermost. */
static int end_line(const struct listing *listing, int64_t id, uint32_t outwards)
{
	const struct profile *names = listing->names;
	if (id < 0)
		return (int)id;
	const struct profile_location *location = &names->locations[id];
	if (location->first_frame == PROFILE_NONE || location->frame_count == 0) {
		const char *path = profile_string(names, names->modules[location->module].path);
		fprintf(listing->out, "%s+0x%" PRIx64 "\n", path_basename(path), location->address);
		return 0;
	}
	uint32_t last = location->frame_count - 1;
	uint32_t frame = location->first_frame + (outwards < last ? outwards : last);
	fprintf(listing->out, "%s\n", profile_string(names, names->functions[names->frames[frame].function].name));
	return 0;
}

static int print_path(const struct listing *listing, uint64_t tsc, const char *kind, uint32_t path)
{
	begin_line(listing, tsc, kind);
	return end_line(listing,
			tally_entry_location(listing->tally, listing->names, listing->thread->process,
					     listing->thread->tree.paths[path].function),
			UINT32_MAX);
}

static int print_sample(const struct listing *listing, const struct tally_event *event)
{
	uint32_t process = listing->thread->process;
	begin_line(listing, event->tsc, "sample");
	if (tally_is_runtime(listing->tally, process, event->pc)) {
		fputs("[hooks]\n", listing->out);
		return 0;
	}
	return end_line(listing, tally_location(listing->tally, listing->names, process, event->pc), 0);
}

/* --- one event --- */

static bool is_below(const struct tallied_tree *tree, uint32_t path, uint32_t ancestor)
{
	while (path != TALLY_NONE && path > ancestor)
		path = tree->paths[path].parent;
	return path == ancestor;
}

/* All that is open from the current path up to that one, which is above it: a jump leaves several at once. */
static int leave_to(struct listing *listing, uint64_t tsc, uint32_t path)
{
	const struct tallied_tree *tree = &listing->thread->tree;
	int status = 0;
	for (uint32_t left = listing->current; left != path && status == 0; left = tree->paths[left].parent)
		if (listing->is_open[left]) {
			listing->is_open[left] = false;
			status = print_path(listing, tsc, "leave", left);
		}
	return status;
}

/* What it finds where it was called from is over, even if nobody has told. */
static int list_enter(struct listing *listing, const struct tally_event *event)
{
	const struct tallied_tree *tree = &listing->thread->tree;
	uint32_t parent = tree->paths[event->path].parent;
	int status = 0;
	if (listing->only_tell && parent != TALLY_NONE && is_below(tree, listing->current, parent))
		status = leave_to(listing, event->tsc, parent);
	listing->is_open[event->path] = true;
	listing->current = event->path;
	listing->has_stayed = false;
	return status < 0 ? status : print_path(listing, event->tsc, "enter", event->path);
}

static int list_leave(struct listing *listing, const struct tally_event *event)
{
	/* Nobody's time begins: the thread ends in the midst of its calls, or goes on with them later. */
	if (listing->has_stayed && event->path == TALLIED_ROOT)
		return 0;
	int status = 0;
	listing->has_stayed = event->path == listing->current;
	if (listing->leaves && is_below(&listing->thread->tree, listing->current, event->path))
		status = leave_to(listing, event->tsc, event->path);
	listing->current = event->path;
	return status;
}

static int list_event(struct listing *listing, const struct tally_event *event)
{
	if (event->kind == TALLY_EVENT_ENTER)
		return list_enter(listing, event);
	if (event->kind == TALLY_EVENT_LEAVE)
		return list_leave(listing, event);
	if (event->other == TALLY_EVENT_TICK)
		return print_sample(listing, event);
	begin_line(listing, event->tsc, "event");
	fprintf(listing->out, "%" PRIu64 " %" PRIu64 "\n", event->id, event->value);
	return 0;
}

/* --- all of them --- */

static int list_events(struct listing *listing)
{
	struct tally_events events;
	struct tally_event event;
	int status = tally_events_begin(&events, listing->tally, listing->thread);
	if (status < 0)
		return status;
	while (!ferror(listing->out) && (status = tally_events_next(&events, &event)) > 0) {
		status = list_event(listing, &event);
		if (status < 0)
			break;
	}
	tally_events_end(&events);
	return status < 0 ? status : 0;
}

static int list_thread(struct listing *listing, const struct tallied_thread *thread, struct error *error)
{
	uint32_t hooks = listing->tally->processes[thread->process].shared->hooks;
	listing->thread = thread;
	listing->current = TALLIED_ROOT;
	listing->has_stayed = false;
	listing->leaves = hooks & (TALLY_HOOK_CYG | TALLY_HOOK_SITE);
	listing->only_tell = listing->leaves && !(hooks & (TALLY_HOOK_MCOUNT | TALLY_HOOK_FENTRY));
	listing->is_open = calloc(thread->tree.path_count, sizeof(*listing->is_open));
	int status = listing->is_open ? list_events(listing) : ERROR_MEMORY;
	free(listing->is_open);
	return status < 0 ? tally_events_error(thread, status, error) : 0;
}

static int list_threads(struct tally *tally, struct profile *names, FILE *out, struct error *error)
{
	static const struct frames_options plain = { 0 };
	struct listing listing = { .tally = tally, .names = names, .out = out };
	int status = tally_locations(tally, names, error);
	if (status == 0)
		status = frames_name_profile(names, &plain, error);
	if (status == 0 && tally_name_sites(tally, names) < 0)
		status = error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < tally->thread_count && status >= 0; i++)
		status = list_thread(&listing, &tally->threads[i], error);
	if (status >= 0 && (fflush(out) != 0 || ferror(out)))
		status = error_set_errno(error, "cannot write the events");
	return status;
}

static int refuse(const char *path, struct error *error)
{
	return error_set(error, ERROR_FORMAT,
			 "'%s' is no trace, it has no events: record one by 'cpprof record --instrumented=trace'",
			 path);
}

int export_events(const char *path, FILE *out, struct error *error)
{
	struct tally *tally = tally_open(path, error);
	if (!tally && error->code == ERROR_FORMAT)
		return refuse(path, error);
	if (!tally)
		return error->code;
	struct profile *names = NULL;
	int status;
	if (tally->header.measurement != TALLY_TRACE)
		status = refuse(path, error);
	else if (!(names = profile_new()))
		status = error_set(error, ERROR_MEMORY, "out of memory");
	else
		status = list_threads(tally, names, out, error);
	profile_free(names);
	tally_free(tally);
	return status;
}
