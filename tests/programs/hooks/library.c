/* A shared library that the program is linked with: it calls the program back, and both call functions of the same name. */
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

/* The library calls this one too: the program's stands before its own. */
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
