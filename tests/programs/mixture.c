/*
 * Uses one equal share of CPU time below each kind of frame that a compiler makes: an ordinary chain of calls,
 * alloca, an array of variable length, a realigned frame, a realigned frame of variable length, frames of 20 KB
 * and of 100 KB, a frame with every callee-saved register in use, and a comparator that the C library calls.
 * Compiled with every compiler at every -O level.
 */
#include <alloca.h>
#include <stdint.h>
#include <string.h>

#include "burn.h"

enum { SHARE_US = 400 };

static volatile unsigned variable = 200; /* its value is unknown to the compiler */

NOINLINE static void leaf(void)
{
	burn(SHARE_US);
	NOT_A_TAIL_CALL();
}

NOINLINE static void touch(volatile void *bytes, unsigned size)
{
	((volatile char *)bytes)[0] = 1;
	((volatile char *)bytes)[size - 1] = 1;
}

NOINLINE static void chain_inner(void)
{
	leaf();
	NOT_A_TAIL_CALL();
}

NOINLINE static void chain(void)
{
	chain_inner();
	NOT_A_TAIL_CALL();
}

NOINLINE static void with_alloca(void)
{
	char *bytes = alloca(variable);

	touch(bytes, variable);
	leaf();
	touch(bytes, variable);
}

NOINLINE static void with_vla(void)
{
	char bytes[variable];

	touch(bytes, sizeof(bytes));
	leaf();
	touch(bytes, sizeof(bytes));
}

NOINLINE static void realigned(void)
{
	_Alignas(64) char bytes[64];

	touch(bytes, sizeof(bytes));
	leaf();
	touch(bytes, sizeof(bytes));
}

NOINLINE static void realigned_variable(int a, int b, int c, int d, int e, int f, int on_stack)
{
	_Alignas(128) char aligned[128];
	char *bytes = alloca(variable);

	touch(aligned, sizeof(aligned));
	touch(bytes, variable);
	leaf();
	burn_sink += (unsigned long)(a + b + c + d + e + f + on_stack);
	touch(aligned, sizeof(aligned));
	touch(bytes, variable);
}

NOINLINE static void frame_20k(void)
{
	char bytes[20 * 1024];

	touch(bytes, sizeof(bytes));
	leaf();
	touch(bytes, sizeof(bytes));
}

NOINLINE static void frame_100k(void)
{
	char bytes[100 * 1024];

	touch(bytes, sizeof(bytes));
	leaf();
	touch(bytes, sizeof(bytes));
}

NOINLINE static unsigned many_registers(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f)
{
	unsigned p = variable * a, q = variable * b, r = variable * c, s = variable * d, t = variable * e,
		 u = variable * f;

	leaf();
	return p ^ (q << 1) ^ (r << 2) ^ (s << 3) ^ (t << 4) ^ (u << 5);
}

NOINLINE static int compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	leaf();
	return 0;
}

NOINLINE static void by_callback(void)
{
	static int pair[2];

	qsort(pair, 2, sizeof(pair[0]), compare);
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "chain",      "with_alloca",        "with_vla",
					     "realigned",  "realigned_variable", "frame_20k",
					     "frame_100k", "many_registers",     "by_callback" };
	enum { KINDS = sizeof(names) / sizeof(names[0]) };

	for (int i = 0, rounds = rounds_wanted(argc, argv, 90); i < rounds; i++) {
		chain();
		with_alloca();
		with_vla();
		realigned();
		realigned_variable(1, 2, 3, 4, 5, 6, 7);
		frame_20k();
		frame_100k();
		burn_sink += many_registers(1, 2, 3, 4, 5, 6);
		by_callback();
	}
	for (int i = 0; i < KINDS; i++) {
		char path[64];

		snprintf(path, sizeof(path), "main;%s;leaf;burn", names[i]);
		share(path, 1.0 / KINDS);
	}
	if (variable) /* always: no other function ever gets the place of main's frame */
		exit(0);
	return 0;
}
