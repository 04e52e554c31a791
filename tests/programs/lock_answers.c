/* Prints what the functions of each kind of lock return, in each state. `uncontended` takes only free locks. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

static struct timespec soon(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_nsec += 20 * 1000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_nsec -= 1000000000;
		time.tv_sec++;
	}
	return time;
}

static void say(const char *what, int result)
{
	printf("%s %d\n", what, result);
}

static pthread_mutex_t *of_kind(int kind, int robust)
{
	static pthread_mutex_t mutexes[8];
	static int count;
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, kind);
	pthread_mutexattr_setrobust(&attributes, robust);
	pthread_mutex_init(&mutexes[count], &attributes);
	return &mutexes[count++];
}

static void *holds(void *mutex)
{
	pthread_mutex_lock(mutex);
	return NULL;
}

static void mutexes(void)
{
	struct timespec time = soon(CLOCK_REALTIME), other = soon(CLOCK_MONOTONIC), wrong = { 0, -1 };
	pthread_mutex_t *checked = of_kind(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
	pthread_mutex_t *again = of_kind(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
	pthread_mutex_t *robust = of_kind(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_t *plain = of_kind(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
	pthread_t id;

	say("checked", pthread_mutex_lock(checked));
	say("checked again", pthread_mutex_lock(checked));
	say("recursive", pthread_mutex_lock(again));
	say("recursive again", pthread_mutex_lock(again));
	pthread_create(&id, NULL, holds, robust);
	pthread_join(id, NULL);
	say("robust", pthread_mutex_lock(robust));
	say("consistent", pthread_mutex_consistent(robust));
	say("unlock", pthread_mutex_unlock(robust));
	say("plain", pthread_mutex_lock(plain));
	say("timed", pthread_mutex_timedlock(plain, &time));
	say("clock", pthread_mutex_clocklock(plain, CLOCK_MONOTONIC, &other));
	say("wrong time", pthread_mutex_timedlock(plain, &wrong));
}

static void readers_and_writers(void)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	struct timespec time = soon(CLOCK_REALTIME), other = soon(CLOCK_MONOTONIC);

	say("read", pthread_rwlock_rdlock(&lock));
	say("read too", pthread_rwlock_rdlock(&lock));
	say("write in time", pthread_rwlock_timedwrlock(&lock, &time));
	say("write by clock", pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &other));
	pthread_rwlock_unlock(&lock);
	pthread_rwlock_unlock(&lock);
	say("write", pthread_rwlock_wrlock(&lock));
	say("write again", pthread_rwlock_wrlock(&lock));
	say("read below", pthread_rwlock_rdlock(&lock));
}

static void others(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec time = soon(CLOCK_REALTIME), other;
	sem_t semaphore;
	mtx_t timed;

	pthread_mutex_lock(&mutex);
	say("condition", pthread_cond_timedwait(&condition, &mutex, &time));
	other = soon(CLOCK_MONOTONIC);
	say("condition by clock", pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &other));
	sem_init(&semaphore, 0, 1);
	errno = 77;
	say("semaphore", sem_wait(&semaphore));
	say("errno", errno);
	time = soon(CLOCK_REALTIME);
	say("semaphore in time", sem_timedwait(&semaphore, &time));
	say("errno", errno == ETIMEDOUT);
	mtx_init(&timed, mtx_timed);
	time = soon(CLOCK_REALTIME);
	say("C11", mtx_lock(&timed));
	say("C11 in time", mtx_timedlock(&timed, &time) == thrd_timedout);
}

NOINLINE static void uncontended(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		pthread_rwlock_rdlock(&lock);
		pthread_rwlock_unlock(&lock);
	}
}

/* This thread is cancelled while it waits. Its cleanup handler must own the mutex. */
static pthread_mutex_t cancelled_mutex = PTHREAD_MUTEX_INITIALIZER;

static void has_mutex(void *unused)
{
	(void)unused;
	say("cancelled", pthread_mutex_unlock(&cancelled_mutex));
}

static void *waits(void *condition)
{
	pthread_mutex_lock(&cancelled_mutex);
	pthread_cleanup_push(has_mutex, NULL);
	for (;;)
		pthread_cond_wait(condition, &cancelled_mutex);
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	pthread_t id;
	void *result;

	mutexes();
	readers_and_writers();
	others();
	uncontended();
	if (pthread_create(&id, NULL, waits, &condition))
		return 1;
	usleep(20000);
	pthread_cancel(id);
	say("join", pthread_join(id, &result));
	say("was cancelled", result == PTHREAD_CANCELED);
	return 0;
}
