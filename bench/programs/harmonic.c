/* A dense numeric loop: almost every division and addition is inexact. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	long terms = argc > 1 ? atol(argv[1]) : 300000000;
	double sum = 0;
	for (long i = 1; i <= terms; i++)
		sum += 1.0 / (double)i;
	printf("%a\n", sum);
	return 0;
}
