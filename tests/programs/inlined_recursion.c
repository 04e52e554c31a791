/*
 * Recursive functions, which compilers inline into themselves for some levels. The program counts its own paths, and
 * prints how often each was taken.
 */
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define HIDDEN __attribute__((no_instrument_function, noinline))

enum { DEPTH = 32, PATHS = 200, NAME_BYTES = 8 };

static volatile long sink;
static char path[DEPTH * NAME_BYTES] = "main";
static struct {
	char path[sizeof(path)];
	long calls;
} counted[PATHS];

HIDDEN static void enter(const char *name)
{
	size_t length = strlen(path);
	snprintf(path + length, sizeof(path) - length, ";%s", name);
	for (int i = 0; i < PATHS; i++) {
		if (counted[i].calls == 0)
			strcpy(counted[i].path, path);
		if (strcmp(counted[i].path, path) == 0) {
			counted[i].calls++;
			return;
		}
	}
}

HIDDEN static void leave(void)
{
	*strrchr(path, ';') = 0;
}

static NOINLINE void leaf(int n)
{
	enter("leaf");
	sink += n;
	leave();
}

static inline int fib(int n)
{
	enter("fib");
	int result = n;
	if (n >= 2)
		result = fib(n - 1) + fib(n - 2);
	else
		leaf(n);
	leave();
	return result;
}

static inline int down(int n)
{
	enter("down");
	leaf(n);
	int result = n > 0 ? down(n - 1) + 1 : 0;
	leaf(n);
	leave();
	return result;
}

static inline int odd(int n);

static inline int even(int n)
{
	enter("even");
	int result = n == 0 ? 1 : odd(n - 1);
	leaf(n);
	leave();
	return result;
}

static inline int odd(int n)
{
	enter("odd");
	int result = n == 0 ? 0 : even(n - 1);
	leave();
	return result;
}

static inline int tree(int n, int children)
{
	enter("tree");
	int result = children;
	for (int i = 0; i < children && n > 0; i++)
		result += tree(n - 1, children);
	leaf(n);
	leave();
	return result;
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		sink += fib(6) + down(5) + even(6) + tree(3, 2);
	for (int i = 0; i < PATHS && counted[i].calls; i++)
		printf("path %s %ld\n", counted[i].path, counted[i].calls);
	return 0;
}
