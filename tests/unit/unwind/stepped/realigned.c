/* Frames whose stack pointer is realigned, with and without alloca. gcc's CFI then loads the CFA from a slot below
 * rbp. */
#include <alloca.h>
#include <stdalign.h>
#include <string.h>

#include "marks.h"

static NOINLINE int inner(const char *text)
{
	KEEP(text);
	return text[0];
}

static NOINLINE int aligned(int a)
{
	alignas(64) char buffer[256];
	char *at = buffer;
	KEEP(at);
	at[0] = (char)a;
	return inner(at) + 1;
}

static NOINLINE int aligned_growing(int size)
{
	alignas(128) char buffer[128];
	char *block = alloca((size_t)size);
	char *at = buffer;
	KEEP(at);
	KEEP(block);
	at[0] = 1;
	block[0] = 2;
	return inner(at) + inner(block) + aligned(size);
}

static NOINLINE int aligned_many(long a, long b, long c, long d, long e, long f, long g, long h, int size)
{
	alignas(256) char buffer[512];
	char block[size];
	char *at = buffer;
	char *other = block;
	KEEP(at);
	KEEP(other);
	at[0] = (char)(a + b + c + d + e + f + g + h);
	other[0] = 3;
	return inner(at) + inner(other) + aligned_growing(size);
}

int main(void)
{
	BEGIN();
	int sum = aligned(1) + aligned_growing(100) + aligned_many(1, 2, 3, 4, 5, 6, 7, 8, 77);
	END();
	KEEP(sum);
	return 0;
}
