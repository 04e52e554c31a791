/* Signal handlers, which have no caller in the program: one that interrupts another, one on an alternate stack,
 * one that leaves by a jump, and one for a fault. */
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "hooks.h"

enum { TIMES = 50 };

static volatile long handled, worked;
static sigjmp_buf target;

static NOINLINE void work_within(int n)
{
	if (n > 0)
		work_within(n - 1);
	worked++;
}

static NOINLINE void outer_handler(int number)
{
	(void)number;
	raise(SIGUSR2);
	work_within(2);
	handled++;
}

static NOINLINE void inner_handler(int number)
{
	(void)number;
	work_within(1);
	handled++;
}

static NOINLINE void jumping_handler(int number)
{
	(void)number;
	work_within(3);
	siglongjmp(target, 1);
}

static NOINLINE void fault_handler(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	work_within(0);
	siglongjmp(target, 1);
}

static NOINLINE void interrupted(int number)
{
	raise(number);
	work_within(0);
}

static NOINLINE void fault(volatile int *address)
{
	*address = 1;
	work_within(0);
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	sigemptyset(&action.sa_mask);
	CHECK(sigaction(number, &action, NULL) == 0);
}

int main(void)
{
	static char bytes[64 * 1024];
	stack_t stack = { .ss_sp = bytes, .ss_size = sizeof(bytes) };
	struct sigaction action = { .sa_sigaction = fault_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	volatile long jumps = 0;
	CHECK(sigaltstack(&stack, NULL) == 0);
	handle(SIGUSR1, outer_handler, SA_ONSTACK);
	handle(SIGUSR2, inner_handler, 0);
	handle(SIGHUP, jumping_handler, SA_ONSTACK);
	CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
	for (volatile int i = 0; i < TIMES; i++) {
		interrupted(SIGUSR1);
		interrupted(SIGUSR2);
		if (sigsetjmp(target, 1) == 0)
			interrupted(SIGHUP);
		else
			jumps++;
		if (sigsetjmp(target, 1) == 0)
			fault((volatile int *)UNKNOWN(16L));
		else
			jumps++;
	}
	CHECK(handled == 3 * TIMES && jumps == 2 * TIMES && worked == TIMES * (3 + 2 + 2 + 2 + 4 + 1));
	states("outer_handler", TIMES);
	states("inner_handler", 2 * TIMES);
	states("jumping_handler", TIMES);
	states("fault_handler", TIMES);
	return 0;
}
