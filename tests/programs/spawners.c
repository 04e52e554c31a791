/*
 * Threads that different functions start. All work is done in threads, whose paths show their creator:
 *   spawners two         two functions start threads with the same body: three times the work below one of them
 *   spawners nested      a worker starts workers itself
 *   spawners detached    detached threads, whose creators have ended when they work
 *   spawners chain       100 threads, each started by the thread before
 *   spawners waiting     threads that only wait until the working threads have ended
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>

#include "burn.h"

enum { CHAIN = 100, UNIT_US = 1000 };

static pthread_t start(void *(*body)(void *), intptr_t argument)
{
	pthread_t id;

	if (pthread_create(&id, NULL, body, (void *)argument))
		exit(1);
	return id;
}

NOINLINE static void work(intptr_t units)
{
	burn((unsigned)units * UNIT_US);
	NOT_A_TAIL_CALL();
}

static void *worker(void *units)
{
	work((intptr_t)units);
	return NULL;
}

NOINLINE static void heavy_spawner(void)
{
	pthread_t first = start(worker, 90), second = start(worker, 90);

	pthread_join(first, NULL);
	pthread_join(second, NULL);
}

NOINLINE static void light_spawner(void)
{
	pthread_join(start(worker, 60), NULL);
	NOT_A_TAIL_CALL();
}

static void two(void)
{
	heavy_spawner();
	light_spawner();
	share("main;heavy_spawner;worker;work", 0.75);
	share("main;light_spawner;worker;work", 0.25);
}

NOINLINE static void inner_spawner(void)
{
	pthread_join(start(worker, 90), NULL);
	NOT_A_TAIL_CALL();
}

static void *outer_worker(void *unused)
{
	work(60);
	inner_spawner();
	return unused;
}

NOINLINE static void outer_spawner(void)
{
	pthread_join(start(outer_worker, 0), NULL);
	NOT_A_TAIL_CALL();
}

static void nested(void)
{
	outer_spawner();
	work(90);
	share("main;outer_spawner;outer_worker;work", 0.625);
	share("main;outer_spawner;outer_worker;inner_spawner;worker;work", 0.375);
	share("main;work", 1.0);
}

static sem_t finished;

static void *last_worker(void *units)
{
	work((intptr_t)units);
	sem_post(&finished);
	return NULL;
}

/* Ends before the thread that it starts has worked. */
static void *short_lived(void *units)
{
	pthread_detach(start(last_worker, (intptr_t)units));
	return NULL;
}

NOINLINE static void detach_heavy(void)
{
	pthread_detach(start(short_lived, 180));
	sem_wait(&finished);
}

NOINLINE static void detach_light(void)
{
	pthread_detach(start(short_lived, 60));
	sem_wait(&finished);
}

static void detached(void)
{
	sem_init(&finished, 0, 0);
	detach_heavy();
	detach_light();
	share("main;detach_heavy;short_lived;last_worker;work", 0.75);
	share("main;detach_light;short_lived;last_worker;work", 0.25);
}

NOINLINE static void *link_of_chain(void *left)
{
	if ((intptr_t)left > 1)
		pthread_join(start(link_of_chain, (intptr_t)left - 1), NULL);
	else
		work(200);
	return NULL;
}

NOINLINE static void start_chain(void)
{
	pthread_join(start(link_of_chain, CHAIN), NULL);
	NOT_A_TAIL_CALL();
}

static void chain(void)
{
	start_chain();
	printf("links %d\n", CHAIN);
}

static void *waiter(void *unused)
{
	sem_wait(&finished);
	return unused;
}

static void waiting(void)
{
	enum { WAITERS = 8 };
	pthread_t waiters[WAITERS];

	sem_init(&finished, 0, 0);
	for (int i = 0; i < WAITERS; i++)
		waiters[i] = start(waiter, 0);
	two();
	for (int i = 0; i < WAITERS; i++)
		sem_post(&finished);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(waiters[i], NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = { { "two", two },
		     { "nested", nested },
		     { "detached", detached },
		     { "chain", chain },
		     { "waiting", waiting } };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (argc > 1 && !strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			return 0;
		}
	return 2;
}
