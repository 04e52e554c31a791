/* Code to disassemble: a loop, a jump table's neighbour, a call of a function of the program and of another library, and a function
 * that is inlined in two others. `gap` has a long run of instructions. */
#include <stdlib.h>
#include <string.h>

volatile unsigned sink;

static inline __attribute__((always_inline)) unsigned mixed(unsigned value)
{
	for (int i = 0; i < 8; i++)
		value = (value * 2654435761u) ^ (value >> 13);
	return value;
}

__attribute__((noinline)) unsigned leaf(unsigned value)
{
	return mixed(value) + 1;
}

__attribute__((noinline)) unsigned caller(unsigned count)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < count; i++) {
		sum += leaf(i);
		if (sum & 1)
			sum ^= (unsigned)rand();
	}
	return sum + mixed(sum);
}

#define TEN(x) x x x x x x x x x x

__attribute__((noinline)) void gap(void)
{
	TEN(TEN(sink++;))
}

int main(int argc, char **argv)
{
	unsigned turns = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	for (unsigned i = 0; i < turns; i++)
		sink += caller(100000);
	gap();
	return 0;
}
