/* A program that profiles itself: it uses SIGPROF, its timer and a handler of its own, which interrupt calls and
 * hooks at any instruction. */
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "hooks.h"

static volatile long ticks;

static NOINLINE void tick_within(void)
{
	__asm__ volatile("");
}

static NOINLINE void on_tick(int number)
{
	tick_within();
	ticks += number == SIGPROF;
}

static NOINLINE long step(long n)
{
	return UNKNOWN(n) + 1;
}

static NOINLINE long middle(long n)
{
	return step(n) + step(n + 1);
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART }, was;
	struct itimerval interval = { { 0, 1000 }, { 0, 1000 } };
	long sum = 0;
	sigemptyset(&action.sa_mask);
	CHECK(sigaction(SIGPROF, &action, &was) == 0);
	CHECK(setitimer(ITIMER_PROF, &interval, NULL) == 0);
	for (int i = 0; i < 100000; i++)
		sum += middle(i);
	memset(&interval, 0, sizeof(interval));
	setitimer(ITIMER_PROF, &interval, NULL);
	signal(SIGPROF, SIG_IGN);
	CHECK(sum > 0);
	states("on_tick", ticks);
	states("tick_within", ticks);
	return 0;
}
