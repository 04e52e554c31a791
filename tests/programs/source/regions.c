/* Functions, regions, functions that are inlined into them, and groups; the counts are known. */
#include <cpprof/profiler.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned long sink;

/* Like CPPROF_FUNCTION, with a group. */
#define FUNCTION_OF(group) \
	CPPROF_PROBE_(CPPROF_KIND_FUNCTION, CPPROF_LEVEL_FUNCTION, __func__, CPPROF_SIGNATURE_, group, __COUNTER__)

static inline __attribute__((always_inline)) void tiny(int amount)
{
	FUNCTION_OF("small");
	for (int i = 0; i < amount; i++)
		sink += (unsigned long)i;
}

__attribute__((noinline)) static void leaf(void)
{
	FUNCTION_OF("small");
	sink++;
}

__attribute__((noinline)) static void work(int amount)
{
	FUNCTION_OF("large");
	for (int i = 0; i < 3; i++) {
		CPPROF_REGION("row");
		tiny(amount);
		leaf(); /* the call in a region */
	}
	leaf();
}

__attribute__((noinline)) static int depth(int left)
{
	CPPROF_FUNCTION;
	return left == 0 ? 0 : 1 + depth(left - 1);
}

static void *run(void *unused)
{
	CPPROF_FUNCTION;
	for (int i = 0; i < 50; i++)
		work(10);
	return unused;
}

int main(int count, char **words)
{
	CPPROF_FUNCTION;
	pthread_t thread;
	int amount = count > 1 ? atoi(words[1]) : 10;
	for (int i = 0; i < 100; i++)
		work(amount);
	depth(20);
	if (pthread_create(&thread, NULL, run, NULL) == 0)
		pthread_join(thread, NULL);
	if (count > 2 && strcmp(words[2], "die") == 0)
		kill(getpid(), SIGKILL);
	puts("done");
	return 0;
}
