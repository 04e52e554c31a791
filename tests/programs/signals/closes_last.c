/* Threads whose very last destructor loads and unloads a library: the profiler must not leave anything of them,
 * such as timers. */
#include "check.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>

enum { THREADS = 10, OF_THIS_THREAD = 2 };

static pthread_key_t key;
static int closed;

static void close_last(void *value)
{
	long round = (long)value;
	if (round < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(key, (void *)(round + 1));
		return;
	}
	void *library = dlopen("libm.so.6", RTLD_NOW);
	if (library && dlclose(library) == 0)
		closed++;
}

static void *run(void *unused)
{
	pthread_setspecific(key, (void *)1);
	busy(0.01);
	return unused;
}

/* Returns the number of timers of this process, or 0 if the kernel does not list them. */
static int count_timers(void)
{
	char line[200];
	int count = 0;
	FILE *file = fopen("/proc/self/timers", "r");
	while (file && fgets(line, sizeof(line), file))
		count += strncmp(line, "ID:", 3) == 0;
	if (file)
		fclose(file);
	return count;
}

int main(void)
{
	pthread_key_create(&key, close_last);
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, run, NULL);
		pthread_join(thread, NULL);
	}
	check(closed == THREADS, "loaded and unloaded");
	check(count_timers() <= OF_THIS_THREAD, "no timers are left");
	busy(0.05);
	check(true, "the end");
	return checks_failed != 0;
}
