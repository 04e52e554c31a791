/*
 * Estimates the kinds that are raised so often that one trap for each would slow the program down.
 *
 *   exact ----------------> masked <-------------> burst ----------> exact
 *         in_traps_too_long        fp_frequent_tick      rare enough
 *                                  end_burst
 *
 * While masked, these kinds do not trap. Each tick begins a burst: some consecutive events trap and are counted,
 * each on its own path. The number of events that were masked since the last burst is estimated
 *
 *   by the turns   that a loop has made meanwhile, if its registers show them (fp/loops.c), times the
 *                  events of a turn
 *   by the clock   otherwise: the events of the burst, divided by the program's own time from its first to
 *                  its last, times the CPU time that was masked
 *
 * The own time between two close events is measured by single steps: INSTRUCTION_PS for each instruction. Between
 * distant events the program runs and the clock measures the time, less the duration of a trap, which is measured
 * where an instruction traps twice in a row.
 *
 * The estimate is credited to the path of the burst's last event.
 *
 * All instructions of the legacy unit trap while it is observed, whether or not they raise a flag: if they are
 * frequent, the unit is also observed only in bursts.
 */
#include "collect/agent/fp/fp.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "processor/agent/fp_code.h"
#include "processor/agent/machine.h"

enum {
	EXACT_STEPS = 20000, /* a thread's first steps are exact whatever they cost: small counts are never estimated */
	ALLOWED_SHARE = 4,   /* traps may take a fourth of the time ... */
	LEVEL_MAX_NS = 30 * 1000 * 1000, /* ... and may exceed that by this much at a time */
	SIGNAL_MAX_NS = 8000,
	BETWEEN_MAX_NS = 100 * 1000, /* maximum of the time between two traps: other threads may have run */
	SIGNAL_NS = 2500,            /* approximate delivery and return */
	COST_MAX_NS = 50 * 1000,     /* a trap that takes longer was preempted */
	BLAMED_SHARE = 8,            /* kinds that an eighth of the steps raised are frequent */

	BURST_STOPS_MIN = 16,
	BURST_STOPS_SPREAD = 17, /* so that bursts are not in step with a loop */
	BURST_STOPS_MAX = 64,    /* if the last stops have no event to credit */
	WINDOW_STEPS = 256,      /* maximum number of single steps to the next stop */
	WINDOW_SHARE = 8,        /* single steps may take an eighth of the time */
	FIRST_WINDOWS_NS = 2 * 1000 * 1000,
	WINDOW_MAX_NS = 20 * 1000 * 1000,
	GAP_SAMPLES = 3, /* after these the distance to the next stop is known ... */
	GAP_AGAIN = 64,  /* ... and is measured again each 64th time */
	GAP_WEIGHT = 8,
	INSTRUCTION_PS = 250, /* between that of a tight loop and of a dependency chain */
	PS_PER_NS = 1000,
	SHORT_RUN_NS = 20 * 1000, /* a longer run is not the known short distance */
	RUN_LEAST_NS = 25,        /* least time of a run without stepping */

	RARE_GAP_NS = 60 * 1000, /* events at this distance need no estimate */
	RARE_BURSTS = 4,
	NONE_NS = 100 * 1000 * 1000 /* a burst ends if it waits for a stop this long */
};

static uint64_t cpu_now_ns(void)
{
	return runtime_now_ns(CLOCK_THREAD_CPUTIME_ID);
}

void fp_frequent_reset(struct fp_thread *fp)
{
	fp->frequent = 0;
	fp->legacy_frequent = fp->is_burst = false;
	fp->level_ns = fp->rare_bursts = 0;
	fp->run_at_ns = 0;
	fp->is_again = false;
	fp->gap = NULL;
	fp->anchor = (struct fp_anchor){ .pc = 0 };
}

void fp_frequent_forget(struct fp_thread *fp)
{
	fp_frequent_reset(fp);
	memset(fp->owed, 0, sizeof(fp->owed));
	memset(fp->per_ns, 0, sizeof(fp->per_ns));
	fp->has_path = false;
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

/* Approaches a low quantile of the values, not their mean: higher values were interrupted. */
static uint64_t settle(uint64_t at, uint64_t seen)
{
	enum { DOWN = 2, UP = 16 };
	if (at == 0)
		return seen;
	return seen < at ? at - (at - seen) / DOWN : at + (seen - at) / UP;
}

/* Returns whether traps take too much time. The duration of a signal is taken from the shortest distance of traps,
 * because it is longer on a slow machine. A step by the trap flag may take much longer; its duration is measured. */
static bool in_traps_too_long(struct fp_thread *fp, uint64_t now, uint64_t counted)
{
	uint64_t between = runtime_less(fp->entered_ns, fp->level_at_ns);
	fp->signal_ns = settle(fp->signal_ns, between < SIGNAL_MAX_NS ? between : SIGNAL_MAX_NS);
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

/* --- from stop to stop --- */

static struct fp_gap *gap_at(struct fp_thread *fp, uint64_t pc)
{
	struct fp_gap *gap = &fp->gaps[(pc ^ pc >> 6) % FP_GAPS];
	if (gap->pc != pc)
		*gap = (struct fp_gap){ .pc = pc };
	return gap;
}

static void learn(struct fp_gap *gap, uint64_t ps)
{
	if (gap->samples < GAP_WEIGHT)
		gap->samples++;
	gap->ps = (uint32_t)((gap->ps * (uint64_t)(gap->samples - 1) + ps) / gap->samples);
}

/* Lets the program run until the next trap. */
static void run(struct fp_thread *fp)
{
	fp->run_at_ns = fp->entered_ns;
	fp->run_cpu_ns = cpu_now_ns();
}

static void learn_turn(struct fp_thread *fp, uint64_t turn)
{
	enum { WEIGHT = 16, OUTLIER = 4 };
	if (!fp->turn_ns)
		fp->turn_ns = turn;
	else if (turn < OUTLIER * fp->turn_ns)
		fp->turn_ns = fp->turn_ns - fp->turn_ns / WEIGHT + turn / WEIGHT;
}

/* If single steps have not measured the distance from the last stop, the clock does, less the time from the handler
 * to the program and back. That time is measured by letting an instruction trap twice. */
bool fp_frequent_trap(struct fp_thread *fp, uint64_t now)
{
	if (!fp->is_burst || !fp->run_at_ns)
		return false;
	uint64_t ran = runtime_less(cpu_now_ns(), fp->run_cpu_ns);
	struct fp_gap *gap = fp->gap;
	bool is_known = gap && !gap->is_far && fp->burst_stops > 0;
	fp->run_at_ns = 0;
	if (fp->is_again) {
		fp->is_again = false;
		learn_turn(fp, ran);
		return false;
	}
	if (is_known && runtime_less(ran, fp->turn_ns ? fp->turn_ns : SIGNAL_NS) < SHORT_RUN_NS) {
		fp->burst_ps += gap->ps;
		return false;
	}
	if (fp->burst_stops > 0) {
		fp->burst_runs_ns += (int64_t)ran - (int64_t)(fp->turn_ns ? fp->turn_ns : SIGNAL_NS);
		fp->burst_runs++;
	}
	fp->is_again = !fp->turn_ns || now >> 4 & 1;
	if (fp->is_again)
		run(fp);
	return fp->is_again;
}

static bool step_on(struct fp_thread *fp, uint64_t pc)
{
	enum fp_next next = next_instruction(fp, pc);
	if (next < FP_NEXT_LEGACY || fp->window_steps >= WINDOW_STEPS || fp->stepped_ns == 0) {
		if (fp->gap && fp->window_steps >= WINDOW_STEPS)
			*fp->gap = (struct fp_gap){ .pc = fp->gap->pc, .is_far = true, .samples = GAP_SAMPLES };
		fp->burst_ps += (uint64_t)fp->window_steps * INSTRUCTION_PS;
		run(fp);
		fp->gap = NULL;
		return false;
	}
	fp->window_steps++;
	fp->is_window = true;
	fp->is_legacy = next == FP_NEXT_LEGACY;
	fp->loads_flags = false;
	return true;
}

/* At a stop: decides whether to step or to run to the next one. Returns true to step. */
static bool go_on(struct fp_thread *fp, uint64_t pc, uint64_t next_pc, uint64_t random)
{
	struct fp_gap *gap = fp->gap = gap_at(fp, pc);
	if (gap->samples < GAP_SAMPLES || (!gap->is_far && random % GAP_AGAIN == 0)) {
		fp->window_steps = 0;
		return step_on(fp, next_pc);
	}
	run(fp);
	return false;
}

/* --- bursts --- */

/* Samples at `context`; NULL: at the last burst's path, or if that is unknown, here. */
static void sample(struct runtime_thread *thread, uint32_t request, uint64_t hits, uint64_t amount,
		   const ucontext_t *context)
{
	struct fp_thread *fp = thread->fp;
	if (!context && fp->has_path) {
		runtime_sample_again(thread, request, hits, amount);
	} else if (!context) {
		runtime_sample_here(thread, request, hits, amount, 0);
	} else {
		runtime_sample_interrupted(thread, request, hits, amount, context);
		fp->has_path = runtime_can_repeat(thread);
		if (fp->has_path)
			memcpy(fp + 1, thread->walk, runtime_walk_bytes);
	}
}

/* Credits the estimated events of the kinds of this event. */
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
		if (hits)
			sample(thread, request, hits, amount, context);
	}
	for (; kinds; kinds &= kinds - 1)
		fp->owed[__builtin_ctz(kinds)] = 0;
}

void fp_frequent_end(struct runtime_thread *thread, const ucontext_t *context)
{
	struct fp_thread *fp = thread->fp;
	uint32_t kinds = 0;
	uint64_t was_busy = thread->busy;
	if (!fp->frequent && !fp->legacy_frequent)
		return;
	uint64_t masked_ns = fp->is_burst ? fp->masked_ns : runtime_less(cpu_now_ns(), fp->masked_at_ns);
	for (uint32_t kind = 0; kind < FP_KIND_COUNT; kind++) {
		fp->owed[kind] += (uint64_t)((double)masked_ns * fp->per_ns[kind]);
		if (fp->owed[kind])
			kinds |= 1U << kind;
	}
	thread->busy = RUNTIME_HELD;
	if (fp->has_path) {
		memcpy(thread->walk, fp + 1, runtime_walk_bytes);
		thread->samples++;
		context = NULL;
	}
	pay(thread, kinds, context);
	thread->busy = was_busy;
	fp_frequent_forget(fp);
}

/* Adds the estimated events of a kind, and updates its rate. `seen`: events per ns in the burst itself. */
static void note(struct fp_thread *fp, uint32_t kind, double events, double seen)
{
	const double fresh = 0.25; /* weight of the last burst */
	double *rate = &fp->per_ns[kind];
	double now = fp->masked_ns ? events / (double)fp->masked_ns : seen;
	*rate = *rate > 0 ? *rate + (now - *rate) * fresh : now;
	fp->owed[kind] += (uint64_t)events;
}

/* Called at the last stop, which itself is not part of the rate. */
static void end_burst(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context)
{
	struct fp_thread *fp = thread->fp;
	double by_clock[FP_KIND_COUNT], by_turns[FP_KIND_COUNT];
	int64_t least = (int64_t)fp->burst_runs * RUN_LEAST_NS;
	fp->burst_ps += (uint64_t)(fp->burst_runs_ns > least ? fp->burst_runs_ns : least) * PS_PER_NS;
	double per_ns = fp->burst_ps ? PS_PER_NS / (double)fp->burst_ps : 0;
	for (uint32_t kind = 0; kind < FP_KIND_COUNT; kind++)
		by_clock[kind] = fp->burst_raised[kind] * per_ns * (double)fp->masked_ns;
	bool has_turns = fp_loops_end(fp, by_clock, by_turns);
	for (uint32_t kind = 0; kind < FP_KIND_COUNT; kind++)
		note(fp, kind, has_turns ? by_turns[kind] : by_clock[kind], fp->burst_raised[kind] * per_ns);
	pay(thread, kinds, context);
	bool is_rare = fp->burst_ps / PS_PER_NS / (fp->burst_stops + 1) > RARE_GAP_NS;
	fp->rare_bursts = is_rare ? fp->rare_bursts + 1 : 0;
	fp->is_burst = false;
	fp->masked_at_ns = cpu_now_ns();
	if (fp->rare_bursts >= RARE_BURSTS)
		fp_frequent_reset(fp);
}

static bool burst_stepped(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context, uint64_t next_pc)
{
	struct fp_thread *fp = thread->fp;
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
	if (fp->is_stepping) {
		fp->stepped_ns = runtime_less(fp->stepped_ns, runtime_less(now, fp->entered_ns));
		fp->entered_ns = now;
	}
	if (fp->is_window && !kinds && !fp->is_legacy)
		return step_on(fp, next_pc);
	if (fp->is_window && fp->gap) {
		uint64_t ps = (uint64_t)fp->window_steps * INSTRUCTION_PS;
		learn(fp->gap, ps);
		fp->burst_ps += ps;
	}
	fp->is_window = false;
	uint32_t estimated = fp->is_legacy ? (fp->legacy_frequent ? kinds : 0) : kinds & fp->frequent;
	bool is_last = fp->burst_stops >= fp->burst_target && (estimated || fp->burst_stops >= BURST_STOPS_MAX);
	if (is_last) {
		end_burst(thread, estimated, context);
		return false;
	}
	fp_loops_stop(fp, context);
	fp->burst_stops++;
	for (uint32_t left = estimated; left; left &= left - 1)
		fp->burst_raised[__builtin_ctz(left)]++;
	return go_on(fp, fp->pc, next_pc, now >> 3 ^ thread->random);
}

static void begin_burst(struct runtime_thread *thread, uint64_t now)
{
	struct fp_thread *fp = thread->fp;
	fp->is_burst = true;
	fp->masked_ns = runtime_less(cpu_now_ns(), fp->masked_at_ns);
	fp->stepped_ns += fp->masked_ns / WINDOW_SHARE;
	if (fp->stepped_ns > WINDOW_MAX_NS)
		fp->stepped_ns = WINDOW_MAX_NS;
	fp->burst_target = BURST_STOPS_MIN + (uint32_t)((now ^ thread->random) % BURST_STOPS_SPREAD);
	fp->burst_stops = 0;
	fp->burst_ps = 0;
	fp->burst_runs_ns = fp->burst_runs = 0;
	fp->is_again = false;
	fp_loops_begin(fp);
	memset(fp->burst_raised, 0, sizeof(fp->burst_raised));
	fp->gap = NULL;
	fp->entered_ns = now;
	run(fp);
}

/* Masks the frequent kinds. The first burst begins at once: its rate is used for the whole masked time if there is
 * no other burst. */
static void blame(struct runtime_thread *thread, uint64_t now)
{
	struct fp_thread *fp = thread->fp;
	for (uint32_t kind = 0; kind < FP_KIND_COUNT; kind++)
		if (fp->raised[kind] * BLAMED_SHARE >= fp->steps)
			fp->frequent |= runtime.fp_kinds & (uint8_t)(1U << kind);
	if (fp->legacy_steps * BLAMED_SHARE >= fp->steps)
		fp->legacy_frequent = true;
	fp->level_ns = 0;
	__atomic_or_fetch(&runtime.process->findings, CHANNEL_FINDING_ESTIMATED, __ATOMIC_RELAXED);
	fp->masked_at_ns = cpu_now_ns();
	begin_burst(thread, now);
	fp->masked_ns = 0;
	fp->stepped_ns += FIRST_WINDOWS_NS;
}

bool fp_frequent_stepped(struct runtime_thread *thread, uint32_t kinds, const ucontext_t *context, uint64_t next_pc)
{
	struct fp_thread *fp = thread->fp;
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
	if (fp->is_burst) {
		fp_count(thread, kinds, context);
		return burst_stepped(thread, kinds, context, next_pc);
	}
	/* Traps of masked kinds, by words that were set before, are part of the estimate. */
	account(fp, kinds);
	fp_count(thread, kinds & (fp->is_legacy && fp->legacy_frequent ? 0 : ~(uint32_t)fp->frequent), context);
	bool takes_too_long = in_traps_too_long(fp, now, runtime_now_ns(CLOCK_MONOTONIC));
	if (fp->exact_steps < EXACT_STEPS)
		fp->exact_steps++;
	else if (takes_too_long)
		blame(thread, now);
	return false;
}

void fp_frequent_tick(struct runtime_thread *thread, ucontext_t *context)
{
	struct fp_thread *fp = thread->fp;
	if (!fp->frequent && !fp->legacy_frequent)
		return;
	struct fp_words words = fp_words_of(context);
	fp_show(fp, &words);
	uint64_t now = runtime_now_ns(CLOCK_MONOTONIC);
	if (!fp->is_burst)
		begin_burst(thread, now);
	else if (fp->run_at_ns && runtime_less(now, fp->run_at_ns) > NONE_NS)
		fp_frequent_reset(fp);
	fp_hide(fp, &words);
	fp_words_set(context, &words);
}
