/*
 * Signals while a command runs. ^C is the target's: it gets it from the terminal, as it would without us. We take
 * signals from a descriptor, and pass on only what was sent to us alone.
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
/* The next one; false: there is none (any more). */
bool target_signals_next(int fd, struct signalfd_siginfo *signal);
/* Sends it to a process, unless that has it from the terminal already. */
void target_signals_pass(const struct signalfd_siginfo *signal, pid_t pid);

#endif
