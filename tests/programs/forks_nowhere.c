/*
 * States how much it is going to allocate, enters a folder and removes it, makes that its root, changes to the user
 * nobody, closes all files, and forks: it, its child and its child's child make the same number of allocations.
 * Exits with status 7 if all of that succeeded.
 */
#include <grp.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

enum { NOBODY = 65534, ROUNDS = 30, DONE = 7 };

NOINLINE static void allocate_there(void)
{
	for (int i = 0; i < ROUNDS; i++)
		free(malloc(100));
	NOT_A_TAIL_CALL();
}

static int go_nowhere(void)
{
	char folder[] = "/tmp/nowhere-XXXXXX";
	return mkdtemp(folder) && chdir(folder) == 0 && rmdir(folder) == 0 && chroot(".") == 0 &&
	       setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
	       setresuid(NOBODY, NOBODY, NOBODY) == 0 && syscall(SYS_close_range, 0, ~0U, 0) == 0;
}

NOINLINE static int in_child(int depth)
{
	int status = 0;
	allocate_there();
	if (depth == 0)
		return DONE;
	pid_t child = fork();
	if (child == 0)
		_exit(in_child(depth - 1));
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(void)
{
	amount("allocs", "allocate_there", 3ULL * ROUNDS);
	fflush(stdout);
	return go_nowhere() ? in_child(2) : 1;
}
