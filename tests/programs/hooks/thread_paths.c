/* Threads that are created after a function has returned, that fork, and that end below their first function. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks.h"

#define OUTSIDE __attribute__((no_instrument_function, noinline))

static pthread_key_t key;
static volatile int leaves;

static NOINLINE void leaf(void)
{
	leaves++;
}

static NOINLINE void at_end(void *value)
{
	(void)value;
	leaf();
	__asm__ volatile("");
}

static NOINLINE void forks(void)
{
	pid_t child = fork();
	if (child == 0) {
		leaf();
		_exit(0);
	}
	int status = 1;
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static NOINLINE void ends(int depth)
{
	if (depth == 0)
		pthread_exit(NULL);
	ends(depth - 1);
	__asm__ volatile("");
}

static void *thread(void *nothing)
{
	CHECK(pthread_setspecific(key, (void *)1) == 0);
	forks();
	ends(2);
	return nothing;
}

/* Has no hook: only the stack shows which functions are active when it creates the thread. */
static OUTSIDE void create(void)
{
	pthread_t id;
	CHECK(pthread_create(&id, NULL, thread, NULL) == 0 && pthread_join(id, NULL) == 0);
}

static NOINLINE void again(int depth)
{
	if (depth > 0)
		again(depth - 1);
	create();
	__asm__ volatile("");
}

int main(void)
{
	CHECK(pthread_key_create(&key, at_end) == 0);
	again(1);
	CHECK(leaves == 2);
	return 0;
}
