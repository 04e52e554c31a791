/*
 * GNU C's nested functions, called in three ways:
 *
 *   by a pointer from a library: qsort calls compare, which is nested in sort_rows
 *   by a pointer from another function: each calls add, which is nested in sum_rows
 *   by name: add calls scale, its neighbour, and rest, which is nested in scale
 */
#include <stdlib.h>

#include "burn.h"

enum { ROWS = 50 };

typedef void (*visit_function)(int value);

NOINLINE static void each(const int *rows, int count, visit_function visit)
{
	for (int i = 0; i < count; i++)
		visit(rows[i]);
}

NOINLINE static void sort_rows(int *rows, int count, int direction)
{
	int compare(const void *a, const void *b)
	{
		return direction * (*(const int *)a - *(const int *)b);
	}
	qsort(rows, (size_t)count, sizeof(*rows), compare);
}

NOINLINE static long sum_rows(const int *rows, int count)
{
	long sum = 0;
	__attribute__((noinline)) long scale(long value)
	{
		__attribute__((noinline)) long rest(long by)
		{
			return (value + sum) % by;
		}
		return 3 * value + rest(7);
	}
	__attribute__((noinline)) void add(int value)
	{
		sum += scale(value);
	}
	each(rows, count, add);
	return sum;
}

int main(void)
{
	int rows[ROWS];
	for (int i = 0; i < ROWS; i++)
		rows[i] = i * 37 % ROWS;
	sort_rows(rows, ROWS, 1);
	sort_rows(rows, ROWS, -1);
	printf("sum %ld\n", sum_rows(rows, ROWS));
	return 0;
}
