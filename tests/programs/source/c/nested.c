/* GNU C's functions within functions, which clang does not know: the outer one is edited. */
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
