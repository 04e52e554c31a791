/*
 * A thread for each request, one after the other: it waits for a millisecond for its client, and then uses some CPU time.
 *
 *   requests THREADS MICROSECONDS
 *
 * Prints the shares of CPU time of the two, by the threads' own clocks.
 */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t compute_ns, waited_ns, computed_ns;
static volatile unsigned sink;

static uint64_t used_ns(void)
{
	struct timespec used;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000U + (uint64_t)used.tv_nsec;
}

__attribute__((noinline)) static void compute(uint64_t until_ns)
{
	while (used_ns() < until_ns)
		for (unsigned i = 0; i < 100; i++)
			sink += i;
}

__attribute__((noinline)) static void wait_for_client(void)
{
	poll(NULL, 0, 1);
	__asm__ volatile("" ::: "memory");
}

static void *request(void *unused)
{
	uint64_t begin = used_ns(), between;
	wait_for_client();
	between = used_ns();
	compute(between + compute_ns);
	waited_ns += between - begin;
	computed_ns += used_ns() - between;
	return unused;
}

int main(int count, char **words)
{
	if (count != 3)
		return 2;
	compute_ns = strtoul(words[2], NULL, 10) * 1000;
	for (unsigned long left = strtoul(words[1], NULL, 10); left > 0; left--) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, request, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	printf("share compute %.4f\n", (double)computed_ns / (double)(waited_ns + computed_ns));
	printf("share wait_for_client %.4f\n", (double)waited_ns / (double)(waited_ns + computed_ns));
	return 0;
}
