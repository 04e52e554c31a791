// Exceptions that leave functions: with objects that must be destroyed, through functions without such objects,
// through recursions and through qsort.
#include "hooks.h"

struct witness {
	explicit witness(int &count) : count(count) { count++; }
	~witness() { count--; }
	int &count;
};

static int alive;

extern "C" {

NOINLINE int thrower(int n)
{
	witness here(alive);
	if (n % 2 == 0)
		throw n;
	return UNKNOWN(n);
}

NOINLINE int plain(int n)
{
	int result = thrower(n);
	return UNKNOWN(result);
}

NOINLINE int guarded(int n)
{
	witness here(alive);
	return plain(n) + 1;
}

NOINLINE int recursive(int depth, int n)
{
	witness here(alive);
	return depth == 0 ? guarded(n) : recursive(depth - 1, n) + 1;
}

NOINLINE int catcher(int depth, int n)
{
	try {
		return recursive(depth, n);
	} catch (int thrown) {
		return thrown;
	}
}

NOINLINE int compare(const void *a, const void *b)
{
	int difference = *static_cast<const int *>(a) - *static_cast<const int *>(b);
	if (difference == 0)
		throw 0.5;
	return difference;
}

NOINLINE int sorted(int *numbers, size_t count)
{
	try {
		qsort(numbers, count, sizeof(*numbers), compare);
	} catch (double) {
		return 0;
	}
	return 1;
}
}

int main()
{
	int sum = 0;
	for (int i = 0; i < 60; i++)
		sum += catcher(i % 7, UNKNOWN(i));
	int different[] = { 5, 3, 4, 1, 2 }, same[] = { 1, 1 };
	CHECK(sorted(different, 5) == 1 && sorted(same, 2) == 0);
	CHECK(sum > 0 && alive == 0);
	return 0;
}
