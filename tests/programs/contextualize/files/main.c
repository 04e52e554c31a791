#include "lib.h"
#include <stdio.h>
static int mul(int a, int b)
{
	return a * b + 1;
}
int main(void)
{
	int items[] = { 1, 2, 3 };
	printf("%d %d\n", fold(items, 3, add), fold(items, 3, mul) + twice(items, add));
	return 0;
}
