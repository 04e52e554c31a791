/*
 * Samples the kinds that are raised so often that one trap for each would slow the program down.
 *
 *   exact ----------------> masked <------------------> window ----------> exact
 *         in_traps_too_long        fp_frequent_tick             EMPTY_WINDOWS
 *                                  end_window
 *
 * While masked, these kinds do not trap. Windows begin at ticks, which come at random times: the next WINDOW_STEPS
 * instructions of the program are stepped, and each exception that they raise is counted, on its own path. A window
 * represents the masked time before it. It is credited with
 *
 *     (its exceptions) / (its instructions) x (masked CPU time) / INSTRUCTION_PS
 *
 * exceptions, on the path of one of its own, which is drawn at random. So all moments of masked time are equally
 * likely to be observed, and a path is credited only with kinds that it was seen to raise. The exceptions of a window
 * are close to each other, so a window is one sample: analyze/selection.c computes the error of a fraction from the
 * weights of the samples.
 *
 * Nothing that a program may read counts the instructions of masked time, and a trap takes a thousand times as long as
 * the code between two exceptions, so that no clock can measure that code among traps. So the time of an instruction is
 * a constant: a total is known within a factor of about two, which is common to all code with as many instructions
 * in a nanosecond.
 *
 * All instructions of the legacy unit trap while it is observed, whether or not they raise a flag: if they are
 * frequent, the unit is also observed only in windows.
 */
#include "collect/agent/fp/fp.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "processor/agent/fp_code.h"
#include "processor/agent/machine.h"

enum {
	/* A thread's first exceptions are counted one by one whatever that costs. The legacy unit also traps without
	 * one. */
	EXACT_EVENTS = 10000,
	EXACT_STEPS = 50000,
	ALLOWED_SHARE = 4,               /* traps may take a fourth of the time ... */
	LEVEL_MAX_NS = 30 * 1000 * 1000, /* ... and may exceed that by this much at a time */
	RETRY_NS = 2 * 1000 * 1000,      /* ... or by this much where they did so before */
	MEASURED_EVERY = 64,             /* of so many traps one is stepped, to measure the duration of a signal */
	BETWEEN_MAX_NS = 100 * 1000,     /* maximum of the time between two traps: other threads may have run */
	SIGNAL_NS = 2500,                /* approximate delivery and return */
	COST_MAX_NS = 50 * 1000,         /* a trap that takes longer was preempted */
	BLAMED_SHARE = 8,                /* kinds that an eighth of the steps raised are frequent */

	WINDOW_STEPS = 16,
	EMPTY_WINDOWS = 64,   /* after so many windows in a row without an exception, each one traps again */
	INSTRUCTION_PS = 250, /* between that of a tight loop and of a dependency chain */
	PS_PER_NS = 1000
};

static uint64_t cpu_now_ns(void)
{
	return runtime_now_ns(CLOCK_THREAD_CPUTIME_ID);
}

void fp_frequent_reset(struct fp_thread *fp)
{
	fp->frequent = 0;
	fp->legacy_frequent = false;
	fp->level_ns = fp->empty_windows = 0;
}

void fp_frequent_forget(struct fp_thread *fp)
{
	fp_frequent_reset(fp);
	memset(fp->owed, 0, sizeof(fp->owed));
	memset(fp->per_ns, 0, sizeof(fp->per_ns));
	fp->path_kinds = 0;
}

/* --- exact --- */

static void account(struct fp_thread *fp, uint32_t kinds)
{
	fp->steps++;
	if (fp->is_legacy) {
		fp->legacy_steps++;
		return;
	}
	if (!kinds) /* an exact tiny result traps if underflow is unmasked, and raises nothing */
		kinds = FP_KIND_UNDERFLOW;
	for (; kinds; kinds &= kinds - 1)
		fp->raised[__builtin_ctz(kinds)]++;
}

/* Sets the duration of a signal: of its delivery and return, and of a tracer's work meanwhile. One step by the trap flag has one signal.
 * Two traps without such a step between them have another, and the program's own time. Approaches a low quantile of the steps, not
 * their mean: longer ones were interrupted. */
static void measure_signal(struct fp_thread *fp, uint64_t step_ns, uint64_t between_ns)
{
	enum { DOWN = 2, UP = 4 };
	uint64_t longest = fp->is_stepping ? step_ns : between_ns;
	if (fp->signal_ns == 0)
		fp->signal_ns = longest;
	else if (fp->signal_ns > longest)
		fp->signal_ns -= (fp->signal_ns - longest) / DOWN;
	else if (fp->is_stepping)
		fp->signal_ns += (longest - fp->signal_ns) / UP;
}

/* Returns whether traps take too much time. */
static bool in_traps_too_long(struct fp_thread *fp, uint64_t now, uint64_t counted)
{
	uint64_t between = runtime_less(fp->entered_ns, fp->level_at_ns);
	measure_signal(fp, runtime_less(now, fp->entered_ns), between);
	uint64_t signal = fp->signal_ns > SIGNAL_NS ? fp->signal_ns : SIGNAL_NS;
	uint64_t own = runtime_less(between < BETWEEN_MAX_NS ? between : BETWEEN_MAX_NS, signal);
	fp->level_ns = runtime_less(fp->level_ns, own / ALLOWED_SHARE);
	if (fp->level_ns == 0) {
		fp->steps = fp->legacy_steps = 0;
		memset(fp->raised, 0, sizeof(fp->raised));
	}
	uint64_t cost =
		runtime_less(counted, fp->entered_ns) + (fp->is_stepping ? runtime_less(now, fp->entered_ns) : signal);
	fp->level_ns += cost < COST_MAX_NS ? cost : COST_MAX_NS;
	fp->level_at_ns = counted;
	return fp->level_ns > LEVEL_MAX_NS;
}

bool fp_frequent_measures(struct fp_thread *fp)
{
	return fp->traps++ % MEASURED_EVERY == 0;
}

/* --- which instruction comes next --- */

static bool read_code(struct fp_thread *fp, uint64_t pc, uint8_t *code)
{
	enum { PAGE = 4096 };
	uint64_t page = pc / PAGE;
	if (page == fp->code_page && pc % PAGE + FP_CODE_BYTES <= PAGE) {
		memcpy(code, (const void *)(uintptr_t)pc, FP_CODE_BYTES); // NOLINT(performance-no-int-to-ptr)
		return true;
	}
	const struct iovec here = { .iov_base = code, .iov_len = FP_CODE_BYTES };
	const struct iovec there = { .iov_base = (void *)(uintptr_t)pc, .iov_len = FP_CODE_BYTES };
	if (!runtime.kernel_copies ||
	    machine_syscall(SYS_process_vm_readv, runtime.pid, (long)&here, 1, (long)&there, 1, 0) != FP_CODE_BYTES)
		return false;
	fp->code_page = page;
	return true;
}

static enum fp_next next_instruction(struct fp_thread *fp, uint64_t pc)
{
	uint8_t code[FP_CODE_BYTES];
	return read_code(fp, pc, code) ? fp_next_instruction(code) : FP_NEXT_UNKNOWN;
}

static bool can_step(struct fp_thread *fp, uint64_t pc)
{
	enum fp_next next = next_instruction(fp, pc);
	fp->is_legacy = next == FP_NEXT_LEGACY;
	return next >= FP_NEXT_LEGACY;
}

/* --- windows --- */

/* Credits the estimated exceptions of these kinds, at `context`; NULL: at the path that was walked last. */
static void pay(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context)
{
	struct fp_thread *fp = thread->fp;
	for (uint32_t left = runtime.requests_of[COUNTER_FP]; left; left &= left - 1) {
		uint32_t request = (uint32_t)__builtin_ctz(left);
		uint64_t amount = 0;
		for (uint32_t kind = 0; kind < FP_KIND_COUNT; kind++)
			if (kinds & runtime.channel->requests[request].fp_kinds & 1U << kind)
				amount += fp->owed[kind];
		uint64_t hits = amount ? runtime_advance(thread, request, amount) : 0;
		thread->shared->estimated[request] += amount;
		thread->shared->estimated_squares[request] += (double)amount * (double)amount;
		if (hits && context)
			runtime_sample_interrupted(thread, request, hits, amount, context);
		else if (hits)
			runtime_sample_again(thread, request, hits, amount);
	}
	for (; kinds; kinds &= kinds - 1)
		fp->owed[__builtin_ctz(kinds)] = 0;
}

/* Credits what is owed to the kept path. */
static void pay_kept(struct runtime_thread *thread)
{
	struct fp_thread *fp = thread->fp;
	uint64_t was_busy = thread->busy;
	if (!fp->path_kinds)
		return;
	thread->busy = RUNTIME_HELD;
	memcpy(thread->walk, fp + 1, runtime_walk_bytes);
	thread->samples++;
	pay(thread, fp->path_kinds, NULL);
	thread->busy = was_busy;
}

/* Adds the estimate for this masked time. */
static void owe(struct fp_thread *fp, uint64_t masked_ns)
{
	for (uint32_t kind = 0; kind < FP_KIND_COUNT; kind++)
		fp->owed[kind] += (uint64_t)(fp->per_ns[kind] * (double)masked_ns);
}

void fp_frequent_end(struct runtime_thread *thread)
{
	struct fp_thread *fp = thread->fp;
	if (!fp->frequent && !fp->legacy_frequent)
		return;
	owe(fp, runtime_less(cpu_now_ns(), fp->masked_at_ns));
	pay_kept(thread);
	fp_frequent_forget(fp);
}

static uint32_t random_below(struct fp_thread *fp, uint32_t limit)
{
	enum { HIGH = 33 };
	fp->random = fp->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((fp->random >> HIGH) % limit);
}

/* Keeps the path of one of the window's steps with exceptions: of the n-th with a probability of 1/n, so that each is
 * equally likely to be kept in the end. A path that cannot be kept is credited at once. */
static void choose(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context)
{
	struct fp_thread *fp = thread->fp;
	if (random_below(fp, ++fp->window_events) != 0)
		return;
	fp->path_kinds = runtime_walk_interrupted(thread, context) ? kinds : 0;
	if (fp->path_kinds)
		memcpy(fp + 1, thread->walk, runtime_walk_bytes);
	else
		pay(thread, kinds, context);
}

/* Returns whether the masked time has paid for another window. */
static bool can_afford_window(const struct fp_thread *fp)
{
	return runtime_less(cpu_now_ns(), fp->masked_at_ns) >= fp->window_cost_ns * ALLOWED_SHARE;
}

/* Begins a window with the instruction at `pc`. Returns false if it must not be stepped. */
static bool begin_window(struct fp_thread *fp, uint64_t pc)
{
	if (!can_step(fp, pc))
		return false;
	fp->is_window = true;
	fp->loads_flags = false;
	fp->window_at_ns = cpu_now_ns();
	fp->window_steps = fp->window_events = 0;
	memset(fp->window_raised, 0, sizeof(fp->window_raised));
	return true;
}

static void end_window(struct runtime_thread *thread)
{
	struct fp_thread *fp = thread->fp;
	for (uint32_t kind = 0; kind < FP_KIND_COUNT; kind++)
		fp->per_ns[kind] = (double)fp->window_raised[kind] * PS_PER_NS / INSTRUCTION_PS / fp->window_steps;
	owe(fp, runtime_less(fp->window_at_ns, fp->masked_at_ns));
	if (fp->window_events)
		pay_kept(thread);
	fp->empty_windows = fp->window_events ? 0 : fp->empty_windows + 1;
	fp->masked_at_ns = cpu_now_ns();
	fp->window_cost_ns = runtime_less(fp->masked_at_ns, fp->window_at_ns);
	if (fp->empty_windows < EMPTY_WINDOWS)
		return;
	fp_frequent_reset(fp);
	fp->level_ns = LEVEL_MAX_NS - RETRY_NS;
	fp->steps = fp->legacy_steps = 0;
	memset(fp->raised, 0, sizeof(fp->raised));
}

static bool window_stepped(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context, uint64_t next_pc)
{
	struct fp_thread *fp = thread->fp;
	uint32_t estimated = fp->is_legacy ? (fp->legacy_frequent ? kinds : 0) : kinds & fp->frequent;
	fp_count(thread, kinds, context);
	fp->window_steps++;
	for (uint32_t left = estimated; left; left &= left - 1)
		fp->window_raised[__builtin_ctz(left)]++;
	if (estimated)
		choose(thread, estimated, context);
	if (fp->window_steps < WINDOW_STEPS && can_step(fp, next_pc))
		return true;
	end_window(thread);
	return false;
}

/* Masks the frequent kinds. A first window begins at once: its rate is used for the whole masked time if there is no
 * other window. */
static bool blame(struct runtime_thread *thread, uint64_t next_pc)
{
	struct fp_thread *fp = thread->fp;
	for (uint32_t kind = 0; kind < FP_KIND_COUNT; kind++)
		if (fp->raised[kind] * BLAMED_SHARE >= fp->steps)
			fp->frequent |= runtime.fp_kinds & (uint8_t)(1U << kind);
	if (fp->legacy_steps * BLAMED_SHARE >= fp->steps)
		fp->legacy_frequent = true;
	for (uint32_t left = runtime.requests_of[COUNTER_FP]; left; left &= left - 1) {
		uint32_t request = (uint32_t)__builtin_ctz(left);
		if (fp->legacy_frequent || fp->frequent & runtime.channel->requests[request].fp_kinds)
			thread->shared->estimated_squares[request] += 1;
	}
	fp->level_ns = 0;
	fp->random ^= thread->random;
	__atomic_or_fetch(&runtime.process->findings, CHANNEL_FINDING_ESTIMATED, __ATOMIC_RELAXED);
	fp->masked_at_ns = cpu_now_ns();
	return begin_window(fp, next_pc);
}

bool fp_frequent_stepped(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context, uint64_t next_pc)
{
	struct fp_thread *fp = thread->fp;
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
	if (fp->is_window)
		return window_stepped(thread, kinds, context, next_pc);
	/* Traps of masked kinds, by words that were set before, are part of the estimate. */
	account(fp, kinds);
	fp_count(thread, kinds & (fp->is_legacy && fp->legacy_frequent ? 0 : ~(uint32_t)fp->frequent), context);
	bool takes_too_long = in_traps_too_long(fp, now, runtime_now_ns(CLOCK_MONOTONIC));
	fp->exact_events += kinds != 0;
	if (fp->exact_steps < EXACT_STEPS && fp->exact_events <= EXACT_EVENTS)
		fp->exact_steps++;
	else if (takes_too_long)
		return blame(thread, next_pc);
	return false;
}

void fp_frequent_tick(struct runtime_thread *thread, ucontext_t *context)
{
	struct fp_thread *fp = thread->fp;
	if ((fp->frequent || fp->legacy_frequent) && can_afford_window(fp) &&
	    begin_window(fp, machine_program_counter_of(context)))
		fp_step(fp, context);
}
