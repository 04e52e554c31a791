/* A library with one function, named by -DNAME=...: two builds differ only in that name. */
#include "burn.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

void plugin_run(unsigned us);

NOINLINE static void JOIN(NAME, _work)(unsigned us)
{
	burn(us);
	NOT_A_TAIL_CALL();
}

NOINLINE void plugin_run(unsigned us)
{
	JOIN(NAME, _work)(us);
	NOT_A_TAIL_CALL();
}
