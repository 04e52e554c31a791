/*
 * `steady FILE [ROUNDS]` works for about 0.6 s (10 ms a round), one tenth of the time, and then writes "done" and a sum into FILE: a
 * program that was not disturbed writes the same sum each time.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

enum { ROUNDS = 60 };

NOINLINE static unsigned long work(unsigned long sum, int round)
{
	burn(1000);
	char *memory = malloc(1000 + (size_t)round);
	if (!memory)
		abort();
	memset(memory, round, 1000);
	sum = sum * 31 + (unsigned char)memory[999];
	free(memory);
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long sum = 1;
	int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS;
	for (int i = 0; i < rounds; i++) {
		const struct timespec nap = { .tv_nsec = 9000000 };
		sum = work(sum, i);
		if (nanosleep(&nap, NULL) != 0)
			return 3; /* interrupted, though it has no handlers */
	}
	int file = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600) : STDOUT_FILENO;
	return dprintf(file, "done %lu\n", sum) > 0 ? 0 : 4;
}
