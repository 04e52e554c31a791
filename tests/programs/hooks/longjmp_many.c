/* longjmp over many frames, of a recursion and of others, with the buffer in a frame between them; also by the
 * variants that restore the signal mask, and by the compiler's builtin, which calls no library function. */
#include <setjmp.h>

#include "hooks.h"

static NOINLINE void descend(jmp_buf target, int depth)
{
	if (depth == 0)
		longjmp(target, 1);
	descend(target, depth - 1);
	abort();
}

static NOINLINE void descend_signals(sigjmp_buf target, int depth)
{
	if (depth == 0)
		siglongjmp(target, 1);
	descend_signals(target, depth - 1);
	abort();
}

static void *words[5];

static NOINLINE void descend_builtin(int depth)
{
	if (depth == 0)
		__builtin_longjmp(words, 1);
	descend_builtin(depth - 1);
	abort();
}

static NOINLINE int catch (int depth)
{
	jmp_buf target;
	if (setjmp(target) == 0)
		descend(target, depth);
	return 1;
}

static NOINLINE int catch_signals(int depth)
{
	sigjmp_buf target;
	if (sigsetjmp(target, 1) == 0)
		descend_signals(target, depth);
	return 1;
}

static NOINLINE int catch_builtin(int depth)
{
	if (__builtin_setjmp(words) == 0)
		descend_builtin(depth);
	return 1;
}

static NOINLINE int catch_within(int depth)
{
	return depth == 0 ? catch (20) : catch_within(depth - 1) + catch (depth);
}

int main(void)
{
	int caught = 0;
	for (int i = 0; i < 10; i++)
		caught += catch (UNKNOWN(i) * 10) + catch_signals(UNKNOWN(i)) + catch_builtin(UNKNOWN(i)) +
			  catch_within(i);
	CHECK(caught == 30 + 55);
	return 0;
}
