/*
 * Runs until its standard input ends: two threads from the beginning, and one that it creates and joins
 * repeatedly. Prints "ready" when they run, and at the end "stopped" and the number of short-lived threads.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "burn.h"

static atomic_int stopping, running;

NOINLINE static void first_duty(void)
{
	while (!stopping)
		burn(100);
	NOT_A_TAIL_CALL();
}

NOINLINE static void second_duty(void)
{
	while (!stopping)
		burn(100);
	NOT_A_TAIL_CALL();
}

NOINLINE static void passing_duty(void)
{
	burn(20000);
	NOT_A_TAIL_CALL();
}

static void *first_thread(void *unused)
{
	running++;
	first_duty();
	return unused;
}

static void *second_thread(void *unused)
{
	running++;
	second_duty();
	return unused;
}

static void *passing_thread(void *unused)
{
	passing_duty();
	return unused;
}

int main(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	pthread_t first, second, passing;
	int passed = 0;

	if (pthread_create(&first, NULL, first_thread, NULL) || pthread_create(&second, NULL, second_thread, NULL))
		return 1;
	while (running < 2)
		;
	dprintf(STDOUT_FILENO, "ready\n");
	while (poll(&input, 1, 0) == 0) {
		if (pthread_create(&passing, NULL, passing_thread, NULL))
			return 1;
		pthread_join(passing, NULL);
		passed++;
	}
	stopping = 1;
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	dprintf(STDOUT_FILENO, "stopped %d\n", passed);
	return 5;
}
