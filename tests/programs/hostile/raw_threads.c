/*
 * A thread of the same process, and a process that shares its memory, both made by clone alone, so that the C
 * library has no record of them. They have no thread-local data (they use the data of the thread that made them) and
 * only compute.
 */
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "moment.h"

enum { STACK = 64 * 1024 };

static _Alignas(64) char stacks[2][STACK];
static atomic_uint thread_alive;
static volatile uint64_t sums[2];

/* Exits by the system call alone: the C library's exit code would act on the thread that made this one. */
static int compute(void *number)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 1000000; i++) {
		sum += i;
		__asm__ volatile("" : "+r"(sum));
	}
	sums[(intptr_t)number] = sum;
	for (;;)
		__asm__ volatile("syscall" ::"a"(SYS_exit), "D"(0L) : "rcx", "r11", "memory");
	return 0;
}

static void start(intptr_t number, int flags)
{
	CHECK(clone(compute, stacks[number] + STACK, flags, (void *)number, NULL, NULL, &thread_alive) > 0);
}

int main(void)
{
	while (moment_goes_on(3)) {
		int status;

		sums[0] = sums[1] = 0;
		atomic_store(&thread_alive, 1);
		start(0, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
				 CLONE_CHILD_CLEARTID);
		start(1, CLONE_VM | SIGCHLD);
		burn(500);
		while (atomic_load(&thread_alive))
			syscall(SYS_futex, &thread_alive, FUTEX_WAIT, 1, NULL, NULL, 0);
		CHECK(wait(&status) > 0 && status == 0);
		CHECK(sums[0] == 499999500000 && sums[1] == 499999500000);
	}
	return moment_ends("each sum was right\n");
}
