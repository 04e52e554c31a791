/*
 * Ten functions touch a page each in turn, so that the page faults repeat in step with each interval of ten, twenty, ...
 *
 *   in_step TURNS
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "burn.h"

enum { PAGE = 4096, FUNCTIONS = 10 };

static char *page;

#define TOUCHES(name)                       \
	NOINLINE static void name(void)     \
	{                                   \
		*(volatile char *)page = 1; \
		page += PAGE;               \
		NOT_A_TAIL_CALL();          \
	}

TOUCHES(first)
TOUCHES(second)
TOUCHES(third)
TOUCHES(fourth)
TOUCHES(fifth)
TOUCHES(sixth)
TOUCHES(seventh)
TOUCHES(eighth)
TOUCHES(ninth)
TOUCHES(tenth)

int main(int argc, char **argv)
{
	long turns = argc > 1 ? atol(argv[1]) : 1;
	size_t bytes = (size_t)turns * FUNCTIONS * PAGE;
	page = (char *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (page == MAP_FAILED || madvise(page, bytes, MADV_NOHUGEPAGE))
		return 1;
	for (long i = 0; i < turns; i++) {
		first();
		second();
		third();
		fourth();
		fifth();
		sixth();
		seventh();
		eighth();
		ninth();
		tenth();
	}
	return 0;
}
