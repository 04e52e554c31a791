/* What a tally does not tell, or not all of. */
#include <inttypes.h>
#include <stdio.h>

#include "collect/count/parts.h"

struct losses {
	uint64_t processes_refused, threads_refused, threads_stopped, events_lost, calls_uncounted;
	uint64_t folded;     /* calls whose paths were too many to be told apart */
	uint64_t unended;    /* processes that were killed, or are still running */
	uint64_t reused;     /* threads whose counts another one has taken on */
	uint64_t ends_early; /* 1: the file does */
	uint64_t untimed;    /* 1: times were asked for, and hooks that tell no ends were called */
	uint64_t blockless;  /* 1: blocks were asked for, and no hook of theirs was called */
	uint64_t mixed;      /* 1: libraries came to addresses where others had been, or were too many */
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
	losses.untimed = is_timed && hooks & (TALLY_HOOK_MCOUNT | TALLY_HOOK_FENTRY);
	losses.blockless =
		tally->header.measurement == TALLY_BLOCKS && hooks && !(hooks & (TALLY_HOOK_BLOCK | TALLY_HOOK_GUARD));
	for (size_t i = 0; i < tally->thread_count; i++) {
		losses.folded += folded_calls(&tally->threads[i].tree);
		losses.reused += tally->threads[i].shared->threads_before;
	}
	return losses;
}

int tally_note_losses(const struct tally *tally, struct profile *profile)
{
	const struct losses losses = find_losses(tally);
	/* The first warning is what `cpprof record` ends with: what was lost comes before what was not to be had. */
	const struct {
		uint64_t count;
		const char *key;
		const char *sentence, *of_one; /* with a place for the count; NULL: one is no different */
	} notes[] = {
		{ losses.processes_refused, "warning",
		  "%" PRIu64 " processes were not counted: there was no room in the file, or they could not open it "
		  "(after chroot, or as another user)",
		  "%" PRIu64 " process was not counted: there was no room in the file, or it could not open it (after "
		  "chroot, or as another user)" },
		{ losses.threads_refused, "warning",
		  "%" PRIu64 " threads were not counted: there was no memory for it, or no room in the file",
		  "%" PRIu64 " thread was not counted: there was no memory for it, or no room in the file" },
		{ losses.threads_stopped, "warning",
		  "%" PRIu64 " threads were counted only until memory, disk space or the room in the file ran out",
		  "%" PRIu64 " thread was counted only until memory, disk space or the room in the file ran out" },
		{ losses.calls_uncounted, "warning", "%" PRIu64 " calls were not counted",
		  "%" PRIu64 " call was not counted" },
		{ losses.events_lost, "warning", "%" PRIu64 " events of the trace were lost",
		  "%" PRIu64 " event of the trace was lost" },
		{ losses.folded, "warning",
		  "%" PRIu64
		  " calls were counted on shorter paths than their own: a thread has room for 2 million paths",
		  "%" PRIu64
		  " call was counted on a shorter path than its own: a thread has room for 2 million paths" },
		{ losses.mixed, "warning",
		  "libraries were loaded and unloaded so often that some came to addresses where others had been: what "
		  "they called stands under names of both",
		  NULL },
		{ losses.ends_early, "warning",
		  "the file is shorter than it was to be: the disk was full, or it was cut since", NULL },
		{ losses.untimed, "warning",
		  "-pg's hooks tell when a function is entered, but not when it is left: its calls were counted, not "
		  "timed; compile with -finstrument-functions to time them",
		  NULL },
		{ losses.blockless, "warning",
		  "no basic blocks were counted: compile with -fsanitize-coverage=trace-pc (gcc) or "
		  "-fsanitize-coverage=trace-pc-guard (clang)",
		  NULL },
		{ losses.unended, "processes without an end",
		  "%" PRIu64 ": killed, or still running; what they had counted until then is here", NULL },
		{ losses.reused, "threads counted with others",
		  "%" PRIu64 ": a new thread goes on where one that has ended had counted", NULL },
	};
	char text[256];
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		if (notes[i].count == 0)
			continue;
		bool is_one = notes[i].count == 1 && notes[i].of_one;
		snprintf(text, sizeof(text), is_one ? notes[i].of_one : notes[i].sentence, notes[i].count);
		int64_t result = profile_add_note(profile, notes[i].key, text);
		if (result < 0)
			return (int)result;
	}
	return tally_note_probes(tally, profile);
}
