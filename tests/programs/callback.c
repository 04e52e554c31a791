/* A callback from the C library: the comparator of qsort uses the CPU time. */
#include <stdint.h>

#include "burn.h"

/* Events have no time between them: perf's rings must hold all of them. */
#ifdef EVENTS
enum { VALUES = 32 };
#else
enum { VALUES = 100 };
#endif

static int compared;

NOINLINE static int compare(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	burn(5);
	compared++;
	return (x > y) - (x < y);
}

NOINLINE static void sort_them(void)
{
	static int32_t values[VALUES];
	uint32_t random = 1;

	for (int i = 0; i < VALUES; i++) {
		random = random * 1103515245 + 12345;
		values[i] = (int32_t)(random >> 8);
	}
	qsort(values, VALUES, sizeof(values[0]), compare);
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	for (int i = 0, rounds = rounds_wanted(argc, argv, 12); i < rounds; i++)
		sort_them();
	printf("compared %d\n", compared);
	share("main;sort_them;compare;burn", 1);
	return 0;
}
