/* Waits for a semaphore with a timeout, and for a futex by the system call. Each states its time in us. */
#include <errno.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

enum { TURNS = 10, WAIT_NS = 5000000, SECOND_NS = 1000000000 };

static unsigned long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
}

NOINLINE static void by_semaphore(void)
{
	struct timespec until;
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += WAIT_NS;
	until.tv_sec += until.tv_nsec / SECOND_NS;
	until.tv_nsec %= SECOND_NS;
	if (sem_timedwait(&semaphore, &until) == 0 || errno != ETIMEDOUT)
		exit(1);
}

NOINLINE static void by_futex(void)
{
	static int word;
	struct timespec time = { .tv_nsec = WAIT_NS };

	if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0) == 0 || errno != ETIMEDOUT)
		exit(1);
}

int main(void)
{
	unsigned long long start = now_us();

	for (int i = 0; i < TURNS; i++)
		by_semaphore();
	amount("lock-wait", "by_semaphore", now_us() - start);
	start = now_us();
	for (int i = 0; i < TURNS; i++)
		by_futex();
	amount("lock-wait", "by_futex", now_us() - start);
	return 0;
}
