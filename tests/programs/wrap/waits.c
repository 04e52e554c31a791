/* Waits for known times: 50 ms for a mutex, 40 ms at a condition, 30 ms asleep, three times 10 ms elsewhere; hardly computes. */
#define _GNU_SOURCE
#include <cpprof/profiler.h>
#include <pthread.h>
#include <signal.h>
#include <sys/sem.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;

static void *holder(void *argument)
{
	CPPROF_FUNCTION;
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&barrier);
	usleep(50 * 1000);
	pthread_mutex_unlock(&mutex);
	return argument;
}

/* Each of the three waits takes 10 ms. */
static void rarely(void)
{
	static const struct timespec time = { .tv_nsec = 10 * 1000 * 1000 };
	struct sembuf taken = { .sem_op = -1 };
	sigset_t none;
	int set = semget(IPC_PRIVATE, 1, 0600);
	sigemptyset(&none);
	thrd_sleep(&time, NULL);
	sigtimedwait(&none, NULL, &time);
	semtimedop(set, &taken, 1, &time);
	semctl(set, 0, IPC_RMID);
}

int main(void)
{
	CPPROF_FUNCTION;
	pthread_t id;
	struct timespec until;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&id, NULL, holder, NULL);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutex);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 40 * 1000 * 1000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (pthread_cond_timedwait(&condition, &mutex, &until) == 0)
		;
	pthread_mutex_unlock(&mutex);
	nanosleep(&(struct timespec){ .tv_nsec = 30 * 1000 * 1000 }, NULL);
	rarely();
	return pthread_join(id, NULL);
}
