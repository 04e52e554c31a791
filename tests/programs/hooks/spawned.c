/* posix_spawn, system and popen: processes that begin as a child on a stack of the C library. */
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks.h"

extern char **environ;

static NOINLINE void step(void)
{
	__asm__ volatile("");
}

static NOINLINE void child_works(int count)
{
	for (int i = 0; i < count; i++)
		step();
}

static NOINLINE void spawn(char *path)
{
	char *words[] = { path, "40", NULL };
	pid_t child;
	int status;
	CHECK(posix_spawn(&child, path, NULL, NULL, words, environ) == 0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static NOINLINE void by_shell(const char *path)
{
	char line[4096];
	snprintf(line, sizeof(line), "exec %s 60", path);
	CHECK(system(line) == 0);
	FILE *pipe = popen(line, "r");
	CHECK(pipe != NULL && pclose(pipe) == 0);
}

int main(int count, char **words)
{
	if (count > 1) {
		child_works(atoi(words[1]));
		return 0;
	}
	spawn(words[0]);
	by_shell(words[0]);
	spawn(words[0]);
	return 0;
}
