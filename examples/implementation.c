/*
 * An implementation of the Profiler (cpprof/implementation.h): a histogram of call durations for
 * each probe point, in powers of two. It prints the histograms when the program ends.
 * `-r own:long-calls` charges calls of more than a millisecond to their paths.
 *
 *     cc -O2 -shared -fPIC -o libhistogram.so implementation.c $(pkg-config --cflags --libs cpprof)
 *     cpprof record --instrumented=./libhistogram.so ./program
 */
#include <cpprof/implementation.h>
#include <cpprof/profiler.h>
#include <cpprof/runtime.h>

#include <stdio.h>
#include <time.h>

enum { HISTOGRAMS = 4096, POWERS = 40, NS_PER_S = 1000000000, NS_PER_MS = 1000000 };

static struct histogram {
	const char *name;
	uint64_t calls[POWERS]; /* [n]: at least 2^n ns and less than 2^(n+1) ns; [0] also counts 0 ns */
} histograms[HISTOGRAMS];

static cpprof_counter *long_calls;

static uint64_t now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static int begin(const char *output)
{
	(void)output;
	long_calls = cpprof_resource("long-calls", "call");
	return 0;
}

static uint64_t enter(const struct cpprof_probe *probe)
{
	(void)probe;
	return now_ns();
}

static void leave(const struct cpprof_probe *probe, uint64_t entered)
{
	uint64_t ns = now_ns() - entered;
	struct histogram *histogram = &histograms[probe->number % HISTOGRAMS];
	int power = ns > 1 ? 63 - __builtin_clzll(ns) : 0;
	/* Stored in each call: the library that contains the name may be unloaded, but seldom
	 * before the program ends. */
	histogram->name = probe->name;
	__atomic_add_fetch(&histogram->calls[power < POWERS ? power : POWERS - 1], 1, __ATOMIC_RELAXED);
	if (ns > NS_PER_MS)
		cpprof_tick(long_calls, 1);
}

static void finish(void)
{
	for (int i = 0; i < HISTOGRAMS; i++)
		for (int power = 0; power < POWERS; power++)
			if (histograms[i].calls[power])
				fprintf(stderr, "%s: %llu calls of %llu ns and more\n", histograms[i].name,
					(unsigned long long)histograms[i].calls[power], 1ULL << power);
}

static void forked(void)
{
	for (int i = 0; i < HISTOGRAMS; i++)
		for (int power = 0; power < POWERS; power++)
			histograms[i].calls[power] = 0;
}

CPPROF_PUBLIC_IMPLEMENTATION = {
	.version = CPPROF_IMPLEMENTATION_VERSION,
	.name = "histogram",
	.begin = begin,
	.enter = enter,
	.leave = leave,
	.finish = finish,
	.forked = forked,
};
