/*
 * Counts resources of its own and states the amounts, by path. The first argument selects the behaviour, the
 * second is the number of rounds. Linked with libcpprof.
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cpprof/runtime.h>

#include "burn.h"

enum { THREADS = 4, CHILDREN = 3 };

static cpprof_counter *orders;
static cpprof_counter *bytes;

/* The tick is its last call, but it must be on the path nevertheless. */
NOINLINE static void take(unsigned count)
{
	cpprof_tick(orders, count);
}

NOINLINE static void take_some(void)
{
	take(1);
	NOT_A_TAIL_CALL();
}

NOINLINE static void take_many(void)
{
	take(3);
	NOT_A_TAIL_CALL();
	cpprof_tick(bytes, 4096);
	NOT_A_TAIL_CALL();
}

NOINLINE static void work(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		take_some();
		take_many();
	}
}

static void state(unsigned long long rounds)
{
	amount("own:orders", "work;take_some;take", rounds);
	amount("own:orders", "work;take_many;take", 3 * rounds);
	amount("own:bytes", "work;take_many", 4096 * rounds);
}

static void *run_thread(void *argument)
{
	work(*(const int *)argument);
	return NULL;
}

static void run_threads(int rounds)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run_thread, &rounds);
	work(rounds);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	state((THREADS + 1ULL) * (unsigned)rounds);
}

static void run_fork(int rounds)
{
	work(rounds);
	for (int i = 0; i < CHILDREN; i++)
		if (fork() == 0) {
			work(rounds);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	state((CHILDREN + 1ULL) * (unsigned)rounds);
}

/* Counts in two windows out of five equal pieces of work. The first window begins at cpprof_start, with `--paused`
 * or without. */
static void run_windows(int rounds)
{
	cpprof_stop();
	work(rounds);
	cpprof_start();
	work(rounds);
	cpprof_stop();
	work(rounds);
	printf("recording %d\n", cpprof_is_recording());
	cpprof_start();
	cpprof_start();
	work(rounds);
	printf("recording %d\n", cpprof_is_recording());
	cpprof_stop();
	work(rounds);
	state(2ULL * (unsigned)rounds);
}

/* Flushes the profile and waits for input before it ends, so that a reader of the profile meanwhile sees what was
 * flushed. */
static void run_flush(int rounds)
{
	work(rounds);
	printf("flush %d\n", cpprof_flush());
	state((unsigned)rounds);
	fflush(stdout);
	getchar();
}

/* The child begins with its parent's labels, and then sets its own. */
static void take_in_child(void)
{
	cpprof_label("tenant", "parent's");
	if (fork() == 0) {
		take_some();
		cpprof_label("tenant", "child's");
		take_some();
		_exit(0);
	}
	wait(NULL);
}

static void run_labels(int rounds)
{
	static const char *const tenants[] = { "acme", "initech" };
	for (int i = 0; i < 3 * rounds; i++) {
		cpprof_label("tenant", tenants[i % 3 == 0]);
		cpprof_label("verb", i % 2 ? "GET" : "PUT");
		take_some();
	}
	take_in_child();
	cpprof_label("verb", NULL);
	cpprof_label("tenant", NULL);
	take_many();
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1000;
	orders = cpprof_resource("orders", "order");
	bytes = cpprof_resource("bytes", "byte");
	static const struct {
		const char *name;
		void (*run)(int rounds);
	} modes[] = { { "threads", run_threads },
		      { "fork", run_fork },
		      { "windows", run_windows },
		      { "flush", run_flush },
		      { "labels", run_labels } };
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[1], modes[i].name) == 0) {
			modes[i].run(rounds);
			return 0;
		}
	work(rounds);
	state((unsigned)rounds);
	return 0;
}
