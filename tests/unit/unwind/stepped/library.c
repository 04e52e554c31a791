/* Calls into shared libraries, bound on first use: PLT stubs, the dynamic
 * linker's resolver, string functions in assembler, the vDSO, callbacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "marks.h"

static int compare(const void *left, const void *right)
{
	int a = *(const int *)left;
	int b = *(const int *)right;
	return (a > b) - (a < b);
}

static NOINLINE int sorts(void)
{
	int values[] = { 5, 2, 9, 1, 7 };
	qsort(values, 5, sizeof(values[0]), compare);
	return values[0];
}

static NOINLINE long asks_time(void)
{
	struct timespec now;
	struct timeval day;
	clock_gettime(CLOCK_MONOTONIC, &now);
	gettimeofday(&day, NULL);
	return now.tv_nsec + day.tv_usec + time(NULL);
}

static NOINLINE int formats(void)
{
	char text[64];
	snprintf(text, sizeof(text), "%d %s", 42, "words");
	return (int)strlen(text) + (int)strtol(text, NULL, 10) + (strchr(text, 'w') != NULL);
}

static NOINLINE int allocates(void)
{
	char *block = malloc(1000);
	if (!block)
		return 0;
	memset(block, 1, 1000);
	memmove(block + 100, block, 500);
	int sum = block[500];
	free(block);
	return sum;
}

int main(void)
{
	BEGIN();
	long sum = sorts() + asks_time() + formats() + allocates() + getppid();
	END();
	KEEP(sum);
	return 0;
}
