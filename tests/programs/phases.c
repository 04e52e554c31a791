/*
 * Works in phases, until it is killed or 200 s are over: first `heavy` has three quarters of the CPU time of `first`, and `light` the
 * rest; `touch` has all page faults. From SIGUSR1 on, `later` has all CPU time and nothing faults. Prints its process id.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

static volatile sig_atomic_t is_later;

static void change(int number)
{
	(void)number;
	is_later = 1;
}

NOINLINE static void heavy(void)
{
	burn(750);
	NOT_A_TAIL_CALL();
}

NOINLINE static void light(void)
{
	burn(250);
	NOT_A_TAIL_CALL();
}

NOINLINE static void touch(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		abort();
	page[0] = 1;
	munmap(page, 4096);
	NOT_A_TAIL_CALL();
}

NOINLINE static void first(void)
{
	static unsigned rounds;
	heavy();
	light();
	if (++rounds % 16 == 0)
		touch();
	NOT_A_TAIL_CALL();
}

NOINLINE static void later(void)
{
	burn(1000);
	NOT_A_TAIL_CALL();
}

int main(void)
{
	signal(SIGUSR1, change);
	signal(SIGHUP, SIG_IGN); /* of the test's terminal, which closes */
	alarm(200);
	share("first;heavy", 0.75);
	share("first;light", 0.25);
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	fprintf(stderr, "this must not be on the screen\n");
	while (!is_later)
		first();
	for (;;)
		later();
}
