/* All the ways out of a function of C that a compiler without cleanup must be told of. */
// prints: 1 -1 6 -8 1 3
// prints: text;} 2.5 9 4 12
// prints: 2 1 0 caught 5
// prints: 40 7 5 3
// prints: over
// counts: main 1
// counts: several 3
// counts: structure 1
// counts: add 2
// counts: subtract 2
// counts: pick 2
// counts: text 1
// counts: constant 1
// counts: silent 3
// counts: passed_on 1
// counts: in_argument 1
// counts: by_switch 3
// counts: deep 4
// counts: catcher 1
// counts: after 2
// counts: by_goto 1
// counts: branch 1
// counts: compare 3
// counts: sorted 1
// counts: old 1
// counts: last 1
// skipped: by_macro a macro returns from it
// skipped: fixed contains const
// skipped: hides hides the type
// skipped: nameless has no name
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

typedef int number;
struct pair {
	int first, second;
};
struct fixed {
	const int value;
};

static int several(int n)
{
	if (n < 0) return -1;
	else if (n == 0)
		return (
			/* return; */ 1 // return 2;
		);
	for (int i = 0;; i++)
		if (i == n)
			return i * 2;
}

static struct pair structure(int n)
{
	return (struct pair){ n, n + 1 };
}

static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }

static int (*pick(int which))(int, int)
{
	return which ? add : subtract;
}

static const char *const text(void)
{
	return "text" ";}";
}

static const double constant(void) {return 2.5;}

static int silences;
static void silent(int n)
{
	if (n == 0)
		return;
	silences += n;
}

static void passed_on(void)
{
	return (void)silent(2);
}

#define IDENTITY(...) __VA_ARGS__
static int in_argument(int n)
{
	IDENTITY(if (n > 3) return n++, n;)
	return 0;
}

static int by_switch(int n)
{
	switch (n) {
	case 0: return 10;
	case 1: { return 2; }
	default: return 0;
	}
}

#define GIVE return 3
static int by_macro(void)
{
	GIVE;
}

static struct fixed fixed(void)
{
	struct fixed made = { 4 };
	return made;
}

static number hides(int number)
{
	return number;
}

static struct { int value; } nameless(void)
{
	__typeof__(nameless()) made = { 12 };
	return made;
}

static jmp_buf back;
static int deep(int n)
{
	if (n == 0)
		longjmp(back, 1);
	return deep(n - 1) + 1;
}

static int after(int n) { return n; }

static int catcher(void)
{
	if (setjmp(back))
		return after(5);
	return deep(3);
}

static int by_goto(int n)
{
	{
		int left = n;
	again:
		if (--left > 7)
			goto again;
		if (left == 7)
			goto out;
	}
	return 0;
out:
	return 7;
}

static int branch(void)
{
#ifdef __TINYC__
	return 5;
#else
	return 5;
#endif
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int sorted(void)
{
	int some[] = { 5, 4, 3 };
	qsort(some, 3, sizeof(*some), compare);
	return some[0];
}

static int old(a, b)
	int a;
	int b;
{
	return a * b;
}

static void last(void)
{
	puts("over");
	exit(0);
}

int main(void)
{
	printf("%d %d %d ", several(0), several(-1), several(3));
	printf("%d %d %d\n", pick(0)(-4, 4), subtract(5, 4), pick(1)(1, 2));
	printf("%s %g ", text(), constant());
	silent(0);
	silent(3);
	passed_on();
	printf("%d %d %d\n", in_argument(8), fixed().value, nameless().value);
	printf("%d %d %d caught %d\n", by_switch(1), hides(1), by_switch(7), catcher());
	after(1);
	printf("%d %d %d ", by_switch(0) * 4, by_goto(9), branch());
	printf("%d\n", by_macro());
	int extra = add(1, structure(1).first) + sorted() + old(1, 1);
	if (extra)
		last();
}
