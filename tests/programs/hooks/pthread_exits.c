/* Threads that end within active calls: by pthread_exit, by cancellation, with clean-up handlers. main ends in
 * this way too, while another thread continues. */
#include <pthread.h>
#include <unistd.h>

#include "hooks.h"

enum { THREADS = 8 };

static int cleaned;
static pthread_t main_thread;

static NOINLINE void clean_up(void *argument)
{
	(void)argument;
	__atomic_fetch_add(&cleaned, 1, __ATOMIC_RELAXED);
}

static NOINLINE void leave(int depth)
{
	if (depth == 0)
		pthread_exit(NULL);
	leave(depth - 1);
	abort();
}

static NOINLINE void wait_for_cancel(int *pipe)
{
	char byte;
	ssize_t got = read(pipe[0], &byte, 1);
	CHECK(got != 1);
}

static NOINLINE void *exiting(void *argument)
{
	pthread_cleanup_push(clean_up, NULL);
	leave((int)(long)argument);
	pthread_cleanup_pop(0);
	return NULL;
}

static NOINLINE void *cancelled(void *pipe)
{
	pthread_cleanup_push(clean_up, NULL);
	wait_for_cancel(pipe);
	pthread_cleanup_pop(0);
	return NULL;
}

static NOINLINE void step(void)
{
	__asm__ volatile("");
}

static NOINLINE void *surviving(void *argument)
{
	pthread_join(main_thread, NULL);
	for (int i = 0; i < 100; i++)
		step();
	CHECK(cleaned == 2 * THREADS);
	return argument;
}

int main(void)
{
	int pipes[2];
	pthread_t thread;
	main_thread = pthread_self();
	CHECK(pipe(pipes) == 0);
	for (long i = 0; i < THREADS; i++) {
		CHECK(pthread_create(&thread, NULL, exiting, (void *)i) == 0);
		pthread_join(thread, NULL);
		CHECK(pthread_create(&thread, NULL, cancelled, pipes) == 0);
		/* The thread enters its functions before their first cancellation point, so they are counted
		 * wherever it is cancelled. */
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	CHECK(pthread_create(&thread, NULL, surviving, NULL) == 0);
	leave(3);
	return 1;
}
