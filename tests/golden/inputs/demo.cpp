/* The source that make_profile.c speaks of. Its lines count. */
static int compare(const int *a, const int *b)
{
	return (*a > *b) - (*a < *b);
}

namespace ns {

/* Sorts. */
void sort(int *from, int *to)
{
	qsort(from, to - from, sizeof(*from), compare);
	while (from < to && compare(from, from + 1) <= 0)
		from++;
}

void print(void) { puts("	tab"); }

}
int main(void)
{
	sort(numbers, numbers + 10);
	print();
}





void *work(void *argument)
{
	return argument;
}
