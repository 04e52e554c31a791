/* Statements of every shape, whose lines gcov counts as well. Lines marked "differs" have another count than
 * gcov's, as docs/instrumented.md describes. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

/* Some lines must hold several statements. */
/* clang-format off */
static volatile int sink;
static int loops(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += i;
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < i; j++) {
			if (j % 2)
				continue;
			s += j;
			if (s > 1000)
				break;
		}
	}
	while (n > 0)
		n--;
	do {
		s++;
		n++;
	} while (n < 7);
	return s;
}
static int one_line(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) s += i;
	for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) s++;
	for (int i = 0; i < 3; i++) s++; for (int i = 0; i < 5; i++) s--;
	if (n > 3) s++; else s--;
	if (n > 3) { s++; s += 2; } if (n > 100) s--;
	s = n > 2 ? s + 1 : s - 1; s = n > 200 ? 3 : s;
	while (s > 0) { s -= 3; if (s % 2) continue; s--; }
	do s++; while (s < 10);
	return s;
}
static int logic(int a, int b)
{
	if (a && b)
		return 1;
	if (a || b)
		return 2;
	if ((a && b) ||
	    (!a && b) ||
	    (!b && a < 0))
		return 3;
	int c = a ? b :
		  b ? 4 :
		      5;
	return c && !a;
}
static int choose(int x)
{
	int r = 0;
	switch (x) {
	case 1:
		r = 3;
		break;
	case 2: r = 4; break;
	case 3:
	case 4:
		r++;
		/* fall through */
	case 5:
		r += 2;
		break;
	case 100 ... 200:
		r = 9;
		break;
	default:
		r = -1;
	}
	switch (x % 9) {
	case 0: return 1;
	case 1: return 2;
	case 2: return 3;
	case 3: return 4;
	case 4: return 6;
	case 5: return 7;
	case 6: r++;
	}
	return r;
}
static int jumps(int n)
{
	int s = 0;
again:
	s += n;
	if (--n > 0)
		goto again;
	if (s > 1000000)
		goto out;
	s++;
out:
	return s;
}
static jmp_buf place;
static void deep(int n)
{
	if (n == 0)
		longjmp(place, 3);
	deep(n - 1);
	sink++; /* differs: no call returned */
} /* differs */
static int jumping(void)
{
	int r = setjmp(place);
	if (r == 0)
		deep(3);
	else
		sink++;
	return r;
}
static int never(int x)
{
	if (x)
		return 3;
	return x * 2;
}
static int brief(int n) { return n + 1; }
static void many(int a,
		 int b,
		 int c)
{
	sink = a +
	       b * 2 +
	       c;
	printf("%d %d\n",
	       a > 3 ? b : c,
	       loops(a));
}
static int early(int n) /* differs: gcov counts the loop's rounds for it */
{
	while (1) {
		if (n > 10)
			return n;
		n++;
	}
}
static void leaves(int n)
{
	if (n)
		exit(0);
	sink++;
}
int main(void)
{
	for (int i = 0; i < 5; i++)
		sink += loops(i) + one_line(i * 2) + logic(i % 2, i % 3) + choose(i) + choose(i * 40);
	sink += jumps(10);
	sink += jumping();
	many(1, 2, 3);
	many(4, 5, 6);
	sink += early(3) + brief(2);
	if (sink == 12345)
		never(sink);
	leaves(0);
	leaves(1);
	sink++;	  /* differs with clang: the call did not return */
	return 0; /* differs with clang */
}
