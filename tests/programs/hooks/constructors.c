/* Functions that run before main and after it, in their order, and the functions that they call. */
#include "hooks.h"

static int begun;

static NOINLINE void step(int n)
{
	begun += UNKNOWN(n);
}

__attribute__((constructor(101))) static NOINLINE void first(void)
{
	for (int i = 0; i < 10; i++)
		step(1);
}

__attribute__((constructor)) static NOINLINE void second(void)
{
	CHECK(begun == 10);
	step(5);
}

static NOINLINE void preinitialise(void)
{
	step(0);
}

__attribute__((section(".preinit_array"), used)) static void (*preinitialisers[])(void) = { preinitialise };

__attribute__((destructor(101))) static NOINLINE void last(void)
{
	CHECK(begun == 17);
	step(1);
}

__attribute__((destructor)) static NOINLINE void before_last(void)
{
	step(1);
}

int main(void)
{
	step(1);
	return 0;
}
