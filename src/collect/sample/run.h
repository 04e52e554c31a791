/* One run of the monitor: what its parts share. Internal to monitor.c (its start
 * and end), watch.c (the loop), outcome.c (totals and names) and findings.c. */
#ifndef COLLECT_SAMPLE_RUN_H
#define COLLECT_SAMPLE_RUN_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "collect/sample/backend.h"
#include "collect/sample/monitor.h"
#include "collect/sample/plan.h"
#include "collect/sample/recorder.h"
#include "collect/sample/target.h"

struct run {
	const struct record_options *options;
	struct record_result *result;
	struct plan plan;
	struct backend *backend;
	struct recorder recorder;
	struct backend_sink sink;
	struct target target; /* pidfd alone of an attached process; nothing with only `everything` */
	char *path;           /* of the command's file; NULL: no command is run */
	int signal_fd;
	sigset_t old_signals; /* what the target gets back */
	struct rlimit old_files;
	struct pollfd *descriptors;
	size_t descriptor_count;
	bool ring_owner_gone;
	bool done;
	struct error write_error; /* the first of the destination's */
};

/* watch.c: takes samples until the target ends, ^C or the duration. An error
 * before the first: no memory. */
int run_watch(struct run *run, struct error *error);
/* Gives what was gained to the destination. */
void run_flush(struct run *run);
/* A module's file, for frames_options; `context` is the run. */
int run_open_module(void *context, uint32_t module);

/* outcome.c: ends the measurement, brings the profile to its end and sums up.
 * `error` is filled in if result->incomplete. */
void run_finish(struct run *run, struct error *error);

/* findings.c: adds what the backend has to report, and then, when the counts are
 * known, what the monitor has. */
void run_add_backend_findings(struct run *run);
void run_add_findings(struct run *run);
/* Gticks of the resource in the kernel's account of the target and of the children
 * that it waited for. 0: there is no account, no command was run, or only parts of
 * its time were measured. The account includes what events cannot see: a thread's
 * own end when it executes a set-user-ID program. */
uint64_t run_accounted(const struct run *run, const struct resource_row *row);

#endif
