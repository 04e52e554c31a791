/*
 * Toys whose threads wait for each other. Arguments: the toy, and the number of rounds. Each round passes the progress point "round".
 *
 *   serial     one thread: first(3000) and second(1000)
 *   barrier    two threads, long_part(4000) and short_part(2000), which meet at a barrier after each round
 *   lock       two threads that hold one lock in held(2000) and then work without it in apart(500)
 *   pipeline   a thread that makes pieces in make(1000), and one that uses them in use(3000), with a queue of 4 between them
 *   fork       the serial toy in a child process
 *
 * -DFOR_COZ: with Coz's progress points in place of ours.
 * -DFASTER_NAME=N: the function does N percent less work: the optimization that causal predicts.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef FOR_COZ
#include <coz.h>
#define cpprof_progress(name) COZ_PROGRESS_NAMED(name)
#else
#include "../../../include/cpprof/progress.h"
#endif

#ifndef FASTER_first
#define FASTER_first 0
#endif
#ifndef FASTER_long_part
#define FASTER_long_part 0
#endif
#ifndef FASTER_short_part
#define FASTER_short_part 0
#endif
#ifndef FASTER_held
#define FASTER_held 0
#endif
#ifndef FASTER_make
#define FASTER_make 0
#endif
#ifndef FASTER_use
#define FASTER_use 0
#endif

enum { TURNS_PER_US = 1500 };

static volatile unsigned long sink;
static long rounds;

static inline __attribute__((always_inline)) void burn(long us)
{
	unsigned long x = 1;
	for (long i = 0; i < us * TURNS_PER_US; i++)
		__asm__ volatile("" : "+r"(x));
	sink = x;
}

#if defined(__clang__)
#define NOT_INLINED __attribute__((noinline))
#else
#define NOT_INLINED __attribute__((noinline, noclone, no_icf))
#endif

#define PART(name, us)                                     \
	static NOT_INLINED void name(void)                 \
	{                                                  \
		burn((us) * (100 - FASTER_##name) / 100);  \
		__asm__ volatile("# " #name ::: "memory"); \
	}
#ifndef FASTER_second
#define FASTER_second 0
#endif
#define FASTER_apart 0

PART(first, 3000)
PART(second, 1000)
PART(long_part, 4000)
PART(short_part, 2000)
PART(held, 2000)
PART(apart, 500)
PART(make, 1000)
PART(use, 3000)

static void serial(void)
{
	for (long i = 0; i < rounds; i++) {
		first();
		second();
		cpprof_progress("round");
	}
}

static void in_a_child(void)
{
	pid_t child = fork();
	if (child == 0)
		serial();
	else
		waitpid(child, NULL, 0);
}

/* --- two threads --- */

static void in_two_threads(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t threads[2];
	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, other, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static pthread_barrier_t barrier;

static void *takes_long(void *none)
{
	for (long i = 0; i < rounds; i++) {
		long_part();
		pthread_barrier_wait(&barrier);
		cpprof_progress("round");
	}
	return none;
}

static void *is_short(void *none)
{
	for (long i = 0; i < rounds; i++) {
		short_part();
		pthread_barrier_wait(&barrier);
	}
	return none;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *locks(void *none)
{
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		held();
		pthread_mutex_unlock(&mutex);
		apart();
		cpprof_progress("round");
	}
	return none;
}

static sem_t pieces, room;

static void *makes(void *none)
{
	for (long i = 0; i < rounds; i++) {
		make();
		sem_wait(&room);
		sem_post(&pieces);
	}
	return none;
}

static void *uses(void *none)
{
	for (long i = 0; i < rounds; i++) {
		sem_wait(&pieces);
		sem_post(&room);
		use();
		cpprof_progress("round");
	}
	return none;
}

int main(int argc, char **argv)
{
	enum { QUEUE = 4 };
	const char *toy = argc > 1 ? argv[1] : "serial";
	rounds = argc > 2 ? atol(argv[2]) : 1000;
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&pieces, 0, 0);
	sem_init(&room, 0, QUEUE);
	if (strcmp(toy, "serial") == 0)
		serial();
	else if (strcmp(toy, "fork") == 0)
		in_a_child();
	else if (strcmp(toy, "barrier") == 0)
		in_two_threads(takes_long, is_short);
	else if (strcmp(toy, "lock") == 0)
		in_two_threads(locks, locks);
	else if (strcmp(toy, "pipeline") == 0)
		in_two_threads(makes, uses);
	else
		return 1;
	return 0;
}
