/* Tail calls: compiled to jumps, they keep no frame of their caller, also in cycles. */
#include "hooks.h"

static long reached;

static NOINLINE long last(long n)
{
	reached++;
	return UNKNOWN(n);
}

static NOINLINE long before_last(long n)
{
	return last(n + 1);
}

static NOINLINE long third_last(long n)
{
	return n % 2 ? before_last(n + 1) : last(n + 2);
}

static long pong(long n);

static NOINLINE long ping(long n)
{
	return n <= 0 ? n : pong(n - 1);
}

static NOINLINE long pong(long n)
{
	return n <= 0 ? n : ping(n - 1);
}

static NOINLINE long self(long n, long sum)
{
	return n == 0 ? sum : self(n - 1, UNKNOWN(sum) + n);
}

static NOINLINE long through(long (*callee)(long), long n)
{
	return callee(n);
}

int main(void)
{
	for (long i = 0; i < 60; i++) {
		CHECK(third_last(i) == i + 2);
		CHECK(through(i & 1 ? before_last : ping, UNKNOWN(i)) == (i & 1 ? i + 1 : 0));
	}
	CHECK(ping(UNKNOWN(101L)) == 0 && self(100, 0) == 5050);
	CHECK(reached == 90);
	return 0;
}
