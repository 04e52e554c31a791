/*
 * A thread whose frames have pages that are never touched: the kernel's copy of the stack ends at the first of
 * them. It holds half way.
 */
#include <pthread.h>

#include "burn.h"
#include "hold.h"

NOINLINE static void inner(void)
{
	burn(10000);
	hold();
	burn(10000);
	NOT_A_TAIL_CALL();
}

NOINLINE static void outer(void)
{
	char untouched[12 * 1024];

	__asm__ volatile("" ::"r"(untouched) : "memory");
	inner();
	__asm__ volatile("" ::"r"(untouched) : "memory");
}

static void *worker(void *unused)
{
	outer();
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, worker, NULL))
		return 1;
	pthread_join(thread, NULL);
	share("worker;outer;inner;burn", 1);
	return 0;
}
