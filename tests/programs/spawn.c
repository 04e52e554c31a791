/*
 * Uses CPU time in the parent, then in a child that executes this file again: `spawn vfork`, `spawn posix_spawn`
 * or `spawn fork`. An argument selects the child's behaviour in `main`.
 */
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

extern char **environ;

NOINLINE static void parent_work(void)
{
	burn(100000);
	NOT_A_TAIL_CALL();
}

NOINLINE static void child_work(void)
{
	burn(300000);
	NOT_A_TAIL_CALL();
}

static pid_t start(const char *how, char *const args[])
{
	pid_t child = -1;

	if (!strcmp(how, "posix_spawn"))
		return posix_spawn(&child, "/proc/self/exe", NULL, NULL, args, environ) ? -1 : child;
	child = !strcmp(how, "vfork") ? vfork() : fork();
	if (child == 0) {
		execv("/proc/self/exe", args);
		_exit(127);
	}
	return child;
}

int main(int argc, char **argv)
{
	char child_word[] = "child";
	char *args[] = { argv[0], child_word, NULL };
	int status;

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "child")) {
		child_work();
		return 7;
	}
	parent_work();
	pid_t child = start(argv[1], args);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
		return 1;
	share("main;parent_work", 0.25);
	share("main;child_work", 0.75);
	return 0;
}
