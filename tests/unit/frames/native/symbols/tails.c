/* Calls and tail calls for test_tail_code.c. Compiled with other.c, which defines other(). */
#define F __attribute__((noipa))

extern int other(int n);
volatile int sink;
int (*table[8])(int n);

F int burn(int n)
{
	return sink = n;
}

F int direct(int n)
{
	return burn(n + 1);
}

F int twice(int n)
{
	return n & 1 ? burn(n * 3) : burn(n * 5);
}

F int through(int n)
{
	return direct(n + 2);
}

F int away(int n)
{
	return other(n + 1);
}

__attribute__((cold)) F int report(int n)
{
	sink = n;
	return burn(n);
}

F int indirect(int n)
{
	int m = burn(n);
	sink = m;
	return table[m & 7](n + m);
}

/* Its switch jumps through a table. */
F int chosen(int n)
{
	int m = burn(n);
	switch (m) {
	case 0:
		sink = 5;
		break;
	case 1:
		sink = m * 3;
		break;
	case 2:
		sink = m / 7;
		break;
	case 3:
		sink = m ^ 5;
		break;
	case 4:
		burn(9);
		break;
	case 5:
		sink = m << 3;
		break;
	case 6:
		burn(m);
		break;
	case 7:
		sink = 1;
		break;
	}
	return sink;
}

F int plain(int n)
{
	int m = burn(n);
	sink = m;
	return m + 1;
}

/* Indirect jumps before anything is restored: through a pointer, a variable that begins as another file's function, and an array. */
F int pointed(int (**go)(int))
{
	return (*go)(5);
}

int (*hook)(int) = other;

F int hooked(int n)
{
	return hook(n);
}

static int (*const both[])(int) = { burn, direct };

F int one_of_both(int n)
{
	return both[n & 1](n);
}

/* Its switch has no code before it that needs the stack. */
F int leaf_switch(int n)
{
	switch (n) {
	case 0:
		return sink + 5;
	case 1:
		return sink * 3;
	case 2:
		return sink / 7;
	case 3:
		return sink ^ 5;
	case 4:
		return burn(3);
	case 5:
		return sink << 3;
	case 6:
		return direct(4);
	}
	return sink;
}

/* A byte that is no instruction. */
F int unreadable(int n)
{
	if (n == -1)
		__asm__ volatile(".byte 0x06");
	return burn(n);
}

F int through_stub(int n)
{
	return other(n) + 1;
}

/* The test knows the order of these calls. */
F int calls(int n)
{
	sink = through(n);
	sink = twice(n);
	sink = away(n);
	sink = other(n);
	sink = plain(n);
	sink = indirect(n);
	sink = chosen(n);
	sink = report(n);
	sink = pointed(table);
	sink = hooked(n);
	sink = one_of_both(n);
	sink = leaf_switch(n);
	sink = unreadable(n);
	return sink;
}

int main(void)
{
	return calls(1) == 3;
}
