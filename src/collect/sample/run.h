/* The state of one run of the monitor, shared by its parts: monitor.c (start and end), drain.c (the loop),
 * finish.c (totals and names) and findings.c. Private to them. */
#ifndef COLLECT_SAMPLE_RUN_H
#define COLLECT_SAMPLE_RUN_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "collect/sample/backend.h"
#include "collect/sample/plan.h"
#include "collect/sample/record_options.h"
#include "collect/sample/sample_sink.h"
#include "collect/sample/target.h"
#include "profile/leaf_hits.h"

struct run {
	const struct record_options *options;
	struct record_result *result;
	struct plan plan;
	struct backend *backend;
	struct sample_sink sink;
	struct backend_sink backend_sink;
	struct target target; /* the command; without one, empty */
	int *attached;        /* a pidfd for each attached process that the user gave; owned */
	size_t attached_count;
	size_t refused; /* processes that were not attached, because that is not permitted */
	char *path;     /* of the command's file; NULL: no command */
	int signal_fd;
	sigset_t old_signals; /* the signal mask that the command gets back */
	struct rlimit old_files;
	struct pollfd *descriptors; /* of the signals, of the targets, of the rings */
	size_t descriptor_count;
	size_t target_count, targets_left; /* left: targets that have not ended */
	struct leaf_hits leaf_hits;        /* of all hits that went to the destination */
	bool sets_labels;                  /* the target labels its work */
	bool done;
	bool hides_kernel;        /* the kernel hides the names of its functions */
	int kernel_symbols;       /* for run_open_module; -1: not opened */
	struct error write_error; /* the destination's error after which nothing is written */
	uint64_t full_since_ns;   /* the disk has been full since; 0: it is not */
	uint64_t full_ns;         /* ... and was before that for so long */
};

/* drain.c: takes samples until the target ends, a signal arrives or the duration is over. Returns 0, or
 * ERROR_MEMORY before the first sample. */
int run_drain(struct run *run, struct error *error);
/* Passes to the destination everything gained since the last flush. */
void run_flush(struct run *run);
/* Opens a module's file, for frames_options; `context` is the run. */
int run_open_module(void *context, uint32_t module, struct error *error);

/* finish.c: ends the measurement, completes the profile and adds up the result. If result->incomplete is
 * set, `error` has the reason. */
void run_finish(struct run *run, struct error *error);

/* findings.c: adds the findings of the backend and, when the counts are known, the findings of the monitor. */
void run_add_backend_findings(struct run *run);
void run_add_findings(struct run *run);
/* Returns the gticks of the resource in the kernel's account of the target and of the children that it
 * waited for, or 0 if there is no account: no command was run, or only parts of its time were measured.
 * The account includes use that perf events miss, such as the rest of a thread that executes a set-user-ID
 * program. */
uint64_t run_accounted(const struct run *run, const struct resource_row *row);

#endif
