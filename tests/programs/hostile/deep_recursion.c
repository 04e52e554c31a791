/* A recursion of 20,000 calls that works on its way down and up: each frame must be unchanged. */
#include "moment.h"

enum { DEPTH = 20000 };

NOINLINE static uint64_t descend(uint64_t depth)
{
	volatile uint64_t kept = depth * 3;
	uint64_t below = 0;

	for (volatile int i = 0; i < 100; i++)
		;
	if (depth > 0)
		below = descend(depth - 1);
	CHECK(kept == depth * 3);
	return below + kept / 3;
}

int main(void)
{
	while (moment_goes_on(2))
		CHECK(descend(DEPTH) == DEPTH * (DEPTH + 1ull) / 2);
	return moment_ends("each frame was kept\n");
}
