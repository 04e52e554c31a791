// The library of exceptions_library.cpp.
#include "exceptions_library.h"

#include "hooks.h"

extern "C" {

NOINLINE int library_inner(int n)
{
	if (n % 4 == 0)
		throw library_error{ n + 1 };
	return UNKNOWN(n);
}

int library_throws(int n)
{
	int result = library_inner(n);
	return UNKNOWN(result);
}

int library_calls(int (*callback)(int), int n)
{
	try {
		int result = callback(n);
		return UNKNOWN(result) + 1;
	} catch (int) {
		throw;
	}
}
}
