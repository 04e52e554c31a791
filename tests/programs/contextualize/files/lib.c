#include "lib.h"
int add(int a, int b)
{
	return a + b;
}
int fold(const int *items, int count, op *f)
{
	int total = 0;
	for (int i = 0; i < count; i++)
		total = f(total, items[i]);
	return total;
}
