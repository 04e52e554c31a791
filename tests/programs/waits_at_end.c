/* The first thread and another one wait forever. A third thread waits for a second and then kills the process, so
 * that the waits of the other two never return. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "burn.h"

NOINLINE static void *waits(void *unused)
{
	poll(NULL, 0, -1);
	NOT_A_TAIL_CALL();
	return unused;
}

NOINLINE static void *ends(void *unused)
{
	poll(NULL, 0, 1000);
	raise(SIGKILL);
	return unused;
}

int main(void)
{
	pthread_t other;
	if (pthread_create(&other, NULL, waits, NULL) || pthread_create(&other, NULL, ends, NULL))
		return 1;
	waits(NULL);
	return 0;
}
