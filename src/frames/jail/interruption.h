/*
 * A signal that asks this process to end while it completes its work. A recorder holds such signals back (it blocks them) until its
 * profile is written, so they show as pending signals.
 */
#ifndef FRAMES_JAIL_INTERRUPTION_H
#define FRAMES_JAIL_INTERRUPTION_H

#include <signal.h>
#include <stdbool.h>

struct interruption {
	sigset_t before; /* signals that were pending when the work began */
};

void interruption_begin(struct interruption *interruption);

/* Returns whether SIGINT, SIGTERM or SIGHUP came since interruption_begin. One that this process ignores does not count. */
bool interruption_came(const struct interruption *interruption);

#endif
