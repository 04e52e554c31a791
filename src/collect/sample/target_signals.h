/*
 * Signals while a command runs. The terminal sends ^C to the target too, as it
 * would without us. We read signals from a descriptor and pass on only those
 * that were sent to us alone.
 *
 * A signal that our parent ignores stays ignored, in the target and here: under
 * nohup SIGHUP ends nothing, and ^C does not end the background job of a shell.
 * Such a job still obeys `kill -INT`, which is addressed to us.
 */
#ifndef COLLECT_SAMPLE_TARGET_SIGNALS_H
#define COLLECT_SAMPLE_TARGET_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

struct signalfd_siginfo;

/* Blocks them: *fd, the caller's, is readable when there is one; *old is what a command gets back. Those that a failed
 * write brings are blocked too. */
int target_signals_take(int *fd, sigset_t *old, struct error *error);
/* Returns whether there is another one, in *signal. */
bool target_signals_next(int fd, struct signalfd_siginfo *signal);
/* Sends it to a process, unless that has it from the terminal already. */
void target_signals_pass(const struct signalfd_siginfo *signal, pid_t pid);

#endif
