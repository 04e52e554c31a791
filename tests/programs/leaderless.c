/*
 * Its first thread exits at once; another thread continues until standard input ends. Prints "ready" when the
 * first has exited.
 */
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "burn.h"

NOINLINE static void duty(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };

	while (poll(&input, 1, 0) == 0)
		burn(1000);
}

static void *left_alone(void *first)
{
	pthread_join(*(pthread_t *)first, NULL);
	puts("ready");
	fflush(stdout);
	duty();
	exit(0);
}

int main(void)
{
	static pthread_t first;
	pthread_t thread;

	first = pthread_self();
	if (pthread_create(&thread, NULL, left_alone, &first))
		return 1;
	pthread_exit(NULL);
}
