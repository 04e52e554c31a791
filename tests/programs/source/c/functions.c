/* All forms of functions in C, from the oldest to the extensions of GNU. */
// prints: 7 7 3 12
// prints: 6 10 5
// prints: 3 55 20
// prints: caught 2
// prints: 21 9 4
// counts: main 1
// counts: old_form 1
// counts: named_by_macro 1
// counts: digraphs 1
// counts: many 2
// counts: variable 1
// counts: machine 1
// counts: square 3
// counts: fibonacci 177
// counts: jump 1
// counts: catcher 1
// counts: chosen 1
// counts: expression 1
// counts: begin 1
// counts: self 5
// counts: first_label 1
// counts: first_pragma 1
// counts: external 1
// counts: weak 1
// skipped: from_macro macro
// skipped: listed_one macro
// skipped: listed_two macro
// skipped: included another file
// skipped: bare naked
// skipped: quiet no_instrument_function
// skipped: choose ifunc
// warned: self calls itself last
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#define BODY { return 3; }
#define NAMED(name) static int named_##name(int x)

static int begun;
static jmp_buf environment;

static int old_form(a, b) int a; const char *b; { return a + (b != 0); }

NAMED(by_macro)
{
	return x;
}

static int from_macro(void) BODY

#define LISTED(name) static int listed_##name(void) { return 1; }
#define ALL LISTED(one) LISTED(two)
ALL

static int included(int x)
#include "functions_body.h"

static int digraphs(int n)
<% // a comment
	int values<:3:> = <% 3, 4, 5 %>;
	return values<:n:> + values<:0:> + values<:1:>;
%>

static int many(int count, ...)
{
	va_list values;
	int sum = 0;
	va_start(values, count);
	while (count--)
		sum += va_arg(values, int);
	va_end(values);
	return sum;
}

static int variable(int n)
{
	int values[n + 1];
	values[n] = n;
	return values[n];
}

static int machine(const char *code)
{
	static void *targets[] = { &&stop, &&more };
	int value = 0;
	goto *targets[*code++ - '0'];
more:
	value++;
	goto *targets[*code++ - '0'];
stop:
	return value;
}

__attribute__((const)) static int square(int x) { return x * x; }

static int fibonacci(int n)
{
	if (n < 2)
		return n;
	return fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noreturn, noinline)) static void jump(int value) { longjmp(environment, value); }

static int catcher(void)
{
	int caught = setjmp(environment);
	if (!caught)
		jump(2);
	return caught;
}

__attribute__((naked, unused)) static void bare(void) { __asm__("ret"); }

__attribute__((no_instrument_function)) static int quiet(int x) { return x; }

static int chosen(int x) { return x + 1; }

__attribute__((unused)) static int (*choose(void))(int) { return chosen; }

int indirect(int) __attribute__((ifunc("choose")));

static int expression(int x)
{
	return ({ int twice = x * 2; twice + 1; });
}

__attribute__((constructor)) static void begin(void) { begun = 1; }

static int self(int n, int sum)
{
	if (!n)
		return sum;
	return self(n - 1, sum + n);
}

inline int external(int x);
inline int external(int x)
{
	int y = x;
	return y;
}
extern inline int external(int x);

__attribute__((weak)) int weak(void) { return 4; }

/* Macros as sources and their headers define them: they must not change the meaning of the code that the tool inserts. */
#define unused __attribute__((__unused__))
#define cleanup(what) what
#define noinline __attribute__((__noinline__))

static noinline int first_label(int x)
{
	__label__ out;
	if (x)
		goto out;
	x = 5;
out:
	return x;
}

static double first_pragma(double x)
{
#pragma STDC FP_CONTRACT OFF
	return x * x;
}

int main(void)
{
	int squares = square(1) + square(2) + square(4);
	printf("%d %d %d %d\n", old_form(6, ""), named_by_macro(7), from_macro(), digraphs(2));
	printf("%d %d %d\n", many(3, 1, 2, 3), many(1, 10), variable(5));
	printf("%d %d %d\n", machine("1110"), fibonacci(10), squares - begun);
	printf("caught %d\n", catcher());
	printf("%d %d %d\n", expression(10), indirect(quiet(8)), weak() + listed_one() - listed_two() + included(-1));
	return self(4, 0) - 10 + external(0) + first_label(2) - (first_pragma(2) < 4 ? 1 : 2);
}
