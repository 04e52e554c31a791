/* Changes its own name and the name of a thread at run time. */
#include <pthread.h>
#include <sys/prctl.h>

#include "burn.h"

static void *worker(void *unused)
{
	prctl(PR_SET_NAME, "crunching", 0, 0, 0);
	burn(200000);
	return unused;
}

int main(void)
{
	pthread_t thread;

	prctl(PR_SET_NAME, "chameleon", 0, 0, 0);
	if (pthread_create(&thread, NULL, worker, NULL))
		return 1;
	burn(200000);
	pthread_join(thread, NULL);
	return 0;
}
