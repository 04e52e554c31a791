/*
 * The monitor process: starts or attaches to the target, takes samples through
 * a backend, turns each into a node and a hit, and hands the profile to a
 * destination (a file, or whoever prints single events).
 *
 *   find, probe, open destination     nothing has run, nothing was changed
 *      | backend open, fork, attach
 *   held ------------------------> publish, let the target exec
 *      |
 *   recording: wait -> drain -> (now and then) flush     until the target ends,
 *      |                                                 ^C or the duration
 *   stop, drain the rest, name the addresses, finish
 *
 * Invariants:
 *   1. Whatever fails before `publish` leaves no trace: no target, no file.
 *   2. After it, the target runs to its end whatever happens to us: a failed
 *      write or allocation ends the recording, not the target.
 *   3. What is on disk is readable at any moment, up to the last flush.
 *   4. Samples go through in order of time with the maps and forks they need.
 */
#ifndef COLLECT_SAMPLE_MONITOR_H
#define COLLECT_SAMPLE_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "resources/resources.h"

struct destination;

struct record_options {
	struct resource_request resources[RESOURCE_REQUESTS_MAX];
	size_t resource_count;  /* 0: cpu, or user where only that is permitted */
	uint64_t time_interval; /* ns, for the default resource; 0: its default */
	const struct destination *destination;
	const char *backend;      /* use this one, by name; NULL: the best that is permitted */
	pid_t pid;                /* attach to this process; 0: to none */
	bool everything;          /* record every process of the machine, while the command runs if there is one */
	bool paused;              /* count nothing until the program calls cpprof_start */
	uint64_t duration_ns;     /* without command: end after so long; 0: when the process ends, or by a signal */
	char *const *command;     /* arguments, NULL-terminated; NULL: none is run */
	const char *command_line; /* as to be shown in the profile */
	/* Progress of naming, for a terminal; may be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	/* Something the user should know while the target runs; may be NULL. */
	void (*warn)(void *context, const char *sentence);
	void *context;
};

struct record_result {
	uint64_t samples;
	uint64_t lost;
	uint64_t whole;       /* samples whose path reaches its root */
	uint64_t completed;   /* ... with help from outside the copied stack */
	uint64_t throttled;   /* times that the kernel paused sampling */
	uint64_t lost_events; /* maps, forks, ... of which we were not told */
	/* The share of a resource's use in which no sample was taken, though by its
	 * length many should have been: 0 if there is none, of the worst resource. */
	double unsampled;
	const char *unsampled_name;
	char unsampled_in[192]; /* where, in few words */
	char shortcoming[192];  /* of the backend, in this run; "": none */
	uint64_t crowded;       /* samples a second, if so many that taking them slows the target; else 0 */
	size_t still_running;   /* processes that the command left behind */
	const char *backend;    /* who measured */
	char passed_over[160];  /* why one that is preferred did not: "bpf: not permitted"; "" if it did */
	bool user_mode_only;
	bool incomplete; /* writing failed: the file ends early; `error` says why */
	int status;      /* of the command, as a shell says it; 0: none was run */
};

/* Records. 0 when the target ran, whatever came of it: then `result` holds, and
 * if result->incomplete, `error` too. Otherwise an error: nothing has run. */
int record_run(const struct record_options *options, struct record_result *result, struct error *error);

#endif
