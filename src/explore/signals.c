#include "explore/signals.h"

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static void do_nothing(int number)
{
	(void)number;
}

void explore_signals_catch(struct explore_signals *signals, bool interactive)
{
	struct sigaction action = { .sa_handler = do_nothing, .sa_flags = SA_RESTART };
	sigemptyset(&action.sa_mask);
	signals->interactive = interactive;
	sigaction(SIGPIPE, &action, &signals->old_pipe);
	interrupted = 0;
	if (!interactive)
		return;
	/* No SA_RESTART: a blocked read or write is to end. */
	action = (struct sigaction){ .sa_handler = note_interrupt };
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, &signals->old_interrupt);
}

void explore_signals_restore(const struct explore_signals *signals)
{
	sigaction(SIGPIPE, &signals->old_pipe, NULL);
	if (signals->interactive)
		sigaction(SIGINT, &signals->old_interrupt, NULL);
}

bool explore_interrupted(void)
{
	return interrupted;
}

void explore_clear_interrupt(void)
{
	interrupted = 0;
}
