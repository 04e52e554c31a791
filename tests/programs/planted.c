/*
 * A program whose path main;work;parse has a tenth of the work, and PERCENT (default 0) more of it than that. Usage: planted ROUNDS
 * [PERCENT]. A round takes about 50 us.
 */
#include <stdint.h>
#include <stdlib.h>

enum { UNIT = 100, STEPS = 50 };

static volatile uint64_t sink;

/* Work that depends on nothing but its amount: a chain of multiplications in registers. */
static inline __attribute__((always_inline)) void spin(int units)
{
	uint64_t value = 1;
	for (int i = 0; i < units * STEPS; i++)
		__asm__ volatile("imul $3, %0, %0" : "+r"(value));
	sink = value;
}

__attribute__((noinline)) void parse(int units)
{
	spin(units);
}

__attribute__((noinline)) void store(int units)
{
	spin(units);
}

__attribute__((noinline)) void work(int units)
{
	parse(units);
	store(9 * UNIT);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, percent = argc > 2 ? atoi(argv[2]) : 0;
	for (int i = 0; i < rounds; i++)
		work(UNIT + UNIT * percent / 100);
	return 0;
}
