/* A thread's stack ends at the C library's thread start function, not at main. */
#include <pthread.h>

#include "marks.h"

static NOINLINE int leaf(int a)
{
	KEEP(a);
	return a + 1;
}

static void *run(void *argument)
{
	BEGIN();
	int sum = leaf(*(int *)argument) + leaf(2);
	END();
	KEEP(sum);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int argument = 1;
	if (pthread_create(&thread, NULL, run, &argument) != 0)
		return 1;
	return pthread_join(thread, NULL);
}
