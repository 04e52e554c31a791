/* Adds the findings of a tally: what was not counted, or not in the way that was requested. */
#include "collect/count/parts.h"
#include "profile/findings.h"

struct losses {
	uint64_t processes_refused, threads_refused, threads_stopped, events_lost, calls_uncounted;
	uint64_t folded;     /* calls counted on a shorter path, because there were too many paths */
	uint64_t unended;    /* processes without an end: killed, or still running */
	uint64_t reused;     /* threads whose counts are merged with the counts of a later thread */
	uint64_t ends_early; /* 1: the file is shorter than its header says */
	uint64_t untimed;    /* 1: times were requested, but some hooks did not report exits */
	uint64_t blockless;  /* 1: blocks were requested, but no hook of basic blocks was called */
	uint64_t sandboxed;  /* 1: a seccomp filter forbids what ticks or further memory need */
	uint64_t timerless;  /* 1: the kernel refused a timer, or the handler of its signal */
	uint64_t mixed;      /* 1: libraries were mapped to addresses of earlier libraries, or were too many */
};

static uint64_t folded_calls(const struct count_tree *tree)
{
	uint64_t count = 0;
	for (size_t i = 0; i < tree->call_count; i++)
		if (tree->calls[i].flags & TALLY_EDGE_FOLDED)
			count += tree->calls[i].count;
	return count;
}

static struct losses find_losses(const struct tally *tally)
{
	struct losses losses = { .ends_early = tally->ends_early };
	bool is_timed = tally->header.measurement == TALLY_PATHS_TIMED || tally->header.measurement == TALLY_TRACE;
	uint32_t hooks = 0;
	for (size_t i = 0; i < tally->process_count; i++) {
		const struct tally_process *process = tally->processes[i].shared;
		hooks |= process->hooks;
		losses.threads_refused += process->threads_refused;
		losses.threads_stopped += process->threads_stopped;
		losses.events_lost += process->events_lost;
		losses.calls_uncounted += process->calls_uncounted;
		losses.unended += process->end_ns == 0;
		for (size_t j = 0; j < tally->processes[i].module_count; j++)
			losses.mixed |= tally->processes[i].modules[j].others_mixed;
	}
	if (tally->header.processes > tally->process_count)
		losses.processes_refused = tally->header.processes - tally->process_count;
	losses.sandboxed = (hooks & TALLY_SANDBOXED) != 0;
	losses.timerless = (hooks & TALLY_NO_TIMER) != 0;
	losses.untimed = is_timed && hooks & (TALLY_HOOK_MCOUNT | TALLY_HOOK_FENTRY);
	losses.blockless = tally->header.measurement == TALLY_BLOCKS &&
			   hooks & ~(uint32_t)(TALLY_SANDBOXED | TALLY_NO_TIMER) &&
			   !(hooks & (TALLY_HOOK_BLOCK | TALLY_HOOK_GUARD));
	for (size_t i = 0; i < tally->thread_count; i++) {
		losses.folded += folded_calls(&tally->threads[i].tree);
		losses.reused += tally->threads[i].shared->threads_before;
	}
	return losses;
}

/* Findings of losses precede the findings of what could not be measured. */
static void add_losses(const struct losses *losses, struct profile *profile)
{
	if (losses->processes_refused > 0)
		finding_add(profile, FINDING_PROCESSES_NOT_RECORDED, losses->processes_refused,
			    "{# process was|# processes were} not counted: the file was full, or {it|they} could not "
			    "open it (after chroot, or as another user)");
	if (losses->threads_refused > 0)
		finding_add(profile, FINDING_THREADS_NOT_RECORDED, losses->threads_refused,
			    "{# thread was|# threads were} not counted: the memory or the file was full");
	if (losses->threads_stopped > 0)
		finding_add(
			profile, FINDING_THREADS_CUT_SHORT, losses->threads_stopped,
			"{# thread was|# threads were} counted only until the memory, the disk or the file was full");
	if (losses->calls_uncounted > 0)
		finding_add(profile, FINDING_CALLS_UNCOUNTED, losses->calls_uncounted,
			    "{# call was|# calls were} not counted");
	if (losses->events_lost > 0)
		finding_add(profile, FINDING_TRACE_EVENTS_LOST, losses->events_lost,
			    "{# event|# events} of the trace {was|were} lost");
	if (losses->folded > 0)
		finding_add(profile, FINDING_PATHS_FOLDED, losses->folded,
			    "{# call was counted on a shorter path than its|# calls were counted on shorter paths than "
			    "their} own: limit 2 million paths in a thread");
	if (losses->mixed > 0)
		finding_add(profile, FINDING_LIBRARIES_MIXED, 0,
			    "libraries were loaded at addresses where others had been unloaded");
	if (losses->ends_early > 0)
		finding_add(profile, FINDING_TALLY_CUT, 0, "the file is truncated");
}

static void add_limits(const struct losses *losses, struct profile *profile)
{
	if (losses->untimed > 0)
		finding_add(
			profile, FINDING_CALLS_UNTIMED, 0,
			"calls that -pg's hooks report were counted, not timed: compile with -finstrument-functions");
	if (losses->blockless > 0)
		finding_add(profile, FINDING_BLOCKS_UNCOUNTED, 0,
			    "no basic blocks were counted: compile with -fsanitize-coverage=trace-pc (gcc) or "
			    "-fsanitize-coverage=trace-pc-guard (clang)");
	if (losses->sandboxed > 0)
		finding_add(profile, FINDING_SANDBOXED, 0,
			    "the program forbids itself system calls (seccomp) that the measurement needs");
	else if (losses->timerless > 0)
		finding_add(profile, FINDING_TIMER_SIGNAL_TAKEN, 0,
			    "samples are missing: the kernel refused a timer, or the handler of its signal");
	if (losses->unended > 0)
		finding_add(profile, FINDING_PROCESSES_UNENDED, losses->unended,
			    "{# process was|# processes were} killed, or still {runs|run}");
	if (losses->reused > 0)
		finding_add(profile, FINDING_THREADS_REUSED, losses->reused,
			    "{# thread was|# threads were} counted together with a later one");
}

int tally_add_findings(const struct tally *tally, struct profile *profile)
{
	const struct losses losses = find_losses(tally);
	add_losses(&losses, profile);
	add_limits(&losses, profile);
	return profile->findings_error < 0 ? profile->findings_error : tally_add_points_off(tally, profile);
}
