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
struct profile;

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
	struct profile *profile; /* the caller frees it; its hits may be on disk only */
	uint64_t samples;
	uint64_t lost;
	uint64_t whole;      /* samples whose path reaches its root */
	uint64_t completed;  /* ... with help from outside the copied stack */
	const char *backend; /* the one that measured */
	bool incomplete;     /* writing failed: the file ends early; `error` is why */
	int status;          /* of the command, as in a shell's $?; 0: none was run */
};

/* Records. Returns 0 when the target ran: then `result` is filled in, its profile
 * has the findings of the run, and if result->incomplete, `error` is filled in
 * too. Otherwise a negative error: nothing has run, and there is no profile. */
int record_run(const struct record_options *options, struct record_result *result, struct error *error);

#endif
