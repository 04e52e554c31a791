/* `migrations [ROUNDS]`: moves itself from one processor to another and back, three times as often below one
 * caller as below the other. */
#include <sched.h>

#include "burn.h"

static cpu_set_t places[2];

static void move_to_and_fro(void)
{
	for (int i = 0; i < 2; i++)
		if (sched_setaffinity(0, sizeof(places[i]), &places[i]))
			exit(1);
}

NOINLINE static void heavy(int rounds)
{
	for (int i = 0; i < 3 * rounds; i++)
		move_to_and_fro();
}

NOINLINE static void light(int rounds)
{
	for (int i = 0; i < rounds; i++)
		move_to_and_fro();
}

int main(int argc, char **argv)
{
	enum { ONE_PROCESSOR = 77 };
	int rounds = rounds_wanted(argc, argv, 50), found = 0;
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return 1;
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			CPU_SET(cpu, &places[found++]);
	if (found < 2)
		return ONE_PROCESSOR;
	if (sched_setaffinity(0, sizeof(places[1]), &places[1]))
		return 1;
	heavy(rounds);
	light(rounds);
	amount("migrations", "main;heavy", 3ull * 2 * (unsigned)rounds);
	amount("migrations", "main;light", 2ull * (unsigned)rounds);
	return 0;
}
