/* Calls by the C library: comparators of qsort and bsearch, visitors of trees, initializers, exit handlers. */
#include <pthread.h>
#include <search.h>
#include <string.h>

#include "hooks.h"

enum { NUMBERS = 500 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static long compared, visited, begun;

static NOINLINE int order(int a, int b)
{
	return (a > b) - (a < b);
}

static NOINLINE int compare(const void *a, const void *b)
{
	compared++;
	return order(*(const int *)a, *(const int *)b);
}

static NOINLINE void visit(const void *node, VISIT which, int depth)
{
	(void)node, (void)which, (void)depth;
	visited++;
}

static NOINLINE void begin(void)
{
	begun++;
}

static NOINLINE void at_end(void)
{
	CHECK(begun == 1);
}

static NOINLINE void at_end_with(int status, void *argument)
{
	CHECK(status == 0 && argument == &begun);
}

static NOINLINE void sort(int *numbers)
{
	qsort(numbers, NUMBERS, sizeof(*numbers), compare);
}

int main(void)
{
	static int numbers[NUMBERS];
	void *tree = NULL;
	unsigned state = 1;
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (int)((state = state * 1664525 + 1013904223) >> 8);
	sort(numbers);
	sort(numbers);
	for (int i = 0; i < NUMBERS; i++)
		CHECK(bsearch(&numbers[i], numbers, NUMBERS, sizeof(*numbers), compare) == &numbers[i]);
	for (int i = 0; i < NUMBERS; i++)
		tsearch(&numbers[i], &tree, compare);
	twalk(tree, visit);
	for (int i = 0; i < 3; i++)
		pthread_once(&once, begin);
	atexit(at_end);
	on_exit(at_end_with, &begun);
	CHECK(compared > 5000 && visited > NUMBERS);
	return 0;
}
