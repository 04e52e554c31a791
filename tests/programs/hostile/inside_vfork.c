/* vfork, with work before the child ends or executes another program, and posix_spawn: statuses and memory must be
 * right. */
#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

#include "moment.h"

extern char **environ;

static int wait_for(pid_t child)
{
	int status;

	CHECK(child > 0);
	while (waitpid(child, &status, 0) < 0)
		CHECK(errno == EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

NOINLINE static pid_t vfork_and_end(volatile int *shared)
{
	pid_t child = vfork();

	if (child == 0) {
		burn(100);
		*shared = 5;
		_exit(3);
	}
	return child;
}

NOINLINE static pid_t vfork_and_execute(char **command)
{
	pid_t child = vfork();

	if (child == 0) {
		burn(100);
		execve(command[0], command, environ);
		_exit(127);
	}
	return child;
}

int main(int argc, char **argv)
{
	char again[] = "again";
	char *command[] = { argv[0], again, NULL };
	pid_t child;

	if (argc > 1) {
		burn(500);
		return 4;
	}
	while (moment_goes_on(2)) {
		volatile int shared = 1;

		CHECK(wait_for(vfork_and_end(&shared)) == 3 && shared == 5);
		CHECK(wait_for(vfork_and_execute(command)) == 4);
		CHECK(posix_spawn(&child, argv[0], NULL, NULL, command, environ) == 0);
		CHECK(wait_for(child) == 4);
		CHECK(posix_spawn(&child, "/nonexistent/program", NULL, NULL, command, environ) == ENOENT);
		CHECK(system("exit 6") == 6 << 8);
		burn(500);
	}
	return moment_ends("each child ended well\n");
}
