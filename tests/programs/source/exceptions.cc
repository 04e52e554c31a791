/* Objects of cpprof/profiler.h in functions that an exception leaves: plain and inlined functions, regions, constructors, templates. */
#include <cpprof/profiler.h>

#include <cstdio>
#include <stdexcept>

namespace
{
long counts[6];

template <class Number> __attribute__((always_inline)) inline Number checked(Number n)
{
	CPPROF_FUNCTION;
	counts[0]++;
	if (n % 3 == 0)
		throw std::runtime_error("divides");
	return n;
}

struct holder {
	__attribute__((noinline)) explicit holder(int n) : value(n)
	{
		CPPROF_FUNCTION;
		counts[1]++;
		value += checked(n);
	}
	__attribute__((noinline)) ~holder()
	{
		CPPROF_FUNCTION;
		counts[2]++;
	}
	int value;
};

__attribute__((noinline)) int middle(int n)
{
	CPPROF_FUNCTION;
	counts[3]++;
	holder first(n + 1);
	{
		CPPROF_REGION("second");
		counts[4]++;
		holder second(n);
		return first.value + second.value;
	}
}

__attribute__((noinline)) int outer(int n)
{
	CPPROF_FUNCTION;
	counts[5]++;
	try {
		return middle(n);
	} catch (const std::runtime_error &) {
		return 0;
	}
}
} // namespace

int main()
{
	CPPROF_FUNCTION;
	long sum = 0;
	for (int i = 0; i < 300; i++)
		sum += outer(i);
	std::printf("calls main 1\ncalls checked %ld\ncalls holder %ld\ncalls ~holder %ld\ncalls middle %ld\ncalls "
		    "second %ld\n"
		    "calls outer %ld\nsum %ld\n",
		    counts[0], counts[1], counts[2], counts[3], counts[4], counts[5], sum);
	return 0;
}
