/* `steps THREADS CALLS [RISE]`: each thread calls one function CALLS times, as fast as possible. With RISE, thread
 * number N calls it N * RISE times more. */
#include <pthread.h>

#include "hooks.h"

enum { THREADS_MAX = 64 };

static long calls, rise;

static NOINLINE void step(void)
{
	__asm__ volatile("");
}

static NOINLINE void *count(void *number)
{
	for (long i = 0, end = calls + (long)number * rise; i < end; i++)
		step();
	return NULL;
}

int main(int words_count, char **words)
{
	pthread_t threads[THREADS_MAX];
	long thread_count = words_count > 1 ? atol(words[1]) : 1;
	CHECK(thread_count <= THREADS_MAX);
	calls = words_count > 2 ? atol(words[2]) : 1;
	rise = words_count > 3 ? atol(words[3]) : 0;
	for (long i = 0; i < thread_count; i++)
		CHECK(pthread_create(&threads[i], NULL, count, (void *)i) == 0);
	for (long i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
