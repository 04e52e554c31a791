/*
 * Handlers that jump out of the calls that they interrupt, and so out of the profiler's code there. The argument
 * selects the kind of jump. The work after the jumps must be recorded: some CPU time, and WRITES calls.
 */
#include "check.h"

#include <fcntl.h>
#include <setjmp.h>
#include <ucontext.h>

enum { JUMPS = 400, WRITES = 1000, STACK_BYTES = 64 * 1024 };

static sigjmp_buf target;
static ucontext_t context;
static bool by_context;
static volatile sig_atomic_t armed, jumps;
static int null_fd;

static void jump_out(int number)
{
	(void)number;
	sigjmp_buf inside;
	/* A jump within a handler does not leave the interrupted call. */
	if (sigsetjmp(inside, 1) == 0)
		siglongjmp(inside, 1);
	if (!armed || jumps >= JUMPS || ++jumps % 4 == 0)
		return;
	if (by_context)
		setcontext(&context);
	siglongjmp(target, 1);
}

static void write_much(void)
{
	armed = 1;
	for (int i = 0; i < 1000000 && jumps < JUMPS; i++)
		if (write(null_fd, "x", 1) != 1)
			exit(2);
	armed = 0;
}

static void be_jumped_out_of(void)
{
	while (jumps < JUMPS) {
		if (by_context)
			getcontext(&context);
		else
			(void)sigsetjmp(target, 1);
		if (jumps < JUMPS)
			write_much();
	}
	armed = 0;
}

static __attribute__((noinline)) void used_behind(void)
{
	busy(0.4);
	for (int i = 0; i < WRITES; i++)
		if (write(null_fd, "x", 1) != 1)
			exit(2);
}

/* Works in deeper frames than those to which the jumps went. */
static __attribute__((noinline)) void go_deeper(int levels)
{
	volatile char room[1000];
	room[0] = (char)levels;
	if (levels > 0)
		go_deeper(levels - 1);
	else
		used_behind();
	room[1] = room[0];
}

int main(int argc, char **argv)
{
	const struct itimerval often = { { 0, 211 }, { 0, 211 } }, never = { { 0, 0 }, { 0, 0 } };
	const char *way = argc > 1 ? argv[1] : "stack";
	const stack_t alternate = { .ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES };
	by_context = strcmp(way, "context") == 0;
	null_fd = open("/dev/null", O_WRONLY);
	if (strcmp(way, "alternate") == 0)
		check(sigaltstack(&alternate, NULL) == 0, "an alternate stack");
	handle(SIGALRM, jump_out, SA_ONSTACK);
	setitimer(ITIMER_REAL, &often, NULL);
	be_jumped_out_of();
	setitimer(ITIMER_REAL, &never, NULL);
	go_deeper(4);
	check(jumps == JUMPS, "jumped");
	return checks_failed != 0;
}
