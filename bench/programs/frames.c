/*
 * Usage: `frames [FRAMES [SECONDS [TURNS [ALLOCATIONS [READS]]]]]`. Burns CPU on a stack of exactly
 * FRAMES frames (default 25), including the frames above main and one call through the C
 * library's qsort. Ends after SECONDS (default 2); with TURNS after so many turns of a loop,
 * however long they take; with ALLOCATIONS it makes so many pairs of malloc and free instead;
 * with READS, each turn of the loop makes so many reads of /dev/zero instead of computing.
 * Prints the number of frames, and the CPU time that it used there.
 */
#include <execinfo.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "own_time.h"

enum { FRAMES_MAX = 1024 };

static volatile unsigned long sink;
static double seconds;
static long turns;       /* 0: until SECONDS have passed */
static long allocations; /* 0: none, the loop computes */
static long reads;       /* 0: none */
static int frames_there; /* on the stack of the innermost function */
static int depth_of_sort;

static void take_turn(int zeros)
{
	char bytes[4096];
	for (long i = 0; i < reads; i++)
		if (read(zeros, bytes, sizeof(bytes)) < 0)
			abort();
	for (unsigned long i = 0; reads == 0 && i < 2000000; i++)
		sink += i;
}

__attribute__((noinline)) static void work(void)
{
	static void *frames[FRAMES_MAX];
	double end = seconds_now() + seconds, start = cpu_seconds_now();

	int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	frames_there = backtrace(frames, FRAMES_MAX);
	for (long i = 0; seconds > 0 && i < allocations; i++) {
		void *volatile block = malloc(64);
		free(block);
	}
	for (long turn = 0; seconds > 0 && allocations == 0 && (turns ? turn < turns : seconds_now() < end); turn++)
		take_turn(zeros);
	if (seconds > 0)
		print_own_cpu(start);
}

static void go_on(int depth);

/* Frames of several sizes. The code after the call prevents a tail call. */
#define FRAME(name, size)                                     \
	__attribute__((noinline)) static void name(int depth) \
	{                                                     \
		volatile char bytes[size];                    \
		bytes[0] = (char)depth;                       \
		go_on(depth);                                 \
		bytes[(size)-1] = bytes[0];                   \
	}
FRAME(small, 8)
FRAME(medium, 72)
FRAME(large, 200)

/* volatile: the compiler cannot predict which function is called, so it inlines none. */
static void (*const volatile ways[])(int) = { small, medium, large };

__attribute__((always_inline)) static inline void go_on(int depth)
{
	if (depth > 0)
		ways[depth % 3](depth - 1);
	else
		work();
}

static int compare(const void *left, const void *right)
{
	int depth = depth_of_sort;

	depth_of_sort = -1;
	if (depth >= 0)
		go_on(depth);
	return *(const int *)left - *(const int *)right;
}

__attribute__((noinline)) static void through_library(int depth)
{
	int numbers[2] = { 2, 1 };

	depth_of_sort = depth;
	qsort(numbers, 2, sizeof(*numbers), compare);
}

int main(int argc, char **argv)
{
	int wanted = argc > 1 ? atoi(argv[1]) : 25;

	through_library(0);
	if (wanted < frames_there) {
		fprintf(stderr, "frames: at least %d\n", frames_there);
		return 1;
	}
	seconds = argc > 2 ? atof(argv[2]) : 2;
	turns = argc > 3 ? atol(argv[3]) : 0;
	allocations = argc > 4 ? atol(argv[4]) : 0;
	reads = argc > 5 ? atol(argv[5]) : 0;
	through_library(wanted - frames_there);
	printf("%d\n", frames_there);
	return 0;
}
