/* Two cycles, recursion, a comparator that the C library calls, static functions of the same name in two files,
 * and functions without callers. Compiled with -pg it runs for a few milliseconds. */
#include <stdio.h>
#include <stdlib.h>

#include "shared.h"

static volatile long sink;
static const char *at;

static long expression(void);

static long number(void)
{
	long value = 0;
	while (*at >= '0' && *at <= '9')
		value = value * 10 + (*at++ - '0');
	return value;
}

static long factor(void)
{
	if (*at != '(')
		return number();
	at++;
	long value = expression();
	at++;
	return value;
}

static long term(void)
{
	long value = factor();
	while (*at == '*') {
		at++;
		value *= factor();
	}
	return value;
}

static long expression(void)
{
	long value = term();
	while (*at == '+') {
		at++;
		value += term();
	}
	return value;
}

int odd(int n);

int even(int n)
{
	return n == 0 ? 1 : odd(n - 1);
}

int odd(int n)
{
	return n == 0 ? 0 : even(n - 1);
}

long factorial(int n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

static int compare(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static void sort(void)
{
	int values[200];
	for (int i = 0; i < 200; i++)
		values[i] = (i * 7919) % 200;
	qsort(values, 200, sizeof(values[0]), compare);
	sink += values[100];
}

void unused_caller(void)
{
	sort();
}

long busy(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink += mixed(i);
	return sink;
}

int main(void)
{
	for (int i = 0; i < 100; i++) {
		at = "(1+2*(3+4))*5+((6))";
		sink += expression();
		sink += odd(i % 17) + even(i % 5) + factorial(i % 11);
		busy(2000);
		other(i);
	}
	sort();
	return sink == 0;
}
