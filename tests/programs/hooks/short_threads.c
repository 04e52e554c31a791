/* More threads than any table has entries for, a few at a time, each with few calls. */
#include <pthread.h>

#include "hooks.h"

enum { ROUNDS = 250, AT_A_TIME = 8, CALLS = 7 };

static NOINLINE void step(void)
{
	__asm__ volatile("");
}

static NOINLINE void *count(void *argument)
{
	for (int i = 0; i < CALLS; i++)
		step();
	return argument;
}

int main(void)
{
	pthread_t threads[AT_A_TIME];
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < AT_A_TIME; i++)
			CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
		for (int i = 0; i < AT_A_TIME; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
