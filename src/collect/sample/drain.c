/* The loop between the start and the end of a run: wait, drain, flush. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "collect/sample/causal/director.h"
#include "collect/sample/clock.h"
#include "collect/sample/destination.h"
#include "collect/sample/kernel_symbols.h"
#include "collect/sample/priority.h"
#include "collect/sample/run.h"
#include "collect/sample/target_signals.h"
#include "profile/module_name.h"

enum {
	NS_PER_MS = 1000000,
	NS_PER_S = 1000000000,
	/* The kernel stamps a record before the record is visible in the ring: by 10 us or so, more where
	 * a hypervisor takes the CPU away in between. */
	SETTLE_NS = NS_PER_MS,
	WAIT_NS = 100 * NS_PER_MS,
	/* While stacks do not fit into samples, the monitor must read the target's memory before that
	 * changes; it hurries more after it found that the memory had changed. Each mode lasts until there
	 * was no such sample for HURRY_LASTS_NS. It also hurries while each event of a resource is in the rings. */
	HURRY_NS = NS_PER_MS,
	RUSH_NS = NS_PER_MS / 5,
	HURRY_SETTLE_NS = NS_PER_MS / 20,
	HURRY_LASTS_NS = 200 * NS_PER_MS,
};
static const uint64_t OWED_MOST_NS = 10 * (uint64_t)NS_PER_S;

int run_open_module(void *context, uint32_t module, struct error *error)
{
	struct run *run = context;
	if (module_is_kernel_code(run->sink.profile, module)) {
		int fd = run->kernel_symbols;
		run->kernel_symbols = -1;
		return fd >= 0 ? fd : kernel_symbols_open(run->sink.profile, run->plan.vtable, run->backend, error);
	}
	return modules_open_for_names(run->sink.modules, module, error);
}

static void warn(const struct run *run, const char *message, const char *consequence)
{
	char sentence[640];
	snprintf(sentence, sizeof(sentence), "%s; %s", message, consequence);
	if (run->options->warn)
		run->options->warn(run->options->context, sentence);
}

/* The disk is full. The hits are kept for the next flush, up to a limit: then the sink adds no more until there is
 * room. */
static void note_full(struct run *run, const struct error *why, uint64_t now)
{
	enum { KEPT_MAX = 1 << 18 };
	const struct profile *profile = run->sink.profile;
	if (!run->full_since_ns) {
		warn(run, why->message, "the recording goes on when there is room");
		run->full_since_ns = now;
	}
	run->sink.is_full = profile->hit_count > KEPT_MAX || profile->touch_count > KEPT_MAX;
}

static void note_room(struct run *run, uint64_t now)
{
	if (run->full_since_ns)
		run->full_ns += now - run->full_since_ns;
	run->full_since_ns = 0;
	run->sink.is_full = false;
}

void run_flush(struct run *run)
{
	const struct destination *destination = run->options->destination;
	const struct frames_options names = { .open_module = run_open_module, .context = run };
	struct profile *profile = run->sink.profile;
	struct error error = { 0 };
	profile->end_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (destination->names_itself)
		walk_ends_resolve(stacks_ends(run->sink.stacks), profile);
	walk_ends_publish(stacks_ends(run->sink.stacks), profile);
	if (run->options->rank && profile_label_all(profile, PROFILE_LABEL_RANK, run->options->rank) < 0)
		run->sink.out_of_memory = true;
	if (run->write_error.code == 0 && destination->flush(destination->context, profile, &names, &error) == 0) {
		note_room(run, profile->end_ns);
	} else if (run->write_error.code == 0 && destination->can_resume &&
		   destination->can_resume(destination->context)) {
		note_full(run, &error, profile->end_ns);
		return;
	} else if (run->write_error.code == 0) {
		bool goes_on = run->path || !process_list_is_empty(run->options->processes);
		run->write_error = error;
		warn(run, error.message,
		     goes_on ? "the target goes on, the recording ends here" : "the recording ends here");
	}
	/* top shows no findings about names, and names more of them meanwhile. */
	if (!destination->names_itself && leaf_hits_add(&run->leaf_hits, profile) < 0)
		run->sink.out_of_memory = true;
	profile_clear_hits(profile);
}

static void handle_signal(struct run *run)
{
	struct signalfd_siginfo info;
	if (run->options->apart) {
		run->done = true;
		return;
	}
	while (target_signals_next(run->signal_fd, &info)) {
		if (!run->path)
			run->done = true; /* a process that we did not start keeps running */
		else
			target_interrupt(&run->target, &info);
	}
}

static int list_descriptors(struct run *run, struct error *error)
{
	const struct backend_vtable *vtable = run->plan.vtable;
	size_t rings = vtable->descriptors(run->backend, NULL, 0);
	size_t targets = run->path ? 1 : run->attached_count;
	run->descriptors = calloc(1 + targets + rings, sizeof(*run->descriptors));
	if (!run->descriptors)
		return error_memory(error);
	struct pollfd *next = run->descriptors;
	const struct record_apart *apart = run->options->apart;
	*next++ = (struct pollfd){ .fd = apart ? apart->stop_fd : run->signal_fd, .events = POLLIN };
	for (size_t i = 0; i < targets; i++)
		*next++ = (struct pollfd){ .fd = run->path ? run->target.pidfd : run->attached[i], .events = POLLIN };
	run->target_count = run->targets_left = targets;
	run->descriptor_count = 1 + targets + vtable->descriptors(run->backend, next, rings);
	return 0;
}

/* Waits for work, at most `wait_ns`. */
static void wait_for_work(struct run *run, uint64_t wait_ns)
{
	struct timespec wait = { .tv_sec = (time_t)(wait_ns / NS_PER_S), .tv_nsec = (long)(wait_ns % NS_PER_S) };
	if (ppoll(run->descriptors, run->descriptor_count, &wait, NULL) <= 0)
		return;
	if (run->descriptors[0].revents)
		handle_signal(run);
	for (size_t i = 1; i <= run->target_count; i++) {
		if (run->descriptors[i].revents) {
			run->descriptors[i].fd = -1;
			if (--run->targets_left == 0)
				run->done = true;
		}
	}
}

/* Makes a turn of the loop that used so much CPU time last so long that this is the share that
 * the user permits. A busy machine reports maps of new processes hundreds of times a second;
 * each would be a turn. A turn of more than WAIT_NS would let rings overflow, so the following
 * turns make up for the rest: *owed_ns, up to OWED_MOST_NS. */
static void limit_cpu_share(const struct run *run, uint64_t began_ns, uint64_t cpu_ns, uint64_t *owed_ns)
{
	const double share = run->options->cpu_share;
	if (share <= 0)
		return;
	uint64_t passed_ns = clock_now_ns(CLOCK_MONOTONIC) - began_ns;
	uint64_t wanted_ns = *owed_ns + (uint64_t)((double)(clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) / share);
	uint64_t left_ns = wanted_ns > passed_ns ? wanted_ns - passed_ns : 0;
	uint64_t room_ns = WAIT_NS > passed_ns ? WAIT_NS - passed_ns : 0;
	const struct timespec rest = { .tv_nsec = (long)(left_ns < room_ns ? left_ns : room_ns) };
	*owed_ns = left_ns - (uint64_t)rest.tv_nsec;
	if (*owed_ns > OWED_MOST_NS)
		*owed_ns = OWED_MOST_NS;
	if (rest.tv_nsec > 0)
		nanosleep(&rest, NULL);
}

/* Reports the samples so far, if the last report was a second ago. Returns when the next one is due. */
static uint64_t report_running(const struct run *run, uint64_t now, uint64_t due)
{
	if (now < due || !run->options->running)
		return due;
	run->options->running(run->options->context, run->sink.samples, run->sink.profile->lost);
	return now + NS_PER_S;
}

int run_drain(struct run *run, struct error *error)
{
	if (list_descriptors(run, error) < 0)
		return error->code;
	priority_raise();
	const struct backend_vtable *vtable = run->plan.vtable;
	const uint64_t flush_ns = run->options->destination->flush_ns;
	uint64_t start = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t next_flush = start + flush_ns, next_report = start + NS_PER_S;
	uint64_t end = run->options->duration_ns ? start + run->options->duration_ns : UINT64_MAX;
	uint64_t hurry_until = 0, next_experiment = 0;
	struct causal_director *director = run->options->director;
	if (director)
		causal_director_starts(director, start);
	uint64_t rush_until = 0, owed = 0;
	bool more = false; /* the backend has an event that should be delivered soon */
	bool urgent = vtable->is_urgent && vtable->is_urgent(run->backend);
	while (!run->done) {
		uint64_t now = clock_now_ns(CLOCK_MONOTONIC), began = now, cpu = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
		bool hurry = urgent || now < hurry_until;
		uint64_t wait = now < rush_until || more ? RUSH_NS : hurry ? HURRY_NS : WAIT_NS;
		uint64_t until = next_flush < end ? next_flush : end;
		if (director && next_experiment < until)
			until = next_experiment;
		uint64_t left = until > now ? until - now : 0;
		wait_for_work(run, wait < left ? wait : left);
		now = clock_now_ns(CLOCK_MONOTONIC);
		uint64_t settle = hurry ? HURRY_SETTLE_NS : SETTLE_NS;
		more = vtable->drain(run->backend, now - settle, &run->backend_sink);
		run->backend_sink.settled(run->backend_sink.context);
		if (director)
			next_experiment = causal_director_turn(director, clock_now_ns(CLOCK_MONOTONIC), run->done);
		struct stacks_cut cut = stacks_cut_recently(run->sink.stacks);
		if (cut.stacks > 0)
			hurry_until = now + HURRY_LASTS_NS;
		if (cut.too_late > 0)
			rush_until = now + HURRY_LASTS_NS;
		bool flush_is_due = vtable->wants_flush && vtable->wants_flush(run->backend);
		if (now >= next_flush || flush_is_due) {
			run_flush(run);
			next_flush = now + flush_ns;
		}
		if (flush_is_due)
			vtable->flushed(run->backend);
		next_report = report_running(run, now, next_report);
		if (now >= end)
			run->done = true;
		limit_cpu_share(run, began, cpu, &owed);
	}
	return 0;
}
