/*
 * `tail_calls [ROUNDS]`: functions that end with a call, which an optimizing compiler makes a jump. Their frames are not on the stack,
 * but each path here except the paths of `choice` and `either` is the only path from its call site to `work`. Linked with tail_calls_library.c.
 */
#include "burn.h"

long library_entry(long (*callback)(unsigned), unsigned us);

NOINLINE static long work(unsigned us)
{
	burn(us);
	return (long)burn_sink;
}

NOINLINE static long first(unsigned us)
{
	return work(us * 5);
}

NOINLINE static long second(unsigned us)
{
	return work(us * 3);
}

/* Jumps from two places. */
NOINLINE static long third(unsigned us)
{
	if (burn_sink == 1)
		return work(us);
	burn_sink++;
	return work(us * 2);
}

NOINLINE static long outer(unsigned us)
{
	burn_sink++;
	return second(us + 10);
}

NOINLINE static long left(unsigned us)
{
	return work(us + 1);
}

NOINLINE static long right(unsigned us)
{
	burn_sink++;
	return work(us + 2);
}

NOINLINE static long choice(unsigned us)
{
	return us & 1 ? left(us) : right(us);
}

/* A recursion: pong has no other way to go on. */
NOINLINE static long ping(unsigned us, unsigned turns);

NOINLINE static long pong(unsigned us, unsigned turns)
{
	burn_sink++;
	return ping(us, turns - 1);
}

NOINLINE static long ping(unsigned us, unsigned turns)
{
	return turns ? pong(us, turns) : work(us);
}

NOINLINE static long away(unsigned us)
{
	return library_entry(work, us);
}

/* The next function is known at run time alone. */
static long (*volatile chosen)(unsigned) = work;

NOINLINE static long indirect(unsigned us)
{
	unsigned long before = burn_sink;

	burn(10);
	burn_sink += before;
	return chosen(us + (before == 1));
}

/* Always by the pointer: `left` is not called. */
NOINLINE static long either(unsigned us)
{
	if (burn_sink == 1)
		return left(us);
	return chosen(us);
}

int main(int argc, char **argv)
{
	int rounds = rounds_wanted(argc, argv, 10);
	long sum = 0;

	burn_sink = 2;
	for (int i = 0; i < rounds; i++) {
		sum += first(10);
		sum += second(10);
		sum += third(10);
		sum += outer(0);
		sum += choice(99);
		sum += choice(98);
		sum += ping(100, 2);
		sum += away(100);
		sum += indirect(90);
		sum += either(20);
	}
	share("main;first;work", 50 / 650.);
	share("main;second;work", 60 / 650.);
	share("main;third;work", 20 / 650.);
	share("main;outer;second;work", 30 / 650.);
	share("main;choice;work", 200 / 650.);
	share("main;ping;work", 100 / 650.);
	share("main;away;library_entry;library_inner;work", 100 / 650.);
	share("main;indirect;work", 90 / 650.);
	share("main;either;work", 20 / 650.);
	return sum == 0;
}
