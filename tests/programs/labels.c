/* A server that labels its threads by tenant and kind of request, one of which costs three times the other; a
 * child that has the label of the thread that forked it; and work without a label. States each label's share of the
 * processor time, by the clocks: where processors share a core, two threads at once take longer for the same work. */
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
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
	double search_s, buy_s;
};

static double clock_s(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double children_s(void)
{
	struct rusage used;
	getrusage(RUSAGE_CHILDREN, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

NOINLINE static void *serve(void *argument)
{
	struct tenant *tenant = argument;
	cpprof_label("tenant", tenant->name);
	for (int i = 0; i < tenant->requests; i++) {
		double start = clock_s(CLOCK_THREAD_CPUTIME_ID);
		cpprof_label("kind", "search");
		search();
		double middle = clock_s(CLOCK_THREAD_CPUTIME_ID);
		cpprof_label("kind", "buy");
		buy();
		tenant->search_s += middle - start;
		tenant->buy_s += clock_s(CLOCK_THREAD_CPUTIME_ID) - middle;
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
	struct tenant tenants[] = { { .name = "acme", .requests = 2 * rounds },
				    { .name = "zeta", .requests = rounds } };
	pthread_t threads[2];
	cpprof_label("phase", "start"); /* new threads do not have this label */
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, serve, &tenants[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	batch(rounds);
	for (int i = 0; i < rounds; i++)
		burn(4 * UNIT_US);
	const struct tenant *acme = &tenants[0], *zeta = &tenants[1];
	double all_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) + children_s();
	share("tenant=acme", (acme->search_s + acme->buy_s) / all_s);
	share("tenant=zeta", (zeta->search_s + zeta->buy_s) / all_s);
	share("kind=search", (acme->search_s + zeta->search_s) / all_s);
	share("kind=buy", (acme->buy_s + zeta->buy_s) / all_s);
	share("phase=batch", children_s() / all_s);
	return 0;
}
