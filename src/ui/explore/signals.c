#include "ui/explore/io.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>

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
	/* No SA_RESTART: the signal must end a blocked read or write. */
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

int explore_wait_readable(int fd)
{
	struct pollfd wanted = { .fd = fd, .events = POLLIN };
	sigset_t interrupt, old;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &old);
	int ready = -1;
	while (!interrupted && ready < 0) {
		ready = ppoll(&wanted, 1, NULL, &old);
		if (ready < 0 && errno != EINTR)
			break; /* the next read reports the reason */
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return interrupted ? -1 : 0;
}
