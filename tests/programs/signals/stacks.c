/*
 * Alternate stacks: the program must see its own, and handlers on small stacks must have room. The memory below each
 * stack is filled and must not change.
 */
#include "check.h"

#include <sys/auxv.h>
#include <sys/mman.h>

enum { GUARD = 16384, FILLING = 0x5a, HANDLER_BYTES = 2048 };

static unsigned char *below;
static stack_t stack;
static volatile bool was_on_stack;

static void use_stack(int number)
{
	volatile unsigned char room[HANDLER_BYTES];
	(void)number;
	for (int i = 0; i < HANDLER_BYTES; i++)
		room[i] = (unsigned char)i;
	unsigned char *here = (unsigned char *)(unsigned long)&room[0];
	was_on_stack = here >= (unsigned char *)stack.ss_sp && here < (unsigned char *)stack.ss_sp + stack.ss_size;
	busy(0.01);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	busy(0.01);
	handled++;
}

static bool nothing_set(void)
{
	stack_t now;
	return sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_DISABLE && now.ss_sp == NULL && now.ss_size == 0;
}

static bool untouched(void)
{
	for (int i = 0; i < GUARD; i++)
		if (below[i] != FILLING)
			return false;
	return true;
}

static void set_stack(size_t bytes)
{
	below = mmap(NULL, GUARD + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(below, FILLING, GUARD);
	stack = (stack_t){ .ss_sp = below + GUARD, .ss_size = bytes };
	stack_t now;
	check(sigaltstack(&stack, NULL) == 0 && sigaltstack(NULL, &now) == 0 && now.ss_sp == stack.ss_sp &&
		      now.ss_size == stack.ss_size && now.ss_flags == 0,
	      "a stack");
}

/* The kernel's frame, the handler's, and 1,024 bytes. */
static size_t least_bytes(void)
{
	size_t frame = getauxval(51 /* AT_MINSIGSTKSZ */);
	return (frame ? frame : 2048) + HANDLER_BYTES + 1024;
}

static void run_on(size_t bytes)
{
	struct sigaction now;
	set_stack(bytes);
	handled = 0;
	for (int i = 0; i < 5; i++) {
		raise(SIGUSR1);
		busy(0.005);
	}
	check(handled == 5 && was_on_stack, "... handlers run on it");
	check(untouched(), "... and no further");
	sigaction(SIGUSR1, NULL, &now);
	check(now.sa_flags & SA_ONSTACK && !sigismember(&now.sa_mask, TICKS), "... as they were set");
}

int main(void)
{
	const stack_t none = { .ss_flags = SS_DISABLE }, tiny = { .ss_sp = &stack, .ss_size = 100 };
	check(nothing_set(), "no stack at first");
	handle(SIGUSR1, use_stack, SA_ONSTACK);
	raise(SIGUSR1);
	check(!was_on_stack && handled == 1, "a handler without one");
	check(sigaltstack(&tiny, NULL) < 0 && errno == ENOMEM, "too small a one");
	run_on(64 * 1024);
	run_on(8192);
	run_on(least_bytes());
	check(sigaltstack(&none, NULL) == 0 && nothing_set(), "no stack again");
	busy(0.02);
	return checks_failed != 0;
}
