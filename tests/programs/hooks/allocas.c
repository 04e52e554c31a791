/* Frames whose size is known only at run time: alloca and variable-length arrays, some with an alignment of their
 * own. */
#include <alloca.h>
#include <string.h>

#include "hooks.h"

static NOINLINE long fill(char *bytes, size_t length)
{
	memset(bytes, 1, length);
	return bytes[0] + bytes[length - 1];
}

static NOINLINE long with_alloca(size_t length)
{
	long sum = 0;
	for (int i = 0; i < 3; i++)
		sum += fill(alloca(length), length);
	return sum;
}

static NOINLINE long with_array(size_t length)
{
	char bytes[length];
	return fill(bytes, length) + (length > 64 ? with_array(length / 2) : 0);
}

static NOINLINE long with_alignment(size_t length)
{
	_Alignas(128) char aligned[256];
	char *bytes = alloca(length);
	return fill(aligned, sizeof(aligned)) + fill(bytes, length) + (long)((size_t)aligned % 128);
}

int main(void)
{
	for (size_t length = 1; length < 4000; length = length * 2 + 1) {
		CHECK(with_alloca(UNKNOWN(length)) == 6);
		CHECK(with_array(UNKNOWN(length)) >= 2);
		CHECK(with_alignment(UNKNOWN(length)) == 4);
	}
	return 0;
}
