/* Another process interrupts this one as often as it can, so that a handler runs while hooks of the interrupted
 * code, and of other handlers, have not finished. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hooks.h"

enum { SIGNALS = 3000 };

static volatile long first_ran, second_ran, worked;

static NOINLINE void work(int n)
{
	if (n > 0)
		work(n - 1);
	worked++;
}

static NOINLINE void first_handler(int number)
{
	(void)number;
	work(1);
	first_ran++;
}

static NOINLINE void second_handler(int number)
{
	(void)number;
	work(2);
	second_ran++;
}

static NOINLINE void step(long n)
{
	__asm__ volatile("" : : "r"(n));
}

static NOINLINE void steps(long n)
{
	step(n);
	step(n + 1);
}

__attribute__((no_instrument_function)) static void send_signals(pid_t target)
{
	const struct timespec pause = { 0, 20000 };
	for (int i = 0; i < SIGNALS; i++) {
		kill(target, i & 1 ? SIGUSR1 : SIGUSR2);
		if (i % 4 == 0)
			nanosleep(&pause, NULL);
	}
	_exit(0);
}

int main(void)
{
	struct sigaction first = { .sa_handler = first_handler, .sa_flags = SA_RESTART };
	struct sigaction second = { .sa_handler = second_handler, .sa_flags = SA_RESTART };
	long rounds = 0;
	CHECK(sigaction(SIGUSR1, &first, NULL) == 0 && sigaction(SIGUSR2, &second, NULL) == 0);
	pid_t self = getpid(), child = fork();
	if (child == 0)
		send_signals(self);
	while (waitpid(child, NULL, WNOHANG) == 0)
		for (int i = 0; i < 1000; i++, rounds++)
			steps(i);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	CHECK(worked == 2 * first_ran + 3 * second_ran && first_ran > 10 && second_ran > 10);
	states("first_handler", first_ran);
	states("second_handler", second_ran);
	states("work", worked);
	states("steps", rounds);
	states("step", 2 * rounds);
	return 0;
}
