/*
 * A function with a frame of 100 KB, larger than any copy of a stack, and two callers. It holds each time before it
 * returns. At first only `usual_caller` has called it, so that an earlier caller is wrong for `new_caller`.
 */
#include "burn.h"
#include "hold.h"

NOINLINE static void leaf(void)
{
	burn(10000);
	hold();
}

NOINLINE static void large(void)
{
	volatile char bytes[100 * 1024];

	bytes[0] = 1;
	bytes[sizeof(bytes) - 1] = 1;
	leaf();
	bytes[0] = bytes[sizeof(bytes) - 1];
}

NOINLINE static void usual_caller(void)
{
	large();
	NOT_A_TAIL_CALL();
}

NOINLINE static void new_caller(void)
{
	large();
	NOT_A_TAIL_CALL();
}

int main(void)
{
	usual_caller();
	new_caller();
	share("main;usual_caller;large;leaf", 0.5);
	share("main;new_caller;large;leaf", 0.5);
	return 0;
}
