/* vfork: the child runs on the parent's stack and memory until it executes another program, and calls functions
 * before that. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "hooks.h"

static NOINLINE void step(void)
{
	__asm__ volatile("");
}

static NOINLINE void become(const char *path)
{
	step();
	step();
	CALLGRIND_DUMP_STATS;
	execl(path, path, "child", (char *)NULL);
	_exit(4);
}

static NOINLINE void second_life(void)
{
	for (volatile int i = 0; i < 10; i++)
		step();
}

static NOINLINE void wait_for(pid_t child)
{
	int status;
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	step();
}

int main(int count, char **words)
{
	if (count > 1) {
		second_life();
		return 0;
	}
	for (volatile int i = 0; i < 3; i++) {
		pid_t child = vfork();
		if (child == 0) {
			CALLGRIND_ZERO_STATS;
			become(words[0]);
		}
		wait_for(child);
	}
	for (volatile int i = 0; i < 2; i++) {
		pid_t child = vfork();
		if (child == 0) {
			CALLGRIND_ZERO_STATS;
			_exit(0);
		}
		wait_for(child);
	}
	return 0;
}
