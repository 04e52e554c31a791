/* Usage: `mallocs [COUNT]`. Makes COUNT (default 2 M) pairs of malloc and free, of 16 bytes to 4
 * KB; 64 blocks are allocated at any time. */
#include <stdint.h>
#include <stdlib.h>

#include "own_time.h"

enum { ALIVE = 64, SMALLEST = 16, LARGEST = 4096 };

static uint32_t next_random(void)
{
	static uint32_t state = 2463534242u;

	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

int main(int argc, char **argv)
{
	static char *alive[ALIVE];
	long count = argc > 1 ? atol(argv[1]) : 2000000;
	unsigned long bytes = 0;
	double start = seconds_now();

	for (long i = 0; i < count; i++) {
		size_t size = SMALLEST + next_random() % (LARGEST - SMALLEST + 1);
		char **block = &alive[i % ALIVE];
		free(*block);
		*block = malloc(size);
		if (!*block)
			return 1;
		**block = (char)i;
		bytes += size;
	}
	print_own_time(start);
	printf("%lu\n", bytes);
	for (size_t i = 0; i < ALIVE; i++)
		free(alive[i]);
	return 0;
}
