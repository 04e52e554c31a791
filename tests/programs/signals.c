/*
 * Signals interrupt three threads: one in a system call, one in the middle of a function, and one at the first
 * instruction of a function, whose frame is its return address alone. The handlers run on the normal stacks (`signals
 * normal`) or on alternate stacks (`signals alternate`), and hold.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "burn.h"
#include "hold.h"

enum { TRAP_BYTES = 2, STACK_BYTES = 256 * 1024 };

static int is_alternate;

NOINLINE static void handler_work(void)
{
	burn(10000);
	NOT_A_TAIL_CALL();
}

static void handler(int signal_number, siginfo_t *info, void *context)
{
	(void)info;
	handler_work();
	hold();
	if (signal_number == SIGILL)
		((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += TRAP_BYTES;
}

NOINLINE static void in_a_call(void)
{
	syscall(SYS_tgkill, getpid(), gettid(), SIGPROF);
	NOT_A_TAIL_CALL();
}

NOINLINE static void in_the_middle(void)
{
	burn_sink++;
	__asm__ volatile("ud2" ::: "memory");
	burn_sink++;
}

__attribute__((naked, noinline)) static void at_first_instruction(void)
{
	__asm__("ud2\n\tret");
}

static void *victim(void *function)
{
	if (is_alternate) {
		stack_t stack = { .ss_size = STACK_BYTES, .ss_sp = malloc(STACK_BYTES) };

		if (!stack.ss_sp || sigaltstack(&stack, NULL))
			exit(1);
	}
	((void (*)(void))function)();
	return NULL;
}

int main(int argc, char **argv)
{
	static void (*const functions[])(void) = { in_a_call, in_the_middle, at_first_instruction };
	enum { THREADS = sizeof(functions) / sizeof(functions[0]) };
	pthread_t threads[THREADS];
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	is_alternate = argc > 1 && !strcmp(argv[1], "alternate");
	if (is_alternate)
		action.sa_flags |= SA_ONSTACK;
	sigaction(SIGPROF, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, victim, (void *)functions[i]))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	share("victim;in_a_call;syscall;handler;handler_work", 1.0 / THREADS);
	share("victim;in_the_middle;handler;handler_work", 1.0 / THREADS);
	share("victim;at_first_instruction;handler;handler_work", 1.0 / THREADS);
	return 0;
}
