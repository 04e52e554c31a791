/* A thread other than the first executes another program while other threads run. The counts of all threads must
 * be kept. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "hooks.h"

static pthread_barrier_t barrier;

static NOINLINE void step(void)
{
	__asm__ volatile("");
}

static NOINLINE void *waiting(void *argument)
{
	for (int i = 0; i < 200; i++)
		step();
	pthread_barrier_wait(&barrier);
	pause();
	return argument;
}

static NOINLINE void *becoming(void *path)
{
	for (int i = 0; i < 300; i++)
		step();
	pthread_barrier_wait(&barrier);
	CALLGRIND_DUMP_STATS;
	execl(path, path, "again", (char *)NULL);
	_exit(4);
}

static NOINLINE void second_life(void)
{
	for (int i = 0; i < 50; i++)
		step();
}

int main(int count, char **words)
{
	pthread_t threads[2];
	if (count > 1) {
		second_life();
		return 0;
	}
	pthread_barrier_init(&barrier, NULL, 3);
	CHECK(pthread_create(&threads[0], NULL, waiting, NULL) == 0);
	CHECK(pthread_create(&threads[1], NULL, becoming, words[0]) == 0);
	pthread_barrier_wait(&barrier);
	pthread_join(threads[1], NULL);
	return 5;
}
