/* 3,000 functions, each called by two others and from a table. */
#include "hooks.h"

enum { FIRST = 1000, FUNCTIONS = 3000 };

static long called;
static void (*const functions[FUNCTIONS])(int);

/* clang-format off */
#define TEN(what, n) \
	what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7) what(n##8) what(n##9)
#define HUNDRED(what, n)                                                                                \
	TEN(what, n##0)                                                                                 \
	TEN(what, n##1) TEN(what, n##2) TEN(what, n##3) TEN(what, n##4) TEN(what, n##5) TEN(what, n##6) \
		TEN(what, n##7) TEN(what, n##8) TEN(what, n##9)
#define THOUSAND(what, n)                                                                                   \
	HUNDRED(what, n##0)                                                                                 \
	HUNDRED(what, n##1) HUNDRED(what, n##2) HUNDRED(what, n##3) HUNDRED(what, n##4) HUNDRED(what, n##5) \
		HUNDRED(what, n##6) HUNDRED(what, n##7) HUNDRED(what, n##8) HUNDRED(what, n##9)
/* clang-format on */
#define ALL(what) THOUSAND(what, 1) THOUSAND(what, 2) THOUSAND(what, 3)

#define DEFINE(n)                                                          \
	static NOINLINE void small_##n(int depth)                          \
	{                                                                  \
		called += UNKNOWN(n) - (n) + 1;                            \
		if (depth > 0) {                                           \
			functions[((n)-FIRST + 7) % FUNCTIONS](depth - 1); \
			functions[(n) % FUNCTIONS](depth - 1);             \
		}                                                          \
	}
#define NAME(n) small_##n,

ALL(DEFINE)

static void (*const functions[FUNCTIONS])(int) = { ALL(NAME) };

int main(void)
{
	for (int i = 0; i < FUNCTIONS; i++)
		functions[i](i % 3);
	CHECK(called == 1000 * (1 + 3 + 7));
	return 0;
}
