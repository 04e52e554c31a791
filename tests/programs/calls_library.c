/* A library with two functions that are called a known number of times, one of them from within the library. */
#include "burn.h"

void library_work(void);
void library_twice(void);

NOINLINE void library_work(void)
{
	burn_sink++;
}

NOINLINE void library_twice(void)
{
	library_work();
	library_work();
	NOT_A_TAIL_CALL();
}
