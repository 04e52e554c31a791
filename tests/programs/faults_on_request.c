/*
 * `faults_on_request`: prints "ready"; for each number that it reads, touches as many fresh pages and prints "done". The first
 * number is touched in one function, all others in another. Uses little memory.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "burn.h"

enum { PAGE = 4096, PAGES = 512 };

static volatile char *memory;

static void touch(int pages)
{
	for (int i = 0; i < pages; i++) {
		if (i % PAGES == 0 && madvise((void *)memory, (size_t)PAGES * PAGE, MADV_DONTNEED))
			exit(1);
		memory[(size_t)(i % PAGES) * PAGE] = 1;
	}
}

NOINLINE static void touch_first(int pages)
{
	touch(pages);
	NOT_A_TAIL_CALL();
}

NOINLINE static void touch_later(int pages)
{
	touch(pages);
	NOT_A_TAIL_CALL();
}

int main(void)
{
	int pages, requests = 0;

	memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise((void *)memory, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE))
		return 1;
	puts("ready");
	fflush(stdout);
	while (scanf("%d", &pages) == 1) {
		if (requests++ == 0)
			touch_first(pages);
		else
			touch_later(pages);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
