/* Defines functions of the C library that pass calls on to the next definition of their other name, as Erlang's virtual machine
 * does with sigaction. The agent's definitions must not call back. */
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>

#include "moment.h"

static volatile sig_atomic_t signals, polls, actions;

static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);
	CHECK(found);
	return found;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	int (*pass_on)(int, const struct sigaction *, struct sigaction *) = next("__sigaction");
	actions++;
	return pass_on(number, action, old);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int (*pass_on)(struct pollfd *, nfds_t, int) = next("__poll");
	polls++;
	return pass_on(fds, count, timeout);
}

static void on_signal(int number)
{
	(void)number;
	signals++;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal }, old;
	burn(20);
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == on_signal);
	CHECK(raise(SIGUSR1) == 0 && signals == 1);
	CHECK(signal(SIGUSR2, on_signal) != SIG_ERR && raise(SIGUSR2) == 0 && signals == 2);
	CHECK(poll(NULL, 0, 5) == 0);
	burn(20);
	CHECK(actions == 2 && polls == 1);
	return 0;
}
