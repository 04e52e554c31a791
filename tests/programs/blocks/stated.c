/* Each line with a comment states how often it is executed: once each time control comes to it from another line, and
 * once more each time it jumps back within the line. gcc and clang put these lines into blocks in different ways. */
#include <stdlib.h>

static volatile int x;
static int heap[64], weight[64];

static int id(int n)
{
	return n;
}

/* The jump back to the start has the line of the first statement, or that of the loop. */
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
	insert(60);                                       /* 1 */
	free(allocated());                                /* 1 */
	return 0;                                         /* 1 */
}
