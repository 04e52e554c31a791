/*
 * Prints what a program inherits from its parent: descriptors, signal mask, ignored signals, environment, folder,
 * limits, umask, nice value. Run alone and under the recorder, it must print the same.
 */
#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burn.h"

extern char **environ;

static void print_descriptors(void)
{
	struct stat status;

	for (int fd = 0; fd < 1024; fd++)
		if (fstat(fd, &status) == 0)
			printf("fd %d mode %o\n", fd, status.st_mode & S_IFMT);
}

static void print_signals(void)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int i = 1; i < 65; i++) {
		struct sigaction action;

		if (sigismember(&mask, i) == 1)
			printf("blocked %d\n", i);
		if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			printf("ignored %d\n", i);
	}
}

int main(void)
{
	char folder[4096];
	struct rlimit limit;

	burn(20000);
	print_descriptors();
	print_signals();
	for (char **variable = environ; *variable; variable++)
		printf("env %s\n", *variable);
	if (getcwd(folder, sizeof(folder)))
		printf("cwd %s\n", folder);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
			printf("limit %d %lu %lu\n", i, (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
	printf("umask %o nice %d\n", umask(0), getpriority(PRIO_PROCESS, 0));
	printf("group %s session %s\n", getpgrp() == getpid() ? "own" : "inherited",
	       getsid(0) == getpid() ? "own" : "inherited");
	return 0;
}
