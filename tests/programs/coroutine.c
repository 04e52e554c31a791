/* Uses half of its time in a coroutine on a stack of its own (makecontext), whose function has no caller. */
#include <ucontext.h>

#include "burn.h"

static ucontext_t main_context, coroutine_context;

NOINLINE static void inside(void)
{
	burn(500);
	NOT_A_TAIL_CALL();
}

static void coroutine(void)
{
	for (;;) {
		inside();
		swapcontext(&coroutine_context, &main_context);
	}
}

int main(int argc, char **argv)
{
	enum { STACK_BYTES = 256 * 1024 };
	char *stack = malloc(STACK_BYTES);

	if (!stack || getcontext(&coroutine_context))
		return 1;
	coroutine_context.uc_stack.ss_sp = stack;
	coroutine_context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&coroutine_context, coroutine, 0);
	for (int i = rounds_wanted(argc, argv, 600); i > 0; i--) {
		burn(500);
		swapcontext(&main_context, &coroutine_context);
	}
	share("coroutine;inside;burn", 0.5);
	share("main;burn", 0.5);
	free(stack);
	return 0;
}
