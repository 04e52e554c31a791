/* longjmp over one frame, many times, and calls from the same call sites afterwards. */
#include <setjmp.h>

#include "hooks.h"

static jmp_buf target;
static long went_on;

static NOINLINE void jump(int value)
{
	longjmp(target, value);
}

static NOINLINE void go_on(void)
{
	went_on += UNKNOWN(1);
}

static NOINLINE void attempt(int i)
{
	if (i % 3 == 0)
		jump(i + 1);
	go_on();
}

int main(void)
{
	volatile int jumps = 0;
	for (volatile int i = 0; i < 300; i++) {
		if (setjmp(target) == 0)
			attempt(i);
		else
			jumps++;
		go_on();
	}
	CHECK(jumps == 100 && went_on == 500);
	return 0;
}
