/* An implementation as users would write it (cpprof/implementation.h). It writes, beside the recorded file, how often each probe
 * point was entered and left, and how often `leave` did not receive the result of `enter`. */
#include <cpprof/implementation.h>
#include <cpprof/profiler.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct history {
	const char *name;
	unsigned long entered, left, wrong;
} histories[100];
static char path[4096];

static int begin(const char *output)
{
	if (getenv("HISTORIES_REFUSE"))
		return 1;
	snprintf(path, sizeof(path), "%s.histories", output);
	return 0;
}

static struct history *history_of(const struct cpprof_probe *probe)
{
	struct history *history = histories;
	while (history->name && strcmp(history->name, probe->name) != 0)
		history++;
	if (!history->name)
		history->name = strdup(probe->name);
	return history;
}

static uint64_t enter(const struct cpprof_probe *probe)
{
	struct history *history = history_of(probe);
	history->entered++;
	if (strcmp(probe->name, "interrupted") == 0)
		raise(SIGUSR1);
	return (uint64_t)(uintptr_t)history + history->entered % 2;
}

static void leave(const struct cpprof_probe *probe, uint64_t entered)
{
	struct history *history = history_of(probe);
	history->left++;
	history->wrong += (entered & ~1ULL) != (uint64_t)(uintptr_t)history;
}

static void finish(void)
{
	FILE *file = fopen(path, "w");
	if (!file)
		return;
	for (struct history *history = histories; history->name; history++)
		fprintf(file, "%s %lu %lu %lu\n", history->name, history->entered, history->left, history->wrong);
	fclose(file);
}

CPPROF_PUBLIC_IMPLEMENTATION = {
	.version = CPPROF_IMPLEMENTATION_VERSION + (
#ifdef WRONG_VERSION
							   1
#else
							   0
#endif
							   ),
	.name = "histories",
	.begin = begin,
	.enter = enter,
	.leave = leave,
	.finish = finish,
};
