/* `halves TIMES` makes so many events in each of two functions. */
#include "burn.h"

NOINLINE static void left(void)
{
	EVENT_HERE();
	NOT_A_TAIL_CALL();
}

NOINLINE static void right(void)
{
	EVENT_HERE();
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	for (int left_over = argc > 1 ? atoi(argv[1]) : 0; left_over > 0; left_over--) {
		left();
		right();
	}
	return 0;
}
