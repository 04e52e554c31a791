/*
 * `waits [SCALE]`: one thread each that sleeps, waits for a lock, waits for a pipe, computes between short sleeps,
 * and waits until the program ends. Each measures its wait, in us. SCALE multiplies all times (default 1).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

enum { TURNS = 10, SLEEP_US = 15000, LOCKED_US = 25000, LATE_US = 20000, COMPUTE_US = 5000, NAP_US = 10000 };

static unsigned scale;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t turn;
static int pipe_ends[2];

static unsigned long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
}

static void sleep_us(unsigned us)
{
	struct timespec wanted = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000l };

	nanosleep(&wanted, NULL);
}

static unsigned long long slept_us, locked_us, read_us, napped_us, computed_us;

NOINLINE static void take_lock(void)
{
	unsigned long long start = now_us();

	pthread_mutex_lock(&lock);
	locked_us += now_us() - start;
	pthread_mutex_unlock(&lock);
}

NOINLINE static void read_late(void)
{
	unsigned long long start = now_us();
	char byte;

	if (read(pipe_ends[0], &byte, 1) != 1)
		exit(1);
	read_us += now_us() - start;
}

NOINLINE static void nap(void)
{
	unsigned long long start = now_us();

	sleep_us(NAP_US * scale);
	napped_us += now_us() - start;
}

NOINLINE static void compute(void)
{
	unsigned long long start = now_us(), end;

	while ((end = now_us()) < start + COMPUTE_US * scale)
		burn(20);
	computed_us += end - start;
}

NOINLINE static void sleep_long(void)
{
	unsigned long long start = now_us();

	sleep_us(SLEEP_US * scale);
	slept_us += now_us() - start;
}

static void *sleeper(void *unused)
{
	for (int i = 0; i < TURNS; i++)
		sleep_long();
	return unused;
}

static void *lock_waiter(void *unused)
{
	for (int i = 0; i < TURNS; i++) {
		pthread_barrier_wait(&turn); /* the other thread has the lock */
		take_lock();
		pthread_barrier_wait(&turn);
	}
	return unused;
}

static void *reader(void *unused)
{
	for (int i = 0; i < TURNS; i++)
		read_late();
	return unused;
}

static void *napping_worker(void *unused)
{
	for (int i = 0; i < TURNS; i++) {
		compute();
		nap();
	}
	return unused;
}

/* Still waits when the program ends. */
static void *waits_on(void *unused)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&own);
	for (;;)
		pthread_cond_wait(&never, &own);
	return unused;
}

static void *late_writer(void *unused)
{
	for (int i = 0; i < TURNS; i++) {
		sleep_us(LATE_US * scale);
		if (write(pipe_ends[1], "", 1) != 1)
			exit(1);
	}
	return unused;
}

NOINLINE static void hold_lock(void)
{
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&lock);
		pthread_barrier_wait(&turn);
		sleep_us(LOCKED_US * scale);
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&turn);
	}
}

static void state(const char *path, unsigned long long waited_us, const char *kind)
{
	amount("real", path, waited_us);
	amount("blocked", path, waited_us);
	if (kind)
		amount(kind, path, waited_us);
}

int main(int argc, char **argv)
{
	static void *(*const bodies[])(void *) = { sleeper, lock_waiter, reader, late_writer, napping_worker };
	enum { JOINED = sizeof(bodies) / sizeof(bodies[0]) };
	pthread_t ids[JOINED], id;
	unsigned long long start = now_us();

	scale = (unsigned)rounds_wanted(argc, argv, 1);
	if (pipe(pipe_ends) || pthread_barrier_init(&turn, NULL, 2) || pthread_create(&id, NULL, waits_on, NULL))
		return 1;
	for (int i = 0; i < JOINED; i++)
		if (pthread_create(&ids[i], NULL, bodies[i], NULL))
			return 1;
	hold_lock();
	for (int i = 0; i < JOINED; i++)
		pthread_join(ids[i], NULL);
	state("sleeper;sleep_long", slept_us, NULL);
	state("lock_waiter;take_lock", locked_us, "lock-wait");
	state("reader;read_late", read_us, "io-time");
	state("napping_worker;nap", napped_us, NULL);
	amount("real", "napping_worker;compute", computed_us);
	state("waits_on", now_us() - start, "lock-wait");
	return 0;
}
