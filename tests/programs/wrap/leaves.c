/* Calls that do not return: threads are cancelled in them, and a handler jumps out of one. The program's later
 * calls must not be below them. */
#define _GNU_SOURCE
#include <cpprof/profiler.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int ends[2];
static pthread_barrier_t barrier;

__attribute__((noinline)) static void step(void)
{
	CPPROF_FUNCTION;
	__asm__ volatile("");
}

static void cleaned(void *argument)
{
	CPPROF_FUNCTION;
	step();
	(void)argument;
}

static void *reader(void *argument)
{
	CPPROF_FUNCTION;
	char byte;
	pthread_cleanup_push(cleaned, NULL);
	pthread_barrier_wait(&barrier);
	read(ends[0], &byte, 1);
	pthread_cleanup_pop(0);
	return argument;
}

static sigjmp_buf back;

static void jump(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

__attribute__((noinline)) static void interrupted(void)
{
	CPPROF_FUNCTION;
	char byte;
	if (sigsetjmp(back, 1) == 0) {
		ualarm(2000, 0);
		read(ends[0], &byte, 1);
	}
	step();
}

int main(void)
{
	CPPROF_FUNCTION;
	pthread_t id;
	void *result;
	struct sigaction action = { .sa_handler = jump };
	if (pipe(ends) < 0 || sigaction(SIGALRM, &action, NULL) < 0)
		return 1;
	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 5; i++) {
		pthread_create(&id, NULL, reader, NULL);
		pthread_barrier_wait(&barrier);
		pthread_cancel(id);
		pthread_join(id, &result);
		if (result != PTHREAD_CANCELED)
			return 2;
	}
	for (int i = 0; i < 5; i++)
		interrupted();
	return 0;
}
