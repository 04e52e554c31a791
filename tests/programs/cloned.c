/*
 * Starts processes by clone(2) with a stack of their own, and by fork, which copies the creator's stack; each uses the
 * same CPU time. The processes of clone begin at `cloned`, the processes of fork go on below `forks`.
 */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

enum { PROCESSES = 4, STACK_BYTES = 256 * 1024, LENGTH = 40000 };

static char stack[STACK_BYTES] __attribute__((aligned(16)));

NOINLINE static void in_clone(void)
{
	burn(LENGTH);
	NOT_A_TAIL_CALL();
}

NOINLINE static void in_fork(void)
{
	burn(LENGTH);
	NOT_A_TAIL_CALL();
}

NOINLINE static int cloned(void *unused)
{
	(void)unused;
	in_clone();
	return 0;
}

NOINLINE static void clones(void)
{
	int pid = clone(cloned, stack + STACK_BYTES, SIGCHLD, NULL);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		exit(1);
}

NOINLINE static void forks(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		in_fork();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		exit(1);
}

int main(void)
{
	for (int i = 0; i < PROCESSES; i++) {
		clones();
		forks();
	}
	share("main;clones;cloned;in_clone;burn", 0.5);
	share("main;forks;in_fork;burn", 0.5);
	return 0;
}
