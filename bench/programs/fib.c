/*
 * Usage: `fib [N [THREADS]]`. Computes Fibonacci's N-th number (default 35) in each of THREADS
 * threads (default one), by a function that calls itself 29,860,703 times for N = 35. Prints the
 * CPU time of a thread, as the mean of all threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOT_COUNTED __attribute__((no_instrument_function))

enum { MOST_THREADS = 64 };

static int wanted = 35;

int fib(int n);

int fib(int n)
{
#ifdef CPPROF_PROFILER_H /* -include cpprof/profiler.h */
	CPPROF_FUNCTION;
#endif
#ifdef TIME_STAMPS /* the lower bound of timing a call with any tool */
	__builtin_ia32_lfence();
	(void)__builtin_ia32_rdtsc();
	int number = n < 2 ? n : fib(n - 1) + fib(n - 2);
	__builtin_ia32_lfence();
	(void)__builtin_ia32_rdtsc();
	return number;
#endif
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOT_COUNTED static double thread_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

NOT_COUNTED static void *run(void *seconds)
{
	double start = thread_seconds();
	volatile int number = fib(wanted);

	(void)number;
	*(double *)seconds = thread_seconds() - start;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST_THREADS];
	double seconds[MOST_THREADS], sum = 0;
	int count = argc > 2 ? atoi(argv[2]) : 1;

	if (argc > 1)
		wanted = atoi(argv[1]);
	if (count < 1 || count > MOST_THREADS)
		return 2;
	for (int i = 1; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, &seconds[i]) != 0)
			return 1;
	run(&seconds[0]);
	for (int i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < count; i++)
		sum += seconds[i];
	fprintf(stderr, "own cpu %.9f s\n", sum / count);
	return 0;
}
