/* Children and their children, which continue within the parent's active calls and end in several ways, beside
 * other threads. Each process counts its own calls. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "hooks.h"

static NOINLINE void step(void)
{
	__asm__ volatile("");
}

static NOINLINE void steps(int count)
{
	for (int i = 0; i < count; i++)
		step();
}

static NOINLINE void end(int way)
{
	steps(3);
	if (way == 0)
		exit(0);
	if (way == 1)
		_exit(0);
}

static NOINLINE void wait_for(pid_t child)
{
	int status;
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static NOINLINE void fork_tree(int depth, int way)
{
	steps(10);
	if (depth == 0)
		return;
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		CALLGRIND_ZERO_STATS;
		fork_tree(depth - 1, way);
		end(way);
	}
	wait_for(child);
	fork_tree(depth - 1, way);
}

static NOINLINE void *beside(void *argument)
{
	steps(1000);
	fork_tree(1, 1);
	return argument;
}

int main(void)
{
	pthread_t thread;
	fork_tree(3, 0);
	fork_tree(2, 1);
	CHECK(pthread_create(&thread, NULL, beside, NULL) == 0);
	pthread_join(thread, NULL);
	steps(7);
	return 0;
}
