/* The code that stays, beside another removed function in the same unit: removed.c. */
#include "burn.h"

volatile int removed_beside_sink;

void removed_beside(void)
{
	__asm__ volatile(".fill 0x8000, 1, 0x90");
	removed_beside_sink++;
}

static inline __attribute__((always_inline)) void live_inline(void)
{
	BURN_HERE(5000);
}

NOINLINE void live(void)
{
	live_inline();
	NOT_A_TAIL_CALL();
}

int main(void)
{
	live();
	puts("share main;live;live_inline 1");
	return 0;
}
