/* OpenMP: regions, a loop, tasks, and their waits. */
#include <cpprof/profiler.h>
#include <stdio.h>
#include <unistd.h>

int omp_get_thread_num(void);

__attribute__((noinline)) static int step(int i)
{
	CPPROF_FUNCTION;
	__asm__ volatile("");
	return i;
}

__attribute__((noinline)) static int tasked(int i)
{
	CPPROF_FUNCTION;
	return step(i);
}

int main(void)
{
	CPPROF_FUNCTION;
	int sum = 0;
	for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(3) reduction(+ : sum)
		{
			int me = omp_get_thread_num();
#pragma omp for
			for (int i = 0; i < 90; i++)
				sum += step(1);
			if (me == 0)
				usleep(20000);
#pragma omp barrier
#pragma omp critical
			sum++;
#pragma omp single
			for (int i = 0; i < 10; i++) {
#pragma omp task
				tasked(i);
			}
#pragma omp taskwait
		}
	}
	step(0);
	printf("%d\n", sum);
	return sum == 3 * (90 + 3) ? 0 : 1;
}
