/* The signals of the loop. SIGPIPE gets a handler that does nothing, because an
 * ignored signal would stay ignored in the shells that the loop starts; writing
 * then fails with EPIPE. SIGINT, on a terminal only, sets a flag that readers
 * and writers test. */
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

/* Returns whether ^C was typed since the last clearing. */
bool explore_interrupted(void);
void explore_clear_interrupt(void);

/* Waits until there is something to read. Returns 0, or -1 if ^C was typed
 * before: a signal between the test and the wait is not missed. */
int explore_wait_readable(int fd);

#endif
