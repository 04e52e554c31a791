/* Reports events of its own. `events known` reports them between known calls. `events interrupted STEPS` reports
 * them in its steps and in a handler that interrupts the steps, and prints how often the handler ran. */
#include <cpprof/runtime.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define NOINLINE __attribute__((noinline))

enum { OF_STEPS = 1, OF_HANDLER = 2 };

static jmp_buf place;
static volatile uint64_t handled;

static NOINLINE void leaf(uint64_t n)
{
	cpprof_event(n, n * n);
}

static NOINLINE void jumps(void)
{
	leaf(3);
	longjmp(place, 1);
}

static NOINLINE void handler(int number)
{
	(void)number;
	leaf(4);
	cpprof_event(OF_HANDLER, 0);
}

static NOINLINE void *thread(void *nothing)
{
	leaf(5);
	return nothing;
}

static NOINLINE int known(void)
{
	pthread_t other;
	cpprof_event(UINT64_MAX, UINT64_MAX);
	leaf(0);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	if (setjmp(place) == 0)
		jumps();
	if (pthread_create(&other, NULL, thread, NULL) != 0 || pthread_join(other, NULL) != 0)
		return 2;
	cpprof_stop();
	leaf(6);
	cpprof_start();
	leaf(7);
	errno = ERANGE;
	cpprof_event(0, 7);
	return errno == ERANGE ? 0 : 3;
}

static NOINLINE void interrupts(int number)
{
	(void)number;
	cpprof_event(OF_HANDLER, handled);
	handled++;
}

static NOINLINE void step(uint64_t n)
{
	cpprof_event(OF_STEPS, n);
}

static int interrupted(uint64_t steps)
{
	const struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	signal(SIGALRM, interrupts);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint64_t i = 0; i < steps; i++)
		step(i);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%llu\n", (unsigned long long)handled);
	return 0;
}

int main(int count, char **words)
{
	if (count > 2 && strcmp(words[1], "interrupted") == 0)
		return interrupted(strtoull(words[2], NULL, 10));
	exit(known());
}
