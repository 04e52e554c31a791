/*
 * `thread_crowd N M`: N threads run at the same time, meet at a barrier M times, and end. Prints how long that took to
 * standard error.
 */
#include <pthread.h>

#include "burn.h"

enum { TURNS = 20000 };

static int meetings = 3;
static pthread_barrier_t barrier;

NOINLINE static void meet(void)
{
	burn_turns(TURNS);
	pthread_barrier_wait(&barrier);
	NOT_A_TAIL_CALL();
}

static void *run(void *unused)
{
	(void)unused;
	for (int i = 0; i < meetings; i++)
		meet();
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 100;
	meetings = argc > 2 ? atoi(argv[2]) : meetings;
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	pthread_attr_t small;
	struct timespec start, end;
	clock_gettime(CLOCK_MONOTONIC, &start);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
	for (int i = 0; i < count; i++)
		if (!threads || pthread_create(&threads[i], &small, run, NULL) != 0)
			return 1;
	for (int i = 0; i < meetings; i++)
		pthread_barrier_wait(&barrier);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	fprintf(stderr, "took %.3f s\n",
		(double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9);
	printf("%d threads met %d times\n", count, meetings);
	free(threads);
	return 0;
}
