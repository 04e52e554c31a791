/* GNU C's nested functions, which clang does not support: the tool edits the outer function. */
// compilers: gcc
// prints: 9
// counts: main 1
// counts: outer 1
#include <stdio.h>

static int outer(int n)
{
	int inner(int x)
	{
		return x + n;
	}
	return inner(1) + inner(2);
}

int main(void)
{
	printf("%d\n", outer(3));
	return 0;
}
