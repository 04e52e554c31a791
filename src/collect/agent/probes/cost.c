/*
 * Measures the cost of a probe: enters and leaves a probe point of the library some thousand times, by the same code
 * and measurement as all others, in a thread state that is not part of the tally.
 *
 *     caller |<- a ->|<------ b ------->| probe point |<-- a' -->|<-- b' -->| caller
 *                    time stamp of enter                   time stamp of leave
 *
 * b and a' fall between the time stamps: inside. a and b' are charged to the caller: outside. The inside part comes
 * from the state's nodes where paths are timed, and from its events in a trace.
 */
#include "collect/agent/probes/cost.h"

#include <string.h>
#include <sys/mman.h>

#include <cpprof/profiler.h>

#include "collect/agent/hooks/around.h"
#include "collect/agent/hooks/system.h"
#include "collect/agent/hooks/trace.h"

enum {
	FRAMES = 8,
	TURNS = 500, /* as many as fit in the ring */
	ROUNDS = 6,  /* the first only fills the caches */
	PS_PER_NS = 1000,
};

/* A thread's state, and private memory for the parts that a measurement takes from the tally. */
struct scratch {
	struct hook_thread thread;
	struct hook_frame frames[FRAMES];
	union {
		struct tally_thread thread;
		uint8_t room[TALLY_GRANULE];
	} shared;
	union {
		struct tally_ring ring;
		uint8_t room[TALLY_GRANULE];
	} trace;
};

struct cost {
	uint64_t ticks, inside_ticks;
};

static void begin_scratch(struct scratch *scratch)
{
	struct hook_thread *thread = &scratch->thread;
	struct tally_thread *shared = &scratch->shared.thread;
	shared->chunk.bytes = sizeof(scratch->shared);
	shared->chunk.used = sizeof(*shared);
	scratch->trace.ring.chunk.bytes = sizeof(scratch->trace);
	thread->measurement = hooks_inner();
	thread->frames = scratch->frames;
	thread->limit = scratch->frames + FRAMES;
	thread->shared = shared;
	thread->chunk = &shared->chunk;
	shared->root.recent = &hooks_no_edge;
	hooks_frames_begin(thread, &shared->root);
	thread->last_ticks = machine_time_stamp();
}

static void clear_ring(struct hook_thread *thread, struct tally_ring *ring)
{
	memset(ring->words, 0, (TALLY_GRANULE - sizeof(*ring)) / sizeof(ring->words[0]) * sizeof(ring->words[0]));
	hooks_trace_begin_ring(thread, ring);
}

static uint64_t time_between_events(const struct tally_ring *ring)
{
	uint64_t time = 0;
	uint32_t entered = 0;
	for (const uint64_t *word = ring->words; *word; word++) {
		enum tally_event_kind kind = *word & ((1 << TALLY_EVENT_NUMBER_SHIFT) - 1);
		uint32_t now = (uint32_t)(*word >> TALLY_EVENT_TIME_SHIFT);
		if (kind == TALLY_EVENT_OTHER)
			word++; /* the operand: a time */
		else if (kind == TALLY_EVENT_ENTER)
			entered = now;
		else
			time += now - entered;
	}
	return time;
}

static uint64_t time_in_probe(const struct hook_thread *thread)
{
	const struct tally_edge *edge = thread->shared->root.edges;
	if (thread->measurement == &hooks_trace)
		return time_between_events(thread->ring);
	return edge && edge->child ? edge->child->exclusive_ticks : 0;
}

static __attribute__((noinline)) struct cost turn(struct hook_thread *thread)
{
	static struct cpprof_probe descriptor = { .state = CPPROF_STATE_ON, .name = "", .file = "" };
	uint64_t inside = time_in_probe(thread), start = machine_time_stamp();
	for (int i = 0; i < TURNS; i++) {
		struct cpprof_entry entry = cpprof_entered(&descriptor);
		cpprof_left(&entry);
	}
	return (struct cost){ machine_time_stamp() - start, time_in_probe(thread) - inside };
}

/* Returns the smallest cost of several rounds: other threads or handlers have interrupted the rest. */
static struct cost least(struct scratch *scratch)
{
	struct cost least = { UINT64_MAX, 0 };
	for (int i = 0; i < ROUNDS; i++) {
		clear_ring(&scratch->thread, &scratch->trace.ring);
		struct cost cost = turn(&scratch->thread);
		if (i > 0 && cost.ticks < least.ticks)
			least = cost;
	}
	return least;
}

/* Replaces the thread's state during the measurement, and writes the result into the tally's header. */
static void measure(struct scratch *scratch)
{
	uint64_t start_ns = runtime_now_ns(CLOCK_MONOTONIC), start_ticks = machine_time_stamp();
	struct hook_thread *before = hook_thread;
	begin_scratch(scratch);
	hook_thread = &scratch->thread;
	struct cost cost = least(scratch);
	hook_thread = before;
	uint64_t ns = runtime_now_ns(CLOCK_MONOTONIC) - start_ns, ticks = machine_time_stamp() - start_ticks;
	if (ticks == 0 || cost.inside_ticks > cost.ticks)
		return;
	uint64_t ps_of_1000 = ns * PS_PER_NS / (ticks / 1000 + 1);
	__atomic_store_n(&hooks.header->probe_outside_ps, (cost.ticks - cost.inside_ticks) * ps_of_1000 / 1000 / TURNS,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&hooks.header->probe_inside_ps, cost.inside_ticks * ps_of_1000 / 1000 / TURNS,
			 __ATOMIC_RELAXED);
}

void probe_cost_measure(void)
{
	uint64_t signals;
	bool is_timed = hooks.header->measurement == TALLY_PATHS_TIMED || hooks.header->measurement == TALLY_TRACE;
	if (!is_timed || __atomic_load_n(&hooks.header->probe_inside_ps, __ATOMIC_RELAXED))
		return;
	long mapped = machine_syscall(SYS_mmap, 0, sizeof(struct scratch), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (system_is_error(mapped))
		return;
	system_block_signals(&signals);
	measure((struct scratch *)mapped);
	system_restore_signals(&signals);
	machine_syscall(SYS_munmap, mapped, sizeof(struct scratch), 0, 0, 0, 0);
}
