/*
 * Functions of about 0, 10, 20, 50, 100, 300 and 1,000 ns, one that waits for memory, and callers that work between their
 * calls, each with a probe point and without. Calls each CALLS times in ROUNDS rounds. Prints for each the time of a call without probe points in
 * the fastest round: "call_ns10 9.8". Each round calls the next one, so it has paths of its own, and the
 * profile's fastest round can be found, too: no round is disturbed by another process on every machine.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cpprof/profiler.h>

enum { CALLS = 1000, ROUNDS = 60 };

/* Each step waits for the step before it: about 1 ns. */
#define STEPS(count)                                            \
	do {                                                    \
		for (int step = 0; step < (count); step++) {    \
			value = value * 0x5851f42d4c957f2d + 1; \
			__asm__ volatile("" : "+r"(value));     \
		}                                               \
	} while (0)

/* Each step is a load that misses the caches; its address depends on the value. */
#define LOADS(count)                                                              \
	do {                                                                      \
		for (int load = 0; load < (count); load++) {                      \
			value = value * 0x5851f42d4c957f2d + memory[value >> 42]; \
			__asm__ volatile("" : "+r"(value));                       \
		}                                                                 \
	} while (0)
static uint64_t memory[1 << 22];

#define FUNCTION(name, work)                                                  \
	__attribute__((noinline)) static uint64_t name(uint64_t value)        \
	{                                                                     \
		CPPROF_FUNCTION;                                              \
		work;                                                         \
		return value;                                                 \
	}                                                                     \
	__attribute__((noinline)) static uint64_t bare_##name(uint64_t value) \
	{                                                                     \
		work;                                                         \
		return value;                                                 \
	}

FUNCTION(ns0, STEPS(0))
FUNCTION(ns10, STEPS(9))
FUNCTION(ns20, STEPS(18))
FUNCTION(ns50, STEPS(45))
FUNCTION(ns100, STEPS(90))
FUNCTION(ns300, STEPS(270))
FUNCTION(ns1000, STEPS(900))
FUNCTION(loads, LOADS(2))

#define CALLER(name, callee, steps)                                           \
	__attribute__((noinline)) static uint64_t name(uint64_t value)        \
	{                                                                     \
		CPPROF_FUNCTION;                                              \
		for (int i = 0; i < CALLS; i++) {                             \
			STEPS(steps);                                         \
			value = callee(value);                                \
		}                                                             \
		return value;                                                 \
	}                                                                     \
	__attribute__((noinline)) static uint64_t bare_##name(uint64_t value) \
	{                                                                     \
		for (int i = 0; i < CALLS; i++) {                             \
			STEPS(steps);                                         \
			value = bare_##callee(value);                         \
		}                                                             \
		return value;                                                 \
	}

CALLER(call_ns0, ns0, 0)
CALLER(call_ns10, ns10, 0)
CALLER(call_ns20, ns20, 0)
CALLER(call_ns50, ns50, 0)
CALLER(call_ns100, ns100, 0)
CALLER(call_ns300, ns300, 0)
CALLER(call_ns1000, ns1000, 0)
CALLER(call_loads, loads, 0)
CALLER(work_ns0, ns0, 45)
CALLER(work_ns50, ns50, 45)

/* clang-format off */
#define ROW(name) { #name, name, bare_##name, 0 }
/* clang-format on */
static struct {
	const char *name;
	uint64_t (*probed)(uint64_t), (*bare)(uint64_t);
	double ns;
} rows[] = { ROW(call_ns0),   ROW(call_ns10),   ROW(call_ns20),  ROW(call_ns50), ROW(call_ns100),
	     ROW(call_ns300), ROW(call_ns1000), ROW(call_loads), ROW(work_ns0),  ROW(work_ns50) };
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

__attribute__((noinline)) static uint64_t next_round(int left, uint64_t value)
{
	CPPROF_FUNCTION;
	for (int i = 0; i < ROWS; i++) {
		double start = now_ns();
		value = rows[i].bare(value);
		double took = (now_ns() - start) / CALLS;
		if (rows[i].ns == 0 || took < rows[i].ns)
			rows[i].ns = took;
		value = rows[i].probed(value);
	}
	return left > 1 ? next_round(left - 1, value) + 1 : value;
}

int main(void)
{
	CPPROF_FUNCTION;
	for (uint64_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		memory[i] = i * 2 + 1;
	uint64_t value = next_round(ROUNDS, 88172645463325252);
	for (int i = 0; i < ROWS; i++)
		printf("%s %.3f\n", rows[i].name, rows[i].ns);
	return value == 0;
}
