/*
 * `counted_ending HOW` works for 200 ms of CPU time in two threads, prints how much CPU time the process has used
 * since main, in us, and ends at once: by the signal with the number HOW, or by _exit(0) if HOW is 0.
 */
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

enum { WORK_US = 100000 };

static long long cpu_us(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000000ll + used.tv_nsec / 1000;
}

static long long thread_us(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return used.tv_sec * 1000000ll + used.tv_nsec / 1000;
}

NOINLINE static void work(void)
{
	long long end = thread_us() + WORK_US;

	while (thread_us() < end)
		burn(50);
}

/* This thread still waits when the process ends. */
static void *work_and_wait(void *done)
{
	work();
	if (write(*(int *)done, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	long long before = cpu_us();
	int how = argc > 1 ? atoi(argv[1]) : 0, ends[2];
	pthread_t id;
	char byte;

	if (pipe(ends) || pthread_create(&id, NULL, work_and_wait, &ends[1]))
		return 1;
	work();
	if (read(ends[0], &byte, 1) != 1)
		return 1;
	dprintf(STDOUT_FILENO, "used %lld\n", cpu_us() - before);
	if (how == 0)
		_exit(0);
	kill(getpid(), how);
	return 1;
}
