/* The signals of the loop. SIGPIPE gets a handler that does nothing, because the shells that the loop starts would
 * inherit an ignored signal; writing then fails with EPIPE. SIGINT, on a terminal only, sets a flag that readers and
 * writers test. */
#ifndef UI_EXPLORE_SIGNALS_H
#define UI_EXPLORE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct explore_signals {
	struct sigaction old_pipe;
	struct sigaction old_interrupt;
	bool interactive;
};

void explore_signals_catch(struct explore_signals *signals, bool interactive);
void explore_signals_restore(const struct explore_signals *signals);

/* Returns whether ^C was typed since explore_clear_interrupt. */
bool explore_interrupted(void);
void explore_clear_interrupt(void);

/* Waits until the descriptor is readable. Returns 0, or -1 if ^C was typed first; a signal between the test and the
 * wait is not missed. */
int explore_wait_readable(int fd);

#endif
