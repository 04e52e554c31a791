/*
 * Counts the turns of a loop while its exceptions were masked, by its registers.
 *
 * Nearly every loop has registers that change by the same amount in each turn. A burst that meets one of its stops
 * (the anchor) several times measures these amounts. When the next burst meets the anchor again, the change of these
 * registers since then, divided by the amount per turn, is the number of turns, which is more precise than an
 * estimate by the clock. If the loop has restarted in between, it has turned more often than that: the result is
 * then below what the clock allows, and the highest recent rate replaces it.
 */
#include "collect/agent/fp/fp.h"

#include <string.h>

enum {
	TURNS_LEAST = 3,
	FAR = 8,
	/* turns that differ from the clock's estimate by this factor are rejected */ FORGET = 32
};

static void take_registers(struct fp_anchor *anchor, const ucontext_t *context)
{
	memcpy(anchor->values, fp_general_registers(context), sizeof(anchor->values));
}

void fp_loops_begin(struct fp_thread *fp)
{
	fp->anchor.seen = 0;
	fp->anchor.turns = 0;
}

/* Returns the turns since the burst before saw the anchor last, or 0 if unknown. */
static uint64_t turns_since(const struct fp_anchor *anchor, const greg_t *now)
{
	uint64_t most = 0;
	for (uint32_t left = anchor->steady; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		int64_t change = (int64_t)((uint64_t)now[i] - (uint64_t)anchor->values[i]);
		int64_t turns = anchor->changes[i] == -1 ? -change : change / anchor->changes[i];
		if (turns > 0 && turns * anchor->changes[i] == change && (uint64_t)turns > most)
			most = (uint64_t)turns;
	}
	return most;
}

static void see_again(struct fp_anchor *anchor, const greg_t *now)
{
	uint32_t steady = 0;
	for (uint32_t i = 0; i < FP_GENERAL_REGISTERS; i++) {
		int64_t change = (int64_t)((uint64_t)now[i] - (uint64_t)anchor->values[i]);
		if (change && (anchor->seen == 1 || change == anchor->changes[i]))
			steady |= 1U << i;
		anchor->changes[i] = change;
	}
	anchor->steady = anchor->seen == 1 ? steady : anchor->steady & steady;
}

void fp_loops_stop(struct fp_thread *fp, const ucontext_t *context)
{
	struct fp_anchor *anchor = &fp->anchor;
	const greg_t *now = fp_general_registers(context);
	if (fp->pc != anchor->pc && anchor->seen == 0 && fp->burst_stops >= fp->burst_target / 2) {
		*anchor = (struct fp_anchor){ .pc = fp->pc };
		memset(anchor->per_turn, 0, sizeof(anchor->per_turn));
	}
	if (fp->pc != anchor->pc)
		return;
	if (anchor->seen == 0) {
		anchor->turns = turns_since(anchor, now);
		memcpy(anchor->raised_first, fp->burst_raised, sizeof(anchor->raised_first));
		memcpy(anchor->known_per_turn, anchor->per_turn, sizeof(anchor->per_turn));
	} else {
		see_again(anchor, now);
	}
	take_registers(anchor, context);
	memcpy(anchor->raised_last, fp->burst_raised, sizeof(anchor->raised_last));
	anchor->seen++;
}

/* Returns the estimated number of turns in the masked time. */
static double estimated_turns(struct fp_anchor *anchor, uint64_t masked_ns)
{
	double seen = (double)anchor->turns / (double)masked_ns;
	if (seen > anchor->per_ns)
		anchor->per_ns = seen;
	else if (seen > anchor->per_ns / 2)
		anchor->per_ns += (seen - anchor->per_ns) / FAR;
	else
		anchor->per_ns -= anchor->per_ns / FORGET;
	return seen > anchor->per_ns / 2 ? (double)anchor->turns : anchor->per_ns * (double)masked_ns;
}

bool fp_loops_end(struct fp_thread *fp, const double by_clock[FP_KIND_COUNT], double events[FP_KIND_COUNT])
{
	struct fp_anchor *anchor = &fp->anchor;
	double all = 0, all_by_clock = 0;
	double turns = anchor->seen && anchor->turns && fp->masked_ns ? estimated_turns(anchor, fp->masked_ns) : 0;
	for (uint32_t kind = 0; kind < FP_KIND_COUNT; kind++) {
		events[kind] = turns * anchor->known_per_turn[kind];
		all += events[kind];
		all_by_clock += by_clock[kind];
		if (anchor->seen >= TURNS_LEAST)
			anchor->per_turn[kind] = (double)(anchor->raised_last[kind] - anchor->raised_first[kind]) /
						 (double)(anchor->seen - 1);
	}
	if (anchor->seen < TURNS_LEAST)
		anchor->steady = 0;
	return all > all_by_clock / FAR && all < all_by_clock * FAR;
}
