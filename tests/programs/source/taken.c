/* Functions whose addresses other functions take: one passes it on at once, another stores it for later. */
#include <stdio.h>
#include <stdlib.h>

static int values[64];
static int (*later)(int);

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return x < y ? -1 : x > y;
}

static int on_event(int number)
{
	printf("event %d\n", number);
	return number;
}

static void install(void)
{
	printf("installed\n");
	later = on_event;
}

static int loop(int count)
{
	int sum = 0;
	for (int i = 0; i < count; i++)
		sum += later(i);
	return sum;
}

static void sort_rows(void)
{
	for (int i = 0; i < 64; i++)
		values[i] = i * 37 % 64;
	qsort(values, 64, sizeof(values[0]), compare);
}

/* It calls the function by its name that `install` has stored. */
static int direct(int count)
{
	int sum = 0;
	for (int i = 0; i < count; i++)
		sum += on_event(100 + i);
	return sum;
}

int main(void)
{
	install();
	sort_rows();
	printf("%d\n", loop(5));
	printf("%d\n", direct(3));
	return 0;
}
