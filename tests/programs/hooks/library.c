/* A shared library that is linked with the program: it calls the program back, and both have functions of the same
 * name. */
#include "library.h"

#include "hooks.h"

static long seen;

static NOINLINE void callback(int n)
{
	seen += UNKNOWN(n);
}

static NOINLINE long call_library(int n)
{
	return library_sum(n, callback);
}

/* The library calls this function too, because the program's definition precedes its own. */
long replaced(long n)
{
	return UNKNOWN(n) * 2;
}

int main(void)
{
	long sum = 0;
	for (int i = 0; i < 30; i++)
		sum += call_library(i) + replaced(i);
	CHECK(sum == 2 * 4060 + 2 * 435 && seen == 4060);
	return 0;
}
