/*
 * `everything FILE [ROUNDS]`: reads, allocates, touches fresh pages, computes and sleeps, three times as much
 * below one caller as below the other. Each run does the same.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

enum { PAGES = 5, PAGE = 4096, READ_BYTES = 700, ALLOCATED = 3000, COMPUTE_TURNS = 100000 };

static int file;

static void touch_pages(void)
{
	char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE))
		exit(1);
	for (int i = 0; i < PAGES; i++)
		((volatile char *)memory)[i * PAGE] = 1;
	munmap(memory, PAGES * PAGE);
}

NOINLINE static void do_all(void)
{
	static char buffer[READ_BYTES];
	struct timespec nap = { .tv_nsec = 200000 };
	char *memory = malloc(ALLOCATED);

	if (!memory || pread(file, buffer, READ_BYTES, 0) != READ_BYTES)
		exit(1);
	*(volatile char *)memory = buffer[0];
	free(memory);
	touch_pages();
	burn_turns(COMPUTE_TURNS);
	nanosleep(&nap, NULL);
}

NOINLINE static void heavy(int rounds)
{
	for (int i = 0; i < 3 * rounds; i++)
		do_all();
}

NOINLINE static void light(int rounds)
{
	for (int i = 0; i < rounds; i++)
		do_all();
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 100;

	if (argc < 2 || (file = open(argv[1], O_RDONLY)) < 0)
		return 2;
	do_all(); /* the first malloc asks the kernel for a heap */
	heavy(rounds);
	light(rounds);
	for (int i = 0; i < 2; i++) {
		const char *path = i == 0 ? "main;heavy" : "main;light";
		unsigned long long turns = (i == 0 ? 3ull : 1ull) * (unsigned)rounds;

		amount("read-bytes", path, READ_BYTES * turns);
		amount("alloc-bytes", path, ALLOCATED * turns);
		amount("page-faults", path, PAGES * turns);
		amount("syscalls", path, 5 * turns); /* pread, mmap, madvise, munmap, nanosleep */
	}
	share("main;heavy", 0.75);
	share("main;light", 0.25);
	return 0;
}
