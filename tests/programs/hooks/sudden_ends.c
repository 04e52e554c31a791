/* Processes that end without exit handlers: killed, by _exit, by abort and by a fault, also in a thread. All calls
 * that they made before must be counted. */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks.h"

static NOINLINE void step(void)
{
	__asm__ volatile("");
}

static NOINLINE void end(int way)
{
	for (int i = 0; i < 100; i++)
		step();
	if (way == 0)
		_exit(0);
	if (way == 1)
		abort();
	if (way == 2)
		*(volatile int *)UNKNOWN(16L) = 1;
	kill(getpid(), SIGKILL);
	pause();
}

static NOINLINE void *end_thread(void *way)
{
	end(*(int *)way);
	return NULL;
}

static NOINLINE void child(int way, int in_thread)
{
	pthread_t thread;
	step();
	if (in_thread && pthread_create(&thread, NULL, end_thread, &way) == 0)
		pause();
	end(way);
}

int main(void)
{
	const struct rlimit none = { 0, 0 };
	setrlimit(RLIMIT_CORE, &none);
	for (int i = 0; i < 8; i++) {
		pid_t pid = fork();
		if (pid == 0)
			child(i / 2, i % 2);
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
	states("child", 8);
	states("end", 8);
	states("end_thread", 4);
	states("step", 8 * 101);
	return 0;
}
