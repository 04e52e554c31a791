/* A server that labels its threads by tenant and kind of request, one of which costs three times the other; a
 * child that has the label of the thread that forked it; and work without a label. States the share of each label. */
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cpprof/runtime.h>

#include "burn.h"

enum { UNIT_US = 100 };

NOINLINE static void search(void)
{
	burn(3 * UNIT_US);
	NOT_A_TAIL_CALL();
}

NOINLINE static void buy(void)
{
	burn(UNIT_US);
	NOT_A_TAIL_CALL();
}

struct tenant {
	const char *name;
	int requests;
};

NOINLINE static void *serve(void *argument)
{
	const struct tenant *tenant = argument;
	cpprof_label("tenant", tenant->name);
	for (int i = 0; i < tenant->requests; i++) {
		cpprof_label("kind", "search");
		search();
		cpprof_label("kind", "buy");
		buy();
	}
	return NULL;
}

NOINLINE static void batch(int rounds)
{
	cpprof_label("phase", "batch");
	pid_t child = fork();
	if (child == 0) {
		for (int i = 0; i < rounds; i++)
			burn(4 * UNIT_US);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	cpprof_label("phase", NULL);
}

int main(int argc, char **argv)
{
	int rounds = rounds_wanted(argc, argv, 150);
	struct tenant tenants[] = { { "acme", 2 * rounds }, { "zeta", rounds } };
	pthread_t threads[2];
	cpprof_label("phase", "start"); /* new threads do not have this label */
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, serve, &tenants[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	batch(rounds);
	for (int i = 0; i < rounds; i++)
		burn(4 * UNIT_US);
	share("tenant=acme", 0.4);
	share("tenant=zeta", 0.2);
	share("kind=search", 0.45);
	share("kind=buy", 0.15);
	share("phase=batch", 0.2);
	return 0;
}
