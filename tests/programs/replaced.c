/*
 * Prints "ready", and for each byte of its standard input makes LENGTH_US / EVENT_US events in FUNCTION and prints
 * "done". A test deletes its file meanwhile, or replaces it by a build with another FUNCTION and with AHEAD, code that
 * moves the functions behind it to other addresses.
 *
 *   replaced            in its own FUNCTION
 *   replaced LIBRARY    in the library's
 *
 * As a library (-shared), it has the function `work`, which calls FUNCTION.
 */
#include <dlfcn.h>
#include <unistd.h>

#include "burn.h"

enum { LENGTH_US = 20000 };

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
	BURN_HERE(LENGTH_US);
	NOT_A_TAIL_CALL();
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
	for (char byte; read(STDIN_FILENO, &byte, 1) == 1;) {
		library_work();
		puts("done");
		fflush(stdout);
	}
	return 0;
}
