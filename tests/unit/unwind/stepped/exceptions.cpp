// An exception in flight: destructors and handlers run below the throw, while frames of libgcc and libstdc++ are on
// the stack.
#include <stdexcept>
#include <string>

#include "marks.h"

static int released;

struct guard {
	int value;
	NOINLINE ~guard()
	{
		released += value;
	}
};

static NOINLINE int throws(int a)
{
	guard own{ a };
	KEEP(a);
	if (a == 3)
		throw std::runtime_error("three");
	return a;
}

static NOINLINE int passes(int a)
{
	guard own{ 10 };
	return throws(a) + 1;
}

static NOINLINE int catches(int a)
{
	try {
		return passes(a);
	} catch (const std::exception &error) {
		return error.what()[0];
	}
}

int main()
{
	BEGIN();
	int sum = catches(1) + catches(3);
	END();
	KEEP(sum);
	return released == 24 ? 0 : 1;
}
