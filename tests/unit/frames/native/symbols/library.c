/* A library that exports only two functions. */
#include "mark.h"

volatile int library_sink;

NOINLINE static int secret(int x)
{
	MARK(2);
	library_sink += x;
	return library_sink * 2;
}

NOINLINE static int secret_too(int x)
{
	MARK(3);
	library_sink -= x;
	return library_sink * 3;
}

int library_call(int x)
{
	MARK(1);
	return secret(x) + secret_too(x);
}

/* Three names for one function. */
int library_read(int x)
{
	MARK(4);
	return x + library_sink;
}
int __library_read(int x) __attribute__((alias("library_read")));
int __internal_library_read(int x) __attribute__((alias("library_read"), weak));
