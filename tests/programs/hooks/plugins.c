/* Code that is loaded and unloaded: a plugin is loaded, called and unloaded many times, and each time its
 * functions start with their first call; also from a thread, and with a copy of it beside. */
#include <dlfcn.h>
#include <pthread.h>

#include "hooks.h"

enum { ROUNDS = 12, CALLS = 25 };

static NOINLINE long use(void *plugin)
{
	long (*work)(int) = (long (*)(int))dlsym(plugin, "plugin_work");
	long sum = 0;
	CHECK(work != NULL);
	for (int i = 0; i < CALLS; i++)
		sum += work(i);
	return sum;
}

static NOINLINE void round_trip(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW);
	CHECK(plugin != NULL);
	CHECK(use(plugin) == 2 * CALLS * (CALLS - 1) / 2);
	CHECK(dlclose(plugin) == 0);
}

static NOINLINE void *in_thread(void *path)
{
	round_trip(path);
	return NULL;
}

int main(int count, char **words)
{
	CHECK(count > 1);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t thread;
		round_trip(words[1]);
		CHECK(pthread_create(&thread, NULL, in_thread, words[1]) == 0);
		pthread_join(thread, NULL);
	}
	return 0;
}
