/* Each line with a comment states how often it is executed: once each time control comes to it from another line, and
 * once more each time it jumps back within the line. gcc and clang put these lines into blocks in different ways; where
 * clang's code has a different count, the comment states both. */
#include <stdlib.h>

static volatile int x;
static int heap[64], weight[64];

static int id(int n)
{
	return n;
}

/* The jump back to the start has the line of the first statement, or the line of the loop. */
static int once(int n)
{
	int r = n; /* 1 */
	while (1) {
		r = r + 1;     /* 1 */
		x = r;         /* 1 */
		if (r > 3)     /* 1 */
			break; /* 1 */
	}
	return r; /* 1 */
}

static int often(int a, int b)
{
	int s = 0; /* 2 */
	for (;;) {
		s += a;           /* 7 */
		if (s > b)        /* 7 */
			return s; /* 2 */
	}
}

/* A call splits a condition: control leaves a line and comes back to it, which compilers see differently. */
static int conditions(int a, int b, int c)
{
	if (a != 0 && id(b) != 4 && c != 7)
		return 1; /* 3 */
	return a + 1;     /* 3 */
}

static int first_fails(int a)
{
	if (a < 0 || (id(a) == 100 && /* 3 */
		      a != 7))
		return 1; /* 0 */
	return 0;         /* 3 */
}

/* A comparison has the line of an operator before it, so that blocks begin with one line and end with another. */
static int operands(const volatile int *a, int b)
{
	if (a[0] != b     /* 5, clang: 8, as the last line's jump has this line */
	    || a[1] != b  /* 4, clang: 5 */
	    || a[2] != b) /* 3, clang: 4 */
		return 0; /* 3 */
	return 1;         /* 2 */
}

/* clang-format off */
static int one_of(const volatile int *a, int b)
{
	if (a[0] == b ||         /* 5 */
	    a[1] == b) return 1; /* 5: four comparisons, and one return straight from the first line */
	return 0;                /* 3 */
}
/* clang-format on */

static int pair(int a, int b)
{
	return a + b;
}

/* The call has the first line. A block counts once for a line, even if its code goes to another line and back. */
static int two_lines(int a, int b)
{
	return pair(x + a, /* 2; differs with clang: llvm-cov adds the block twice, once for each part on this line */
		    x + b);
}

static int loop_on_two_lines(int n)
{
	while (pair(n,            /* 7 */
		    x - x) > 0) { /* 7; differs with clang, as above */
		n -= 2;           /* 6 */
		if (n < 0)
			break; /* 1 */
	}
	return n; /* 2 */
}

#define UPHEAP(z)                                             \
	{                                                     \
		int zz = z, tmp = heap[zz];                   \
		while (weight[tmp] < weight[heap[zz >> 1]]) { \
			heap[zz] = heap[zz >> 1];             \
			zz >>= 1;                             \
		}                                             \
		heap[zz] = tmp;                               \
	}

/* A loop in one line, which has one entry in the line table. */
static void insert(int count)
{
	weight[0] = -1;                   /* 1 */
	for (int i = 1; i < count; i++) { /* 60 */
		heap[i] = i;              /* 59 */
		weight[i] = 60 - i;       /* 59 */
		UPHEAP(i)                 /* 297 */
	}
}

static int *allocated(void)
{
	int *values;
	values = malloc(sizeof(*values)); /* 1 */
	return values;                    /* 1 */
}

int main(void)
{
	once(5);                                          /* 1 */
	often(1, 4);                                      /* 1 */
	often(2, 2);                                      /* 1 */
	for (int i = 0; i < 6; i++)                       /* 7 */
		conditions(i, 5 - i + 1, i == 5 ? 7 : i); /* 6 */
	for (int i = 0; i < 3; i++)                       /* 4 */
		first_fails(i);                           /* 3 */
	for (int i = 0; i < 5; i++) {                     /* 6 */
		static volatile int rows[5][3] = { { 1, 1, 1 }, { 1, 0, 1 }, { 1, 1, 0 }, { 0, 1, 1 }, { 1, 1, 1 } };
		operands(rows[i], 1); /* 5 */
		one_of(rows[i], 0);   /* 5 */
	}
	two_lines(1, 2);      /* 1 */
	two_lines(3, 4);      /* 1 */
	loop_on_two_lines(6); /* 1 */
	loop_on_two_lines(5); /* 1 */
	insert(60);           /* 1 */
	free(allocated());    /* 1 */
	return 0;             /* 1 */
}
