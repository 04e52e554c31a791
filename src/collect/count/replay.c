/* Computes the times of call paths from a thread's events. */
#include <stdlib.h>

#include "collect/count/events.h"

struct replay {
	uint64_t *times;  /* by path: time stamps */
	uint64_t last;    /* the latest time stamp so far; 0: none */
	uint32_t current; /* path */
};

/* Adds the time since the last event to the path that was current. Time at the root belongs to no path. */
static void change_path(struct replay *replay, const struct tally_event *event)
{
	/* Time stamps may decrease: clocks of two processors differ by a few ticks, and a handler's events precede
	 * the event that it interrupted. */
	if (replay->last && event->ticks > replay->last && replay->current != COUNT_ROOT)
		replay->times[replay->current] += event->ticks - replay->last;
	if (event->ticks > replay->last)
		replay->last = event->ticks;
	replay->current = event->path;
}

static int replay_all(struct replay *replay, const struct tally *tally, const struct count_thread *thread)
{
	struct tally_events events;
	struct tally_event event;
	int status = tally_events_begin(&events, tally, thread);
	if (status < 0)
		return status;
	while ((status = tally_events_next(&events, &event)) > 0)
		if (event.kind != TALLY_EVENT_OTHER)
			change_path(replay, &event);
	tally_events_end(&events);
	return status;
}

int tally_replay(const struct tally *tally, struct count_thread *thread, struct error *error)
{
	const struct count_process *process = &tally->processes[thread->process];
	struct count_tree *tree = &thread->tree;
	/* Hooks that report entries only give no times. */
	if (!(process->shared->hooks & (TALLY_HOOK_CYG | TALLY_HOOK_PROBE)))
		return 0;
	struct replay replay = { .times = calloc(tree->path_count, sizeof(*replay.times)), .current = COUNT_ROOT };
	int status = replay.times ? replay_all(&replay, tally, thread) : ERROR_MEMORY;
	for (size_t i = 0; i < tree->path_count && status == 0; i++)
		tree->paths[i].exclusive_ns = tally_ns(process, replay.times[i]);
	free(replay.times);
	return status < 0 ? tally_events_error(thread, status, error) : 0;
}
