/* Blocks and unblocks one signal or all of them, repeatedly: the masks and the pending signals must be the
 * program's own. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "moment.h"

enum { ROUNDS = 150 };

static volatile sig_atomic_t handled[2];

static void on_signal(int number)
{
	handled[number == SIGUSR2]++;
}

static bool same(const sigset_t *one, const sigset_t *other)
{
	for (int number = 1; number <= SIGRTMAX; number++)
		if (sigismember(one, number) != sigismember(other, number))
			return false;
	return true;
}

/* The reported mask must be the mask that was set, except for SIGKILL and SIGSTOP, which cannot be blocked. */
NOINLINE static void block_all(void)
{
	sigset_t all, none, now, before;

	sigfillset(&all);
	sigemptyset(&none);
	CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
	CHECK(same(&before, &none));
	burn(20);
	CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	CHECK(same(&now, &all));
	CHECK(sigpending(&now) == 0 && same(&now, &none));
	CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
	CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0 && same(&now, &none));
}

NOINLINE static void block_one(int number)
{
	sigset_t one, now, none;
	int before = handled[number == SIGUSR2];

	sigemptyset(&none);
	sigemptyset(&one);
	sigaddset(&one, number);
	CHECK(sigprocmask(SIG_BLOCK, &one, NULL) == 0);
	raise(number);
	burn(20);
	CHECK(sigpending(&now) == 0 && same(&now, &one));
	CHECK(handled[number == SIGUSR2] == before);
	CHECK(sigprocmask(SIG_UNBLOCK, &one, NULL) == 0);
	CHECK(handled[number == SIGUSR2] == before + 1);
	CHECK(sigprocmask(SIG_BLOCK, &one, NULL) == 0);
	raise(number);
	CHECK(sigwaitinfo(&one, NULL) == number);
	CHECK(sigtimedwait(&one, NULL, &(struct timespec){ 0 }) < 0 && errno == EAGAIN);
	CHECK(sigprocmask(SIG_SETMASK, &none, NULL) == 0);
	CHECK(handled[number == SIGUSR2] == before + 1);
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	int turns = 0;

	sigfillset(&action.sa_mask);
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sigaction(SIGUSR2, &action, NULL) == 0);
	for (; moment_goes_on(ROUNDS); turns++) {
		block_all();
		block_one(turns % 2 ? SIGUSR1 : SIGUSR2);
	}
	CHECK(handled[0] + handled[1] == turns);
	return moment_ends("each mask was as set\n");
}
