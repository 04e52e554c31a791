/* Usage: `reads [COUNT]`. Makes COUNT reads (default 1 M) of 1 to 1,023 bytes from /dev/zero,
 * with the same lengths in each run. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "own_time.h"

enum { LONGEST = 1023 };

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
	static char buffer[LONGEST];
	long count = argc > 1 ? atol(argv[1]) : 1000000;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	unsigned long bytes = 0;
	double start = seconds_now();

	for (long i = 0; i < count; i++) {
		ssize_t got = read(fd, buffer, 1 + next_random() % LONGEST);
		if (got <= 0)
			return 1;
		bytes += (unsigned long)got;
	}
	print_own_time(start);
	printf("%lu\n", bytes);
	return 0;
}
