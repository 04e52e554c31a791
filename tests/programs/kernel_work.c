/*
 * Works in the kernel a known number of times: `often` requests random bytes three times, and `seldom` once, each into a
 * page that was not touched, `waits` sleeps, and `kernel_touches` lets the kernel write into such pages.
 *
 *   kernel_work random ROUNDS | wait ROUNDS | fault PAGES
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 256, PAGE = 4096, OFTEN = 3 };

static char *fresh(long pages)
{
	char *memory = mmap(NULL, (size_t)(pages * PAGE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, (size_t)(pages * PAGE), MADV_NOHUGEPAGE) != 0)
		abort();
	return memory;
}

static char *fresh_page(void)
{
	static char *page;

	if (!page)
		page = fresh(1);
	if (madvise(page, PAGE, MADV_DONTNEED) != 0)
		abort();
	return page;
}

/* By system call: newer C libraries make random bytes without the kernel. */
static __attribute__((noinline)) void often(void)
{
	for (int i = 0; i < OFTEN; i++)
		if (syscall(SYS_getrandom, fresh_page(), BYTES, 0) != BYTES)
			abort();
	__asm__ volatile("");
}

static __attribute__((noinline)) void seldom(void)
{
	if (syscall(SYS_getrandom, fresh_page(), BYTES, 0) != BYTES)
		abort();
	__asm__ volatile("");
}

static __attribute__((noinline)) void waits(void)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	__asm__ volatile("");
}

static __attribute__((noinline)) void kernel_touches(int zeros, char *memory, long pages)
{
	for (long i = 0; i < pages; i++)
		if (read(zeros, memory + i * PAGE, 1) != 1)
			abort();
	__asm__ volatile("");
}

static __attribute__((noinline)) void program_touches(char *memory, long pages)
{
	for (long i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
	__asm__ volatile("");
}

int main(int count, char **arguments)
{
	if (count != 3)
		return 2;
	long rounds = atol(arguments[2]);
	if (strcmp(arguments[1], "fault") == 0) {
		int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
		kernel_touches(zeros, fresh(rounds), rounds);
		program_touches(fresh(2 * rounds), 2 * rounds);
		return 0;
	}
	for (long i = 0; i < rounds; i++) {
		if (strcmp(arguments[1], "wait") == 0) {
			waits();
		} else {
			often();
			seldom();
		}
	}
	return 0;
}
