/* The loop between the start and the end of a run: wait, drain, flush. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "collect/sample/clock.h"
#include "collect/sample/destination.h"
#include "collect/sample/priority.h"
#include "collect/sample/run.h"
#include "collect/sample/target_signals.h"

enum {
	NS_PER_MS = 1000000,
	NS_PER_S = 1000000000,
	/* The kernel stamps a record before the record is visible in the ring: by 10 us or so, more where
	 * a hypervisor takes the CPU away in between. */
	SETTLE_NS = NS_PER_MS,
	WAIT_NS = 100 * NS_PER_MS,
	/* While stacks do not fit into samples, the monitor must read the target's memory before that
	 * changes; it hurries more after it found that the memory had changed. Each mode lasts until there
	 * was no such sample for HURRY_LASTS_NS. */
	HURRY_NS = NS_PER_MS,
	RUSH_NS = NS_PER_MS / 5,
	HURRY_SETTLE_NS = NS_PER_MS / 20,
	HURRY_LASTS_NS = 200 * NS_PER_MS,
	/* Rings whose owner has exited do not wake us. */
	UNWOKEN_NS = NS_PER_MS,
};

int run_open_module(void *context, uint32_t module)
{
	const struct run *run = context;
	return modules_open_for_names(run->recorder.modules, module);
}

void run_flush(struct run *run)
{
	const struct record_options *options = run->options;
	const struct destination *destination = options->destination;
	const struct frames_options names = { .open_module = run_open_module, .context = run };
	struct profile *profile = run->recorder.profile;
	profile->end_ns = clock_now_ns(CLOCK_MONOTONIC);
	stacks_publish(run->recorder.stacks);
	if (run->write_error.code == 0 &&
	    destination->flush(destination->context, profile, &names, &run->write_error) < 0 && options->warn) {
		char sentence[640];
		snprintf(sentence, sizeof(sentence), "%s; %sthe recording ends here", run->write_error.message,
			 run->path || options->pid ? "the target goes on, " : "");
		options->warn(options->context, sentence);
	}
	profile_clear_hits(profile);
}

static void take_signal(struct run *run)
{
	struct signalfd_siginfo info;
	while (target_signals_next(run->signal_fd, &info)) {
		if (!run->path)
			run->done = true; /* a process that we did not start keeps running */
		else
			target_signals_pass(&info, run->target.pid);
	}
}

static int list_descriptors(struct run *run, struct error *error)
{
	const struct backend_vtable *vtable = run->plan.vtable;
	size_t rings = vtable->descriptors(run->backend, NULL, 0);
	run->descriptors = calloc(rings + 2, sizeof(*run->descriptors));
	if (!run->descriptors)
		return error_set(error, ERROR_MEMORY, "out of memory");
	run->descriptors[0] = (struct pollfd){ .fd = run->signal_fd, .events = POLLIN };
	run->descriptors[1] = (struct pollfd){ .fd = run->target.pidfd, .events = POLLIN };
	run->descriptor_count = 2 + vtable->descriptors(run->backend, run->descriptors + 2, rings);
	return 0;
}

/* Waits for work, at most `wait_ns`. */
static void wait_for_work(struct run *run, uint64_t wait_ns)
{
	struct timespec wait = { .tv_sec = (time_t)(wait_ns / NS_PER_S), .tv_nsec = (long)(wait_ns % NS_PER_S) };
	if (ppoll(run->descriptors, run->descriptor_count, &wait, NULL) <= 0)
		return;
	if (run->descriptors[0].revents)
		take_signal(run);
	if (run->descriptors[1].revents)
		run->done = true;
	/* The descriptor of a ring whose own thread has exited is ready at every poll, so it is polled no
	 * more. */
	for (size_t i = 2; i < run->descriptor_count; i++) {
		if (run->descriptors[i].revents & (POLLHUP | POLLERR)) {
			run->descriptors[i].fd = -1;
			run->ring_owner_gone = true;
		}
	}
}

int run_watch(struct run *run, struct error *error)
{
	if (list_descriptors(run, error) < 0)
		return error->code;
	priority_raise();
	const struct backend_vtable *vtable = run->plan.vtable;
	const uint64_t flush_ns = run->options->destination->flush_ns;
	uint64_t start = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t next_flush = start + flush_ns;
	uint64_t end = run->options->duration_ns ? start + run->options->duration_ns : UINT64_MAX;
	uint64_t hurry_until = 0;
	uint64_t rush_until = 0;
	bool more = false; /* the backend has an event that should be delivered soon */
	while (!run->done) {
		uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
		bool hurry = now < hurry_until;
		uint64_t wait = now < rush_until || more ? RUSH_NS
				: hurry                  ? HURRY_NS
				: run->ring_owner_gone   ? UNWOKEN_NS
							 : WAIT_NS;
		uint64_t until = next_flush < end ? next_flush : end;
		uint64_t left = until > now ? until - now : 0;
		wait_for_work(run, wait < left ? wait : left);
		now = clock_now_ns(CLOCK_MONOTONIC);
		uint64_t settle = hurry ? HURRY_SETTLE_NS : SETTLE_NS;
		more = vtable->drain(run->backend, now - settle, &run->sink);
		struct stacks_cut cut = stacks_cut_recently(run->recorder.stacks);
		if (cut.stacks > 0)
			hurry_until = now + HURRY_LASTS_NS;
		if (cut.too_late > 0)
			rush_until = now + HURRY_LASTS_NS;
		bool asked = vtable->wants_flush && vtable->wants_flush(run->backend);
		if (now >= next_flush || asked) {
			run_flush(run);
			next_flush = now + flush_ns;
		}
		if (asked)
			vtable->flushed(run->backend);
		if (now >= end)
			run->done = true;
	}
	return 0;
}
