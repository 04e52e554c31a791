/*
 * Signals while a command runs, and its end, as descriptors. The terminal sends ^C to the target too, as it
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
#include <sys/types.h>

#include "base/error.h"

struct signalfd_siginfo;

/* Blocks these signals, and those that a failed write raises. *fd, owned by the caller, is readable while
 * a signal waits; *old is the mask that a command gets back. Returns 0 or a negative error. */
int target_signals_take(int *fd, sigset_t *old, struct error *error);
/* Leaves these signals, and those that a screen handles (SIGWINCH, SIGTSTP), to the other
 * threads of this process. *old is as above. */
void target_signals_leave(sigset_t *old);
/* Returns whether another signal waits, and reads it into *signal. */
bool target_signals_next(int fd, struct signalfd_siginfo *signal);
/* Sends the signal to a process, unless the terminal has sent it there already. */
void target_signals_pass(const struct signalfd_siginfo *signal, pid_t pid);

/* Returns a descriptor that is readable, or hung up, when the child has ended and until it is closed; the caller owns
 * it. It is a pidfd or, where the kernel or a seccomp profile has none, a pipe that a thread closes. Returns -1 with
 * errno if neither can be made. */
int target_end_open(pid_t child);

#endif
