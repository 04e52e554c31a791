/* Signal handlers: on the same stack, on an alternate one, nested, and left by longjmp. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "marks.h"

static volatile int seen;
static sigjmp_buf back;

static NOINLINE int work(int a)
{
	KEEP(a);
	return a + 1;
}

static void inner_handler(int number)
{
	seen += work(number);
}

static void outer_handler(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	seen += work(number);
	raise(SIGUSR2);
	seen += work(number);
}

static void jumping_handler(int number)
{
	seen += work(number);
	siglongjmp(back, 1);
}

static void install(int number, void (*handler)(int), void (*action)(int, siginfo_t *, void *), int flags)
{
	struct sigaction how;
	memset(&how, 0, sizeof(how));
	how.sa_flags = flags;
	if (action)
		how.sa_sigaction = action;
	else
		how.sa_handler = handler;
	if (sigaction(number, &how, NULL) != 0)
		abort();
}

static NOINLINE int interrupted(int number)
{
	char block[300];
	char *at = block;
	KEEP(at);
	raise(number);
	return work(at != NULL);
}

int main(void)
{
	static char other[64 * 1024];
	stack_t stack = { .ss_sp = other, .ss_size = sizeof(other) };
	if (sigaltstack(&stack, NULL) != 0)
		abort();
	install(SIGUSR1, NULL, outer_handler, SA_SIGINFO | SA_ONSTACK);
	install(SIGUSR2, inner_handler, NULL, 0);
	install(SIGALRM, jumping_handler, NULL, SA_ONSTACK);
	BEGIN();
	int sum = interrupted(SIGUSR2) + interrupted(SIGUSR1);
	if (sigsetjmp(back, 1) == 0)
		sum += interrupted(SIGALRM);
	END();
	KEEP(sum);
	return seen > 0 ? 0 : 1;
}
