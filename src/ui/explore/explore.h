/*
 * The interactive loop of the 1993 paper: reads commands, one per line, and prints reports, until `quit` or the end
 * of the input. No other input ends it.
 *
 * The commands are the rows of a table (ui/explore/command.h); `help` and the completion are derived from it.
 */
#ifndef UI_EXPLORE_EXPLORE_H
#define UI_EXPLORE_EXPLORE_H

#include "base/error.h"
#include "profile/profile.h"
#include "ui/explore/options.h"

/* Runs the loop. Returns 0; or, if not interactive, the number of commands that failed (if positive, the exit status
 * is 1); or a negative error, such as ERROR_MEMORY, and sets `error` if it could not start. A command fails if its
 * report cannot be written. But if the reader of `out` has gone away, the loop ends as at the end of the input.
 *
 * While the loop runs, SIGPIPE does not end the process and, if interactive, SIGINT is caught; both are restored
 * before it returns. The caller keeps the profile. */
int explore_run(struct profile *profile, const struct explore_options *options, struct error *error);

#endif
