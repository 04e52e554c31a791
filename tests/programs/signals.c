/*
 * A CPU time timer interrupts `victim` 80 times, at any instruction. Its handler uses 2 ms each time, on the normal
 * stack (`signals normal`) or on an alternate one (`signals alternate`).
 */
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "burn.h"

static volatile sig_atomic_t handled;

NOINLINE static void handler_work(void)
{
	burn(2000);
	NOT_A_TAIL_CALL();
}

static void handler(int signal_number)
{
	(void)signal_number;
	handler_work();
	handled++;
}

NOINLINE static void victim(void)
{
	while (handled < 80)
		burn(20);
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval every = { .it_interval = { .tv_usec = 4000 }, .it_value = { .tv_usec = 4000 } };
	struct itimerval never = { .it_interval = { .tv_usec = 0 } };

	if (argc > 1 && !strcmp(argv[1], "alternate")) {
		stack_t stack = { .ss_size = 256 * 1024 };

		stack.ss_sp = malloc(stack.ss_size);
		if (!stack.ss_sp || sigaltstack(&stack, NULL))
			return 1;
		action.sa_flags |= SA_ONSTACK;
	}
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	victim();
	setitimer(ITIMER_PROF, &never, NULL);
	share("main;victim", 1.0);
	return 0;
}
