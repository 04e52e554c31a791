/*
 * `page_faults [PAGES [PAUSE_US]]`: touches PAGES fresh pages in one function, and twice as many in another, and
 * computes for PAUSE_US after each.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "burn.h"

enum { PAGE = 4096 };

static unsigned pause_us;

static void touch_pages(int pages)
{
	size_t bytes = (size_t)pages * PAGE;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE))
		exit(1);
	for (int i = 0; i < pages; i++) {
		((volatile char *)memory)[(size_t)i * PAGE] = 1;
		burn(pause_us);
	}
	munmap(memory, bytes);
}

NOINLINE static void touch_some(int pages)
{
	touch_pages(pages);
	NOT_A_TAIL_CALL();
}

NOINLINE static void touch_twice_as_many(int pages)
{
	touch_pages(2 * pages);
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	int pages = rounds_wanted(argc, argv, 10000);
	struct rusage used;

	pause_us = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	touch_some(pages);
	touch_twice_as_many(pages);
	getrusage(RUSAGE_SELF, &used);
	printf("faults touch_some %d\nfaults touch_twice_as_many %d\n", pages, 2 * pages);
	amount("page-faults", "main;touch_some", (unsigned)pages);
	amount("page-faults", "main;touch_twice_as_many", 2u * (unsigned)pages);
	amount("traps", "main;touch_some", (unsigned)pages);
	amount("traps", "main;touch_twice_as_many", 2u * (unsigned)pages);
	printf("rusage minor %ld major %ld\n", used.ru_minflt, used.ru_majflt);
	return 0;
}
