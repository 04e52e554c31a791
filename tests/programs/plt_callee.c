/*
 * The library behind plt.c: 64 functions, each of which is called through a PLT stub of its own. The dynamic linker
 * calls `choose` when it binds one.
 */
#include "burn.h"

#define ONE(n)                                                    \
	static int add_##n(int x)                                 \
	{                                                         \
		return x + 1;                                     \
	}                                                         \
	__attribute__((used)) static int (*choose_##n(void))(int) \
	{                                                         \
		choose();                                         \
		return add_##n;                                   \
	}                                                         \
	int callee_##n(int x) __attribute__((ifunc("choose_" #n)));
#define EACH8(f, t) f(t##0) f(t##1) f(t##2) f(t##3) f(t##4) f(t##5) f(t##6) f(t##7)
#define EACH64(f) EACH8(f, 0) EACH8(f, 1) EACH8(f, 2) EACH8(f, 3) EACH8(f, 4) EACH8(f, 5) EACH8(f, 6) EACH8(f, 7)

NOINLINE static void choose(void)
{
	BURN_HERE(5);
	NOT_A_TAIL_CALL();
}

EACH64(ONE)
