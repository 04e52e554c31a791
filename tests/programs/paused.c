/*
 * `paused [ROUNDS]`: does the same work before cpprof_start, between it and cpprof_stop, and afterwards. With
 * `record --paused` only the second piece counts, also in a thread that was started before.
 */
#include <pthread.h>

#include "burn.h"
#include "cpprof/runtime.h"

enum { STEPS = 20, STEP_US = 1000 };

static cpprof_counter *steps;

NOINLINE static void work(int rounds)
{
	for (int i = 0; i < rounds * STEPS; i++) {
		burn(STEP_US);
		cpprof_tick(steps, 1);
	}
	NOT_A_TAIL_CALL();
}

NOINLINE static void before(int rounds)
{
	work(rounds);
	NOT_A_TAIL_CALL();
}

NOINLINE static void between(int rounds)
{
	work(rounds);
	NOT_A_TAIL_CALL();
}

NOINLINE static void after(int rounds)
{
	work(rounds);
	NOT_A_TAIL_CALL();
}

static pthread_barrier_t barrier;

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

NOINLINE static void *other(void *rounds)
{
	before(*(int *)rounds);
	meet(); /* both are ready */
	meet(); /* cpprof_start */
	between(*(int *)rounds);
	meet();
	meet(); /* cpprof_stop */
	after(*(int *)rounds);
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = rounds_wanted(argc, argv, 3);
	pthread_t thread;

	steps = cpprof_resource("steps", "step");
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, other, &rounds))
		return 1;
	before(rounds);
	meet();
	cpprof_start();
	meet();
	between(rounds);
	meet();
	cpprof_stop();
	meet();
	after(rounds);
	pthread_join(thread, NULL);
	amount("own:steps", "main;between;work", (unsigned long long)rounds * STEPS);
	amount("own:steps", "other;between;work", (unsigned long long)rounds * STEPS);
	return 0;
}
