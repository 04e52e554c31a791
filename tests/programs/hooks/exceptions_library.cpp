// Exceptions across a shared library in both directions: thrown in the library and caught here, and thrown here by a
// callback that the library calls.
#include "exceptions_library.h"

#include "hooks.h"

extern "C" {

NOINLINE int throwing_callback(int n)
{
	if (n % 4 == 0)
		throw n;
	return UNKNOWN(n);
}

NOINLINE int call_library(int n)
{
	try {
		return library_throws(n);
	} catch (const library_error &error) {
		return error.value;
	}
}

NOINLINE int call_back(int n)
{
	try {
		return library_calls(throwing_callback, n);
	} catch (int thrown) {
		return thrown + 1;
	}
}
}

int main()
{
	int sum = 0;
	for (int i = 0; i < 40; i++)
		sum += call_library(UNKNOWN(i)) + call_back(UNKNOWN(i));
	CHECK(sum == 2 * 780 + 10 + 40);
	return 0;
}
