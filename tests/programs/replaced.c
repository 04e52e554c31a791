/*
 * Uses CPU time in FUNCTION until it is ended. A test deletes its file meanwhile, or replaces it by a build with
 * another FUNCTION and with AHEAD, code that moves the functions behind it to other addresses.
 *
 *   replaced            computes in its own FUNCTION
 *   replaced LIBRARY    computes in the library's
 *
 * As a library (-shared), it has the function `work`, which calls FUNCTION for about a millisecond.
 */
#include <dlfcn.h>

#include "burn.h"

#ifdef AHEAD
NOINLINE static void AHEAD(void)
{
	for (unsigned long i = 0; i < 1000; i++) {
		burn_sink += i * i;
		burn_sink ^= i << 3;
		burn_sink -= i / 7;
	}
	NOT_A_TAIL_CALL();
}
#endif

NOINLINE static void FUNCTION(void)
{
	for (unsigned long i = 0; i < 1000 * 1000; i++)
		burn_sink += i;
}

void work(void);
NOINLINE void work(void)
{
#ifdef AHEAD
	if (burn_sink == 1)
		AHEAD();
#endif
	FUNCTION();
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void (*library_work)(void) = library ? (void (*)(void))dlsym(library, "work") : work;
	if (argc > 1 && !library_work)
		return 1;
	puts("ready");
	fflush(stdout);
	for (;;)
		library_work();
}
