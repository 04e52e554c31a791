/*
 * A function with a frame of 100 KB, larger than any copy of a stack. At first only `usual_caller` calls it. Then
 * `new_caller` calls it too, three times as long, in short turns with the other, so that an earlier caller is
 * often wrong.
 */
#include "burn.h"

NOINLINE static void leaf(unsigned us)
{
	burn(us);
	NOT_A_TAIL_CALL();
}

NOINLINE static void large(unsigned us)
{
	volatile char bytes[100 * 1024];

	bytes[0] = 1;
	bytes[sizeof(bytes) - 1] = 1;
	leaf(us);
	bytes[0] = bytes[sizeof(bytes) - 1];
}

NOINLINE static void usual_caller(unsigned us)
{
	large(us);
	NOT_A_TAIL_CALL();
}

NOINLINE static void new_caller(unsigned us)
{
	large(us);
	NOT_A_TAIL_CALL();
}

int main(void)
{
	enum { ALONE = 500, TURNS = 500, US = 400 };

	for (int i = 0; i < ALONE; i++)
		usual_caller(US);
	for (int i = 0; i < TURNS; i++) {
		usual_caller(US);
		new_caller(3 * US);
	}
	share("main;usual_caller;large;leaf", 0.4);
	share("main;new_caller;large;leaf", 0.6);
	return 0;
}
