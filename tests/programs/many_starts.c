/*
 * Starts threads by clone(). The kernel writes each new thread's number into two pages that nothing has touched: these are page faults of
 * the creator and of the new thread, both still in their system call.
 */
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burn.h"

enum { THREADS = 40, PAGE_BYTES = 4096, PAGES_EACH = 3 };

static volatile int ended;

/* Has no thread-local data of its own. */
static int run(void *unused)
{
	(void)unused;
	__atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
	return 0;
}

NOINLINE static void start(char *pages)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			  CLONE_PARENT_SETTID | CLONE_CHILD_SETTID;
	char *stack_end = pages + PAGE_BYTES;

	stack_end[-1] = 1;
	if (clone(run, stack_end, flags, NULL, stack_end, NULL, stack_end + PAGE_BYTES) < 0)
		exit(1);
}

int main(void)
{
	const size_t bytes = (size_t)THREADS * PAGES_EACH * PAGE_BYTES;
	char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || madvise(pages, bytes, MADV_NOHUGEPAGE))
		return 1;
	for (int i = 0; i < THREADS; i++)
		start(pages + (size_t)i * PAGES_EACH * PAGE_BYTES);
	while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < THREADS)
		sched_yield();
	return 0;
}
