/* The resolvers of IFUNC symbols call functions with hooks. They run while the program is relocated, a static program's before it has
 * thread-local variables. */
#include "hooks.h"

typedef int function(int);

int library_picked(int x);

static NOINLINE int impl(int x)
{
	__asm__ volatile("");
	return x + 1;
}

NOINLINE int choose(void)
{
	__asm__ volatile("");
	return 1;
}

static function *resolve(void)
{
	return choose() ? impl : NULL;
}

int picked(int x) __attribute__((ifunc("resolve")));

int main(void)
{
	int sum = 0;
	for (int i = 0; i < 1000; i++)
		sum = library_picked(picked(sum));
	CHECK(sum == 3000);
	return 0;
}
