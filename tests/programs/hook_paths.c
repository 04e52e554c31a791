/*
 * Calls whose callers are hard to derive from the content of the stack. Each function that is called in such a
 * situation is called from only one other function. The program prints how often each path was taken.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define HIDDEN __attribute__((no_instrument_function))

enum { TIMES = 200 };

static volatile long sink;

HIDDEN static void states(const char *path, long calls)
{
	printf("path %s %ld\n", path, calls);
}

/* --- remains of returned functions above the next call --- */

static NOINLINE void shallow(void)
{
	sink++;
}

static NOINLINE void deep(int n)
{
	volatile char room[64];
	room[0] = (char)n;
	if (n > 0)
		deep(n - 1);
	sink += room[0];
}

static NOINLINE int compare(const void *a, const void *b)
{
	sink++;
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void sorts(void)
{
	int numbers[] = { 2, 1 };
	deep(3);
	shallow();
	qsort(numbers, 2, sizeof(numbers[0]), compare);
}

static NOINLINE long many(long a, long b, long c, long d, long e, long f, long g)
{
	sink++;
	return a + b + c + d + e + f + g;
}

static NOINLINE long passes(int n)
{
	shallow();
	long sum = n > 0 ? passes(n - 1) : 0;
	return sum + many(1, 2, 3, 4, 5, 6, sink);
}

static NOINLINE void in_room(char *room)
{
	room[0] = (char)sink;
}

static NOINLINE void takes_room(long bytes)
{
	shallow();
	in_room(alloca((size_t)bytes));
	deep(1);
	in_room(alloca((size_t)bytes));
}

/* --- jumps --- */

static jmp_buf target;

static NOINLINE void jumps(int n)
{
	if (n == 0)
		longjmp(target, 1);
	jumps(n - 1);
	sink++;
}

static NOINLINE void after_jump(void)
{
	sink += 3;
}

static NOINLINE void lands(void)
{
	if (setjmp(target) == 0)
		jumps(5);
	after_jump();
}

/* --- handlers --- */

static volatile long handled;

static NOINLINE void in_handler(void)
{
	sink += 5;
}

static void handler(int number)
{
	(void)number;
	in_handler();
	handled++;
}

/* The frame of shallow, which has just returned, was at the address where a handler's frame begins. */
static NOINLINE void is_interrupted(long times)
{
	shallow();
	for (long until = handled + times; handled < until;)
		__asm__ volatile("");
	sink++;
}

static NOINLINE void calls_meanwhile(long times)
{
	for (long i = 0; i < times; i++) {
		shallow();
		deep(2);
	}
}

/* Starts a timer that signals at 20 kHz, or as often as the kernel can deliver. */
HIDDEN static timer_t start_timer(int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART | flags };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec period = { { 0, 50000 }, { 0, 50000 } };
	timer_t timer;
	if (sigaction(SIGUSR1, &action, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    timer_settime(timer, 0, &period, NULL) != 0)
		_Exit(3);
	return timer;
}

HIDDEN static void stop_timer(timer_t timer)
{
	timer_delete(timer);
	signal(SIGUSR1, SIG_IGN);
}

HIDDEN static void interrupt(int flags, long busy_calls)
{
	timer_t timer = start_timer(flags);
	is_interrupted(TIMES);
	calls_meanwhile(busy_calls);
	stop_timer(timer);
}

int main(int count, char **words)
{
	enum { BUSY = 200000 };
	static char stack[65536];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	int is_busy = count > 1 && strcmp(words[1], "busy") == 0;
	for (int i = 0; i < TIMES; i++) {
		sorts();
		sink += passes(3);
		takes_room(i % 7 * 40 + 8);
		lands();
	}
	sigaltstack(&alternate, NULL);
	interrupt(0, is_busy ? BUSY : 0);
	interrupt(SA_ONSTACK, is_busy ? BUSY : 0);
	states("main;sorts;compare", TIMES);
	states("main;sorts;deep;deep;deep;deep", TIMES);
	states("main;sorts;shallow", TIMES);
	states("main;passes;passes;passes;passes;many", TIMES);
	states("main;passes;many", TIMES);
	states("main;passes;passes;shallow", TIMES);
	states("main;takes_room;in_room", 2 * TIMES);
	states("main;takes_room;deep;deep", TIMES);
	states("main;lands;jumps;jumps;jumps;jumps;jumps;jumps", TIMES);
	states("main;lands;after_jump", TIMES);
	states("main;calls_meanwhile;shallow", is_busy ? 2L * BUSY : 0);
	states("main;calls_meanwhile;deep;deep;deep", is_busy ? 2L * BUSY : 0);
	printf("handled %ld\n", handled);
	return 0;
}
