/* Annotations of functions in the source, by macros and in comments. */
// prints: enter 3 a, b)
// prints: leave 0
// prints: enter 8 (
// prints: enter 4 a, b)
// prints: leave 1
// prints: leave 0
// prints: 9
// counts: main 1
// counts: put 2
// counts: get 1
// counts: count_enter 3
// counts: count_leave 3
#include <cpprof/profiler.h>
#include <stdio.h>

static int depth;

static void *count_enter(int n, const char *text)
{
	printf("enter %d %s\n", n, text);
	depth++;
	return &depth;
}

static void count_leave(void *kept)
{
	int *left = kept;
	printf("leave %d\n", --*left);
}

CPPROF_GROUP("io") CPPROF_HOOK(count, amount, "a, b)")
static int put(int amount)
{
	return amount + 1;
}

/*
 * Its documentation.
 *
 * cpprof: group(net)
 *         hook(count, n * 2, "(")
 */
static int get(int n)
{
	if (n > 8)
		return 7;
	return put(n);
}

// cpprof: off
static int quiet(void) { return 0; }

CPPROF_LEVEL(2) static int fine(void) { return 0; }

int main(void)
{
	int sum = put(3);
	sum += get(4);
	printf("%d\n", sum + quiet() + fine());
	return 0;
}
