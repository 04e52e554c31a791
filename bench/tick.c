/*
 * Prints the cost of cpprof_tick, as JSON: nanoseconds of one call, in a loop that does no other
 * work; and of setting a label that the thread has set before. Started directly, it measures
 * without a recorder. To measure with one, start it by
 * `cpprof record --backend preload -r own:ticks/INTERVAL`; an interval above 10^12 is never reached.
 *
 * `tick events FILE`, started by `cpprof record --instrumented=trace`, prints the cost of cpprof_event, and as its
 * floors that of clock_gettime and of storing what an event stores, and that of writing these bytes to FILE as well.
 *
 * Each cost is CPU time of the thread: programs that run beside it would add their turns to the elapsed time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cpprof/runtime.h>

enum {
	TICKS = 100 * 1000 * 1000,
	LABELS = 1000 * 1000,
	EVENTS = 400 * 1000,
	ROUNDS = 5,
	RING_WORDS = 8192,
	EVENT_WORDS = 4
};

static cpprof_counter *ticks;

static double now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The loop alone. The assembly keeps the compiler from removing it. */
static void run_nothing(void)
{
	for (int i = 0; i < TICKS; i++)
		__asm__ volatile("" : : : "memory");
}

static void run_ticks(void)
{
	for (int i = 0; i < TICKS; i++) {
		cpprof_tick(ticks, 1);
		__asm__ volatile("" : : : "memory");
	}
}

static void run_labels(void)
{
	for (int i = 0; i < LABELS; i++)
		cpprof_label("tenant", i % 2 ? "acme" : "initech");
}

static void run_events(void)
{
	CPPROF_FUNCTION;
	for (int i = 0; i < EVENTS; i++)
		cpprof_event(1, (uint64_t)i);
}

static uint64_t ring[RING_WORDS];
static int file = -1; /* where full rings are written; -1: nowhere */

static void run_stores(void)
{
	for (uint64_t i = 0; i < EVENTS; i++) {
		struct timespec time;
		volatile uint64_t *at = ring + i * EVENT_WORDS % RING_WORDS;
		clock_gettime(CLOCK_MONOTONIC, &time);
		at[0] = (uint64_t)time.tv_nsec;
		at[1] = 1;
		at[2] = i;
		at[3] = 1;
		if (file >= 0 && at + EVENT_WORDS == ring + RING_WORDS && write(file, ring, sizeof(ring)) < 0)
			perror("write");
	}
}

/* Returns the minimum of some rounds, because other load on the machine can only add time. */
static double measure(void (*run)(void), int count)
{
	double least = 0;
	for (int i = 0; i < ROUNDS; i++) {
		double begin = now_ns();
		run();
		double each = (now_ns() - begin) / count;
		if (i == 0 || each < least)
			least = each;
	}
	return least;
}

static int print_events(const char *name)
{
	double event = measure(run_events, EVENTS), stores = measure(run_stores, EVENTS);
	file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (file < 0) {
		perror(name);
		return 1;
	}
	double writes = measure(run_stores, EVENTS);
	printf("{\"event_ns\": %.1f, \"stores_ns\": %.1f, \"writes_ns\": %.1f}\n", event, stores, writes);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "events") == 0)
		return print_events(argv[2]);
	ticks = cpprof_resource("ticks", "tick");
	cpprof_label("request", "GET");
	double nothing = measure(run_nothing, TICKS);
	double tick = measure(run_ticks, TICKS);
	double label = measure(run_labels, LABELS);
	printf("{\"is_recording\": %s, \"tick_ns\": %.2f, \"label_ns\": %.1f, \"ticks\": %d}\n",
	       cpprof_is_recording() ? "true" : "false", tick - nothing, label, TICKS * ROUNDS);
	return 0;
}
