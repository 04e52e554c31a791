/* Structures of all classes are returned and passed: a hook must not change the registers and memory that hold
 * them. */
#include "hooks.h"

struct pair {
	long first, second;
};
struct mixed {
	double real;
	long whole;
};
struct reals {
	double first, second;
};
struct large {
	long members[12];
};

static NOINLINE struct pair make_pair(long a, long b)
{
	return (struct pair){ a, b };
}

static NOINLINE struct mixed make_mixed(double real, long whole)
{
	return (struct mixed){ real, whole };
}

static NOINLINE struct reals make_reals(double a, double b)
{
	return (struct reals){ a, b };
}

static NOINLINE struct large make_large(long first)
{
	struct large made;
	for (int i = 0; i < 12; i++)
		made.members[i] = first + i;
	return made;
}

static NOINLINE long add_large(struct large value, struct pair pair, double a, double b, double c, double d, double e,
			       double f, double g, double h, long p, long q, long r, long s)
{
	long sum = pair.first + pair.second + (long)(a + b + c + d + e + f + g + h) + p + q + r + s;
	for (int i = 0; i < 12; i++)
		sum += value.members[i];
	return sum;
}

static NOINLINE long vary(int count, ...)
{
	__builtin_va_list arguments;
	double sum = 0;
	__builtin_va_start(arguments, count);
	for (int i = 0; i < count; i++)
		sum += i & 1 ? (double)__builtin_va_arg(arguments, long) : __builtin_va_arg(arguments, double);
	__builtin_va_end(arguments);
	return (long)sum;
}

int main(void)
{
	for (long i = 0; i < 50; i++) {
		long n = UNKNOWN(i);
		struct pair pair = make_pair(n, n + 1);
		struct mixed mixed = make_mixed((double)n + 0.5, n);
		struct reals reals = make_reals((double)n, -(double)n);
		struct large large = make_large(n);
		CHECK(pair.first == i && pair.second == i + 1);
		CHECK(mixed.real > (double)i && mixed.whole == i);
		CHECK(reals.first + reals.second == 0.0);
		CHECK(add_large(large, pair, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4) == 12 * i + 66 + 2 * i + 1 + 46);
		CHECK(vary(4, 1.5, i, 2.5, i) == 4 + 2 * i);
	}
	return 0;
}
