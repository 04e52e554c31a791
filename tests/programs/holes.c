/*
 * A thread whose frames hold pages that are never touched: the kernel's copy of the stack ends at the first of
 * them.
 */
#include <pthread.h>

#include "burn.h"

NOINLINE static void inner(void)
{
	burn(500);
	NOT_A_TAIL_CALL();
}

NOINLINE static void outer(void)
{
	char untouched[24 * 1024];

	__asm__ volatile("" ::"r"(untouched) : "memory");
	inner();
	__asm__ volatile("" ::"r"(untouched) : "memory");
}

static void *worker(void *rounds)
{
	for (int i = *(int *)rounds; i > 0; i--)
		outer();
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = rounds_wanted(argc, argv, 1200);
	pthread_t thread;

	if (pthread_create(&thread, NULL, worker, &rounds))
		return 1;
	pthread_join(thread, NULL);
	share("worker;outer;inner;burn", 1);
	return 0;
}
