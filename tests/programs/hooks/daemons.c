/* A process that leaves its terminal, its parent and its directory by daemon(), and continues to work. */
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "hooks.h"

static NOINLINE void step(void)
{
	__asm__ volatile("");
}

static NOINLINE void serve(int count)
{
	for (int i = 0; i < count; i++)
		step();
}

static NOINLINE void become_daemon(int parent)
{
	step();
	CHECK(daemon(0, 0) == 0);
	CALLGRIND_ZERO_STATS;
	serve(500);
	CHECK(write(parent, "x", 1) == 1);
}

int main(void)
{
	int pipes[2];
	char byte;
	CHECK(pipe(pipes) == 0);
	pid_t child = fork();
	if (child == 0) {
		CALLGRIND_ZERO_STATS;
		close(pipes[0]);
		become_daemon(pipes[1]);
		return 0;
	}
	close(pipes[1]);
	serve(20);
	/* Waits until the daemon has served, and then until it has ended. */
	CHECK(read(pipes[0], &byte, 1) == 1);
	CHECK(read(pipes[0], &byte, 1) == 0);
	CHECK(waitpid(child, NULL, 0) == child);
	return 0;
}
