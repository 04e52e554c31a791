/*
 * The monitor process: starts or attaches to the target, takes samples through a backend, turns each into
 * a node and a hit, and passes the profile to a destination (a file, or the lines of `cpprof trace`).
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
 *   1. A failure before `publish` leaves no trace: no target, no file.
 *   2. After `publish`, the target runs to its end whatever fails in the monitor: a failed
 *      write or allocation ends the recording, not the target.
 *   3. The file on disk is readable at any moment, up to the last flush.
 *   4. Samples are processed in order of time, together with the maps and forks that they need.
 */
#ifndef COLLECT_SAMPLE_MONITOR_H
#define COLLECT_SAMPLE_MONITOR_H

#include "base/error.h"
#include "collect/sample/record_options.h"

/* Records. Returns 0 if the target ran: `result` is filled in, its profile contains the findings of the
 * run, and if result->incomplete is set, `error` has the reason. Otherwise returns a negative error, and
 * there is no profile; the command did not run, unless memory ran out right after its start. */
int monitor_run(const struct record_options *options, struct record_result *result, struct error *error);

#endif
