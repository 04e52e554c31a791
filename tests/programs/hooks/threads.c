/* Threads that call the same functions at the same time. Some are short and run one after another; some are
 * started by threads. */
#include <pthread.h>

#include "hooks.h"

enum { THREADS = 4, CALLS = 5000, GENERATIONS = 30 };

static NOINLINE long step(long n)
{
	return UNKNOWN(n) + 1;
}

static NOINLINE long recursive(long depth)
{
	return depth == 0 ? step(0) : step(recursive(depth - 1));
}

static NOINLINE void *count(void *argument)
{
	long sum = 0;
	for (int i = 0; i < CALLS; i++)
		sum = step(sum);
	CHECK(recursive(20) == 21 && sum == CALLS);
	return argument;
}

static NOINLINE void *short_lived(void *argument)
{
	CHECK(step((long)argument) == (long)argument + 1);
	return NULL;
}

static NOINLINE void *starter(void *argument)
{
	pthread_t child;
	for (long i = 0; i < GENERATIONS; i++) {
		CHECK(pthread_create(&child, NULL, short_lived, (void *)i) == 0);
		pthread_join(child, NULL);
	}
	return argument;
}

int main(void)
{
	pthread_t threads[THREADS + 1];
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
	CHECK(pthread_create(&threads[THREADS], NULL, starter, NULL) == 0);
	for (int i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
