/* Flushes its profile twice on request, and prints the result and how many seconds it took. */
#include <stdio.h>
#include <time.h>

#include <cpprof/runtime.h>

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	getchar();
	for (int i = 0; i < 2; i++) {
		double begin = now();
		int result = cpprof_flush();
		printf("flush %d %.3f\n", result, now() - begin);
	}
	return 0;
}
