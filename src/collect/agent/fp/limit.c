/*
 * The limit of counting: a trap costs microseconds, thousands of times the cost of the operation. In each thread, each
 * kind may trap COUNTED_AT_ONCE times at any time, and beyond that once in COUNTED_EVERY_NS on average:
 *
 *   due_ns   the moment from which as many are allowed again; each exception adds COUNTED_EVERY_NS
 *
 *        now                    due_ns               now + COUNTED_AT_ONCE x COUNTED_EVERY_NS
 *   ------|-----------------------|------------------------|-------> time
 *          <-- used up already -->  <-- still allowed ---->
 *
 * A kind that exceeds this is masked and no longer counted in the thread, until the next cpprof_start: all counts
 * are exact, and the counts of the requests with that kind are lower bounds. All instructions of the legacy unit trap while
 * it is observed, whether or not they raise anything: the unit has a limit of its own.
 */
#include <string.h>

#include "collect/agent/fp/fp.h"

enum {
	COUNTED_AT_ONCE = 10000,
	COUNTED_EVERY_NS = 100 * 1000, /* traps then take a few percent of the time; a fourth where signals are dear */
	LEGACY_STEPS_AT_ONCE = 50000,
	LEGACY_STEP_EVERY_NS = 20 * 1000
};

void fp_limit_reset(struct fp_thread *fp)
{
	fp->frequent = 0;
	fp->legacy_frequent = false;
	memset(fp->due_ns, 0, sizeof(fp->due_ns));
	fp->legacy_due_ns = 0;
}

/* Counts one. Returns whether it is beyond the limit. */
static bool is_beyond(uint64_t *due_ns, uint64_t now_ns, uint64_t at_once, uint64_t every_ns)
{
	*due_ns = (*due_ns > now_ns ? *due_ns : now_ns) + every_ns;
	return *due_ns - now_ns > at_once * every_ns;
}

static void report(struct runtime_thread *thread)
{
	const struct fp_thread *fp = thread->fp;
	for (uint32_t left = runtime.requests_of[COUNTER_FP]; left; left &= left - 1) {
		uint32_t request = (uint32_t)__builtin_ctz(left);
		if (fp->legacy_frequent || fp->frequent & runtime.channel->requests[request].fp_kinds)
			thread->shared->bounded |= 1U << request;
	}
	__atomic_or_fetch(&runtime.process->findings, CHANNEL_FINDING_FREQUENT, __ATOMIC_RELAXED);
}

uint32_t fp_limit(struct runtime_thread *thread, uint32_t kinds)
{
	struct fp_thread *fp = thread->fp;
	uint64_t now_ns = runtime_now_ns(CLOCK_MONOTONIC);
	uint32_t allowed = kinds & ~(uint32_t)fp->frequent, beyond = 0;
	/* An exact tiny result traps if underflow is unmasked, and raises nothing. */
	uint32_t trapped = kinds || fp->is_legacy ? allowed : FP_KIND_UNDERFLOW;
	for (uint32_t left = trapped; left; left &= left - 1) {
		uint32_t kind = (uint32_t)__builtin_ctz(left);
		if (is_beyond(&fp->due_ns[kind], now_ns, COUNTED_AT_ONCE, COUNTED_EVERY_NS))
			beyond |= 1U << kind;
	}
	bool is_legacy_beyond =
		fp->is_legacy && is_beyond(&fp->legacy_due_ns, now_ns, LEGACY_STEPS_AT_ONCE, LEGACY_STEP_EVERY_NS);
	fp->frequent |= (uint8_t)beyond;
	fp->legacy_frequent |= is_legacy_beyond;
	if (beyond || is_legacy_beyond)
		report(thread);
	return allowed & ~beyond;
}
