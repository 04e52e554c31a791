/* Recursion 20,000 calls deep: by one function, by two functions in turn, and in a thread; it returns and descends
 * again. */
#include <pthread.h>

#include "hooks.h"

enum { DEPTH = 20000 };

static NOINLINE int down(int depth)
{
	int below = depth == 0 ? 0 : down(depth - 1);
	return UNKNOWN(below) + 1;
}

static int there(int depth);

static NOINLINE int back(int depth)
{
	int below = there(depth - 1);
	return UNKNOWN(below) + 1;
}

static NOINLINE int there(int depth)
{
	int below = depth <= 0 ? 0 : back(depth - 1);
	return UNKNOWN(below) + 1;
}

static NOINLINE void *in_thread(void *argument)
{
	CHECK(down(DEPTH) == DEPTH + 1);
	return argument;
}

int main(void)
{
	pthread_t thread;
	for (int i = 0; i < 3; i++)
		CHECK(down(DEPTH) == DEPTH + 1);
	CHECK(there(DEPTH) == DEPTH + 1);
	CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0);
	pthread_join(thread, NULL);
	return 0;
}
