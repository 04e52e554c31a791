// Exceptions in the initializers of static objects: before main, and in a function, where the next call tries again.
#include "hooks.h"

static int attempts;

extern "C" {

NOINLINE int initial(int n)
{
	attempts++;
	if (UNKNOWN(n) % 3 != 0)
		throw n;
	return n;
}

NOINLINE int initial_or_zero(int n)
{
	try {
		return initial(n);
	} catch (int) {
		return 0;
	}
}

NOINLINE int once(int n)
{
	static int value = initial(n);
	return value;
}

NOINLINE int try_once(int n)
{
	try {
		return once(n);
	} catch (int) {
		return -1;
	}
}
}

static int before_main = initial_or_zero(4) + initial_or_zero(5) + initial_or_zero(6);

struct object {
	explicit object(int n) : value(initial(n)) {}
	int value;
};

static object global(9);

int main()
{
	CHECK(before_main == 6 && global.value == 9 && attempts == 4);
	int sum = 0;
	for (int n = 1; n < 8; n++)
		sum += try_once(n);
	CHECK(sum == -2 + 5 * 3 && attempts == 7);
	return 0;
}
