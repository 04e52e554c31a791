/* Executes itself four times in the same process, and uses CPU time in a different function each time. */
#include <unistd.h>

#include "burn.h"

#define STAGE(name, us)                 \
	NOINLINE static void name(void) \
	{                               \
		burn(us);               \
		NOT_A_TAIL_CALL();      \
	}

STAGE(stage_0, 50000)
STAGE(stage_1, 100000)
STAGE(stage_2, 150000)
STAGE(stage_3, 200000)

int main(int argc, char **argv)
{
	static void (*const stages[])(void) = { stage_0, stage_1, stage_2, stage_3 };
	int number = rounds_wanted(argc, argv, 0);

	stages[number]();
	if (number == 3) {
		share("main;stage_0", 0.1);
		share("main;stage_1", 0.2);
		share("main;stage_2", 0.3);
		share("main;stage_3", 0.4);
		return 3;
	}
	char next[] = { (char)('1' + number), 0 };
	char *args[] = { argv[0], next, NULL };
	execv("/proc/self/exe", args);
	return 1;
}
