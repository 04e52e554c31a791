/* Computes in the C library, in functions that are called from lines of its own: read, through the wrapper that
 * _FORTIFY_SOURCE makes the compiler inline, and strlen. Prints a sum. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double used(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static char text[65536];

__attribute__((noinline)) static size_t take(int fd)
{
	size_t sum = 0;
	for (int i = 0; i < 100; i++)
		sum += (size_t)read(fd, text, sizeof(text)); /* hot */
	return sum;
}

__attribute__((noinline)) static size_t measure(void)
{
	size_t sum = 0;
	memset(text, 'a', sizeof(text) - 1);
	for (int i = 0; i < 1000; i++) {
		text[i] = 'b';
		sum += strlen(text); /* hot */
	}
	return sum;
}

int main(void)
{
	size_t sum = 0;
	int fd = open("/dev/zero", O_RDONLY);
	if (fd < 0)
		return 1;
	while (used() < 0.15)
		sum += take(fd);
	while (used() < 0.3)
		sum += measure();
	printf("%zu\n", sum);
	return 0;
}
