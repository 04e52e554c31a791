/* Makes calls with long vectors that fail at once. Prints the CPU time per call on standard error, and the bytes that
 * all requested. */
#include "burn.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 2000, PIECES = 512, PIECE_BYTES = 8 };

NOINLINE static void write_in_vain(int fd, const struct iovec *vector)
{
	for (int i = 0; i < CALLS; i++)
		if (writev(fd, vector, PIECES) >= 0)
			exit(2);
}

int main(void)
{
	static char bytes[4096];
	struct iovec vector[PIECES];
	struct timespec start, end;
	int fds[2];
	if (pipe2(fds, O_NONBLOCK) < 0)
		return 2;
	while (write(fds[1], bytes, sizeof(bytes)) > 0)
		;
	for (int i = 0; i < PIECES; i++)
		vector[i] = (struct iovec){ bytes, PIECE_BYTES };
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	write_in_vain(fds[1], vector);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
	fprintf(stderr, "each took %.2f us\n", ns / 1e3 / CALLS);
	amount("write-bytes:requested", "main;write_in_vain", (unsigned long long)CALLS * PIECES * PIECE_BYTES);
	return 0;
}
