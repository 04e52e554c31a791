/* The frame layouts that a compiler makes for C: leaf, recursive, over 64 KB, growing (alloca, variable arrays),
 * many arguments, callbacks. */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#include "marks.h"

static NOINLINE int leaf(int a, int b)
{
	KEEP(a);
	return a * b;
}

static NOINLINE int early_return(int a)
{
	KEEP(a);
	if (a < 0)
		return -1;
	char text[40];
	char *at = text;
	memset(text, a, sizeof(text));
	KEEP(at);
	return at[3] + leaf(a, 2);
}

static NOINLINE int recursive(int depth)
{
	int below = depth > 0 ? recursive(depth - 1) : leaf(depth, 1);
	KEEP(below);
	return below + 1;
}

static NOINLINE int large(int a)
{
	char buffer[100000];
	char *at = buffer;
	KEEP(at);
	at[99999] = (char)a;
	return leaf(at[99999], a);
}

static NOINLINE int grows(int size)
{
	char *block = alloca((size_t)size);
	KEEP(block);
	block[size - 1] = 3;
	int items[size];
	int *at = items;
	KEEP(at);
	at[size / 2] = 7;
	return leaf(at[size / 2], block[size - 1]);
}

static NOINLINE long many(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	long sum = a + b + c + d + e + f + g + h + i;
	KEEP(sum);
	return leaf((int)sum, (int)i) + a;
}

static NOINLINE int all_registers(int *values)
{
	int a = values[0], b = values[1], c = values[2], d = values[3], e = values[4], f = values[5], g = values[6];
	for (int i = 0; i < 2; i++)
		a += leaf(b, c), b += leaf(c, d), c += leaf(d, e), d += leaf(e, f), e += leaf(f, g), f += leaf(g, a);
	return a ^ b ^ c ^ d ^ e ^ f ^ g;
}

static NOINLINE int tail(int a)
{
	KEEP(a);
	return early_return(a + 1);
}

static NOINLINE int through_pointer(int (*function)(int), int a)
{
	KEEP(function);
	return function(a) + 1;
}

int main(void)
{
	int values[] = { 1, 2, 3, 4, 5, 6, 7 };
	int sum = 0;
	BEGIN();
	sum += early_return(-1) + early_return(3) + recursive(12) + large(4) + grows(33) + grows(5000);
	sum += (int)many(1, 2, 3, 4, 5, 6, 7, 8, 9) + all_registers(values) + tail(5) + through_pointer(recursive, 2);
	END();
	KEEP(sum);
	return 0;
}
