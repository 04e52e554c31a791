/* Loops, statements with calls, and basic blocks: the comment behind each states how often it is executed. */
// prints: 6 5 6 6 6 7 15
// prints: 6 22
#include <setjmp.h>
#include <stdio.h>

struct pair {
	int first;
};

#define EACH(i, n) for (int i = 0; i < (n); i++)

static jmp_buf environment;
static int calls;

static int twice(int x)
{
	calls++;
	return x * 2;
}

/* A loop in another, both without braces. */
static int loops(void)
{
	int sum = 0;
	for (int i = 0; i < 3; i++) /* loop 1 */
		for (int j = 0; j < 2; j++) /* loop 3 */ /* block 3 */
			sum += twice(j); /* call 6 */ /* block 6 */
	return sum;
}

/* A `;` that is far from its loop, and a macro's loop, which the tool does not edit. */
static int odd_ends(int sum)
{
	do /* loop 1 */
		sum -= twice(1); /* call 4 */ /* block 4 */
	while (sum > 2)
		/* here */;
	EACH(k, 3)
		sum += k;
	return sum;
}

static int branches(int x)
{
	if (x == 1)
		return twice(3); /* call 1 */ /* block 1 */
	else if (x == 2) { /* block 3 */
		x = twice(x); /* call 1 */
	} else
		x++; /* block 1 */
	switch (x) {
	case 3:
	case 4: {  /* block 2 */
		x++;
	} /* fallthrough */
	default:
		x += twice(x) > 0; /* call 2 */ /* block 2 */
	}
	return x;
}

/* Blocks that a jump enters, that a jump leaves, and to which longjmp returns. */
static int jumps(int n)
{
	int count = 0;
	struct pair *pair;
	switch (n) {
	case 1:
		do { /* block 2 */
			count++;
			__attribute__((fallthrough));
		case 7:
			count += 2; /* block 1 */
		} while (count < 3);
	}
	for (;;) { /* loop 1 */ /* block 2 */
		if (count++ > 3)
			goto out; /* block 1 */
	}
out:
	if (setjmp(environment) == 0) /* block 1 */
		longjmp(environment, 1); /* call 1 */ /* block 1 */
	pair = &(struct pair){ twice(1) };
	return count + pair->first;
}

/* Branches that consist only of a label and the statement behind it. */
static int branches_of_labels(int x)
{
	int sum = 0;
	switch (x)
	case 1:
		sum += twice(x); /* call 1 */ /* block 1 */
	switch (x)
	case 2:
	case 3: {  /* block 2 */
		sum++;
	}
	if (x == 3)
	here:
	there:
		sum += twice(1); /* call 2 */ /* block 2 */
	if (x == 1 && sum < 3)
		goto there; /* block 1 */
	if (x == 9)
		goto here;
	return sum;
}

/* The last statement of ({ ... }) is its value. */
static int values(int x)
{
	return ({ /* call 1 */
		x += twice(x); /* call 1 */
		twice(x);
	}) + ({
		if (x)
			twice(x); /* call 1 */ /* block 1 */
		x + 1;
	});
}

int main(void)
{
	int a = loops(), b = odd_ends(10);
	int c = branches(1), d = branches(2), e = branches(3), f = jumps(1);
	printf("%d %d %d %d %d %d %d\n", a, b, c, d, e, f, calls); /* call 1 */
	a = branches_of_labels(1) + branches_of_labels(2) * 0 + branches_of_labels(3) - 1; /* call 1 */
	b = values(4) - 15; /* call 1 */
	printf("%d %d\n", a, b); /* call 1 */
	return 0;
}
