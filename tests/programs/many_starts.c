/* Starts 500 threads 30 times, which do almost nothing: many samples are in the system call that makes a thread. */
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 500, ROUNDS = 30 };

static volatile unsigned long sink;

static void *run(void *argument)
{
	for (int i = 0; i < 2000; i++)
		sink += (unsigned long)i;
	return argument;
}

int main(void)
{
	static pthread_t threads[THREADS];
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, run, NULL) != 0)
				abort();
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
