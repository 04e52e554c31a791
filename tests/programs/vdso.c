/* The vDSO writes the time into pages that nothing has touched: each call is a page fault inside the vDSO. */
#include <sys/mman.h>
#include <time.h>

#include "burn.h"

enum { CALLS = 100, PAGE_BYTES = 4096, BYTES = (CALLS + 1) * PAGE_BYTES };

NOINLINE static void read_clock(char *page)
{
	clock_gettime(CLOCK_MONOTONIC_COARSE, (struct timespec *)page); /* never needs the system call */
	NOT_A_TAIL_CALL();
}

/* The vDSO's own pages are mapped at the first call. */
NOINLINE static void first_read(char *page)
{
	clock_gettime(CLOCK_MONOTONIC_COARSE, (struct timespec *)page);
	NOT_A_TAIL_CALL();
}

int main(void)
{
	char *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || madvise(pages, BYTES, MADV_NOHUGEPAGE))
		return 1;
	first_read(pages);
	for (int i = 1; i <= CALLS; i++)
		read_clock(pages + (size_t)i * PAGE_BYTES);
	amount("page-faults", "main;read_clock", CALLS);
	return 0;
}
