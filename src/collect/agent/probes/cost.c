/*
 * Measures the cost of a probe: calls functions of the library with a probe point and the same functions without it, by
 * the same code and measurement as all others, in a thread state that is not part of the tally.
 *
 *     caller |<- a ->|<------ b ------->| function |<-- a' -->|<-- b' -->| caller
 *                    time stamp of enter                 time stamp of leave
 *
 * b and a' fall between the time stamps: inside. a and b' are charged to the caller: outside. The inside part comes
 * from the state's nodes where paths are timed, and from its events in a trace; the function's own time, which is
 * subtracted, comes from the calls without the probe point.
 *
 * A stamp waits until all instructions before it are executed. Whether the processor executes the
 * rest of the probe while they wait for each other, or after them, depends on the function and its
 * caller. So the cost is measured for the extremes: a function that does nothing, one whose
 * instructions wait for each other, and a caller of which that is true between its calls. The tally
 * has the least and the most.
 */
#include "collect/agent/probes/registry.h"

#include <string.h>
#include <sys/mman.h>

#include <cpprof/profiler.h>

#include "collect/agent/hooks/around.h"
#include "collect/agent/hooks/system.h"
#include "collect/agent/hooks/trace.h"

enum {
	FRAMES = 8,
	TURNS = 100,
	ROUNDS = 13,                 /* the first fill the caches */
	RING_WORDS_USED = 3 * TURNS, /* two events of a call, some more, and a 0 */
	LEAST = 1,
	MEDIAN = ROUNDS / 2,
	PS_PER_NS = 1000,
};

/* --- the functions --- */

/* A step of work, some 4 cycles: it needs the result of the step before. */
static inline __attribute__((always_inline)) uint64_t step(uint64_t value)
{
	return value * 0x5851f42d4c957f2d + 1;
}

typedef uint64_t work(struct cpprof_probe *probe, uint64_t value, int steps);

static __attribute__((noinline)) uint64_t work_probed(struct cpprof_probe *probe, uint64_t value, int steps)
{
	struct cpprof_entry entry = cpprof_entered(probe);
	for (int i = 0; i < steps; i++)
		value = step(value);
	cpprof_left(&entry);
	return value;
}

static __attribute__((noinline)) uint64_t work_bare(struct cpprof_probe *probe, uint64_t value, int steps)
{
	(void)probe;
	for (int i = 0; i < steps; i++)
		value = step(value);
	return value;
}

/* The steps of the function, and of its caller between two calls: some 50 ns. */
enum { NOTHING, FUNCTION, CALLER, KINDS };
static const struct {
	int steps, own_steps;
} kinds[KINDS] = { [NOTHING] = { 0, 0 }, [FUNCTION] = { 48, 0 }, [CALLER] = { 0, 48 } };

#define PROBE                                                    \
	{                                                        \
		.state = CPPROF_STATE_ON, .name = "", .file = "" \
	}

/* --- the state --- */

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

/* Time stamps of TURNS calls: without the probe point, with it, and between its stamps. */
struct round {
	uint64_t bare, probed, inside;
};

/* Time stamps that the probe adds to TURNS calls. */
struct cost {
	int64_t least_inside, most_inside, least_outside, most_outside;
	int64_t bare; /* without the probe point */
};

static void clear_ring(struct hook_thread *thread, struct tally_ring *ring)
{
	memset(ring->words, 0, RING_WORDS_USED * sizeof(ring->words[0]));
	hooks_trace_begin_ring(thread, ring);
}

/* The state has its ring from the start: a thread without one would begin a ring in the tally with its first event. */
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
	clear_ring(thread, &scratch->trace.ring);
}

static uint64_t time_between_events(const uint64_t *word)
{
	uint64_t time = 0;
	uint32_t entered = 0;
	for (; *word; word++) {
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

static uint64_t time_at(const struct tally_node *caller, const struct cpprof_probe *descriptor)
{
	for (const struct tally_edge *edge = caller->edges; edge; edge = edge->next)
		if (edge->function == (uint64_t)(uintptr_t)descriptor && edge->child)
			return edge->child->exclusive_ticks;
	return 0;
}

/* --- the measurement --- */

static __attribute__((noinline)) uint64_t turn(work *function, struct cpprof_probe *descriptor, int kind)
{
	uint64_t value = 1, start = machine_time_stamp();
	for (int i = 0; i < TURNS; i++) {
		for (int own = 0; own < kinds[kind].own_steps; own++)
			value = step(value);
		value = function(descriptor, value, kinds[kind].steps);
	}
	__asm__ volatile("" : : "r"(value));
	return machine_time_stamp() - start;
}

static struct round measure_round(struct scratch *scratch, struct cpprof_probe *descriptor, int kind)
{
	struct hook_thread *thread = &scratch->thread;
	const struct tally_node *caller = thread->top->node;
	bool is_traced = thread->measurement == &hooks_trace;
	uint64_t bare = turn(work_bare, descriptor, kind);
	clear_ring(thread, &scratch->trace.ring);
	work_probed(descriptor, 0, 0); /* the ring's first event takes long */
	const uint64_t *first = thread->next_event;
	uint64_t before = is_traced ? 0 : time_at(caller, descriptor);
	uint64_t probed = turn(work_probed, descriptor, kind);
	uint64_t inside = (is_traced ? time_between_events(first) : time_at(caller, descriptor)) - before;
	struct round round = { turn(work_bare, descriptor, kind), probed, inside };
	round.bare = bare < round.bare ? bare : round.bare;
	return round;
}

static void insert(int64_t *sorted, int count, int64_t value)
{
	for (; count > 0 && sorted[count - 1] > value; count--)
		sorted[count] = sorted[count - 1];
	sorted[count] = value;
}

/* Returns the range of a kind's rounds, without the lowest, and without the upper half, because
 * other threads and handlers interrupt rounds. `nothing`: the time of a function that does
 * nothing, without the probe point. */
static struct cost cost_of(const struct round rounds[ROUNDS][KINDS], int kind, int64_t nothing)
{
	int64_t insides[ROUNDS], outsides[ROUNDS], bares[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		const struct round *round = &rounds[i][kind];
		int64_t bare = (int64_t)round->bare, inside = (int64_t)round->inside;
		int64_t function = kind == CALLER ? nothing : bare;
		insert(insides, i, inside - function);
		insert(outsides, i, (int64_t)round->probed - inside - (bare - function));
		insert(bares, i, bare);
	}
	return (struct cost){ insides[LEAST], insides[MEDIAN], outsides[LEAST], outsides[MEDIAN], bares[MEDIAN] };
}

/* Measures within a probe point: entries at the root of a thread's path cost more than those below others. Each round
 * has all kinds: other threads and handlers that interrupt the measurement for a while then affect few rounds of each. */
static __attribute__((noinline)) void measure_within(struct scratch *scratch, struct cost costs[KINDS])
{
	static struct cpprof_probe outer = PROBE, inner = PROBE;
	struct round rounds[ROUNDS][KINDS];
	struct cpprof_entry entry = cpprof_entered(&outer);
	for (int i = 0; i < ROUNDS; i++)
		for (int kind = 0; kind < KINDS; kind++)
			rounds[i][kind] = measure_round(scratch, &inner, kind);
	cpprof_left(&entry);
	costs[NOTHING] = cost_of(rounds, NOTHING, 0);
	for (int kind = NOTHING + 1; kind < KINDS; kind++)
		costs[kind] = cost_of(rounds, kind, costs[NOTHING].bare);
}

static int64_t ps_of(int64_t ticks, uint64_t ps_of_1000)
{
	return ticks * (int64_t)ps_of_1000 / 1000 / TURNS;
}

static void widen(struct tally_cost *range, int64_t least_ps, int64_t most_ps)
{
	range->least_ps = least_ps < range->least_ps ? least_ps : range->least_ps;
	range->most_ps = most_ps > range->most_ps ? most_ps : range->most_ps;
}

static void add_margin(struct tally_cost *range, int64_t ps)
{
	range->least_ps -= ps;
	range->most_ps += ps;
}

/* The code around a program's probe points differs from the library's code: the cost was up to a tenth of an empty
 * function's probe beyond the range of the library's functions (docs/instrumented.md). */
static void publish(const struct cost costs[KINDS], uint64_t ps_of_1000)
{
	struct tally_cost inside = { INT64_MAX, INT64_MIN }, outside = inside;
	const struct cost *nothing = &costs[NOTHING];
	int64_t margin_ps = ps_of(nothing->most_inside + nothing->bare + nothing->most_outside, ps_of_1000) / 10;
	for (int kind = 0; kind < KINDS; kind++) {
		const struct cost *cost = &costs[kind];
		widen(&inside, ps_of(cost->least_inside, ps_of_1000), ps_of(cost->most_inside, ps_of_1000));
		widen(&outside, ps_of(cost->least_outside, ps_of_1000), ps_of(cost->most_outside, ps_of_1000));
	}
	add_margin(&inside, margin_ps);
	add_margin(&outside, margin_ps);
	hooks.header->probe_outside = outside;
	hooks.header->probe_inside.least_ps = inside.least_ps;
	__atomic_store_n(&hooks.header->probe_inside.most_ps, inside.most_ps, __ATOMIC_RELEASE);
}

/* Replaces the thread's state during the measurement, and writes the result into the tally's header. */
static void measure(struct scratch *scratch)
{
	struct cost costs[KINDS];
	uint64_t start_ns = runtime_now_ns(CLOCK_MONOTONIC), start_ticks = machine_time_stamp();
	struct hook_thread *before = hook_thread;
	begin_scratch(scratch);
	hook_thread = &scratch->thread;
	measure_within(scratch, costs);
	hook_thread = before;
	uint64_t ns = runtime_now_ns(CLOCK_MONOTONIC) - start_ns, ticks = machine_time_stamp() - start_ticks;
	if (ticks > 0)
		publish(costs, ns * PS_PER_NS / (ticks / 1000 + 1));
}

void probe_cost_measure(void)
{
	uint64_t signals;
	bool is_timed = hooks.header->measurement == TALLY_PATHS_TIMED || hooks.header->measurement == TALLY_TRACE;
	if (!is_timed || __atomic_load_n(&hooks.header->probe_inside.most_ps, __ATOMIC_ACQUIRE))
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
