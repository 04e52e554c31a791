/*
 * `again TIMES STATUS PROGRAM [ARG...]` runs a program TIMES times, two at a time. STATUS is the expected exit
 * status, or, if negative, the signal that must kill it. Prints how many ended so, the status of the others, and
 * on standard error the CPU time of all, in us. An alarm ends a program that hangs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 2, HANGS_AFTER_S = 100 };

static void start(char **command)
{
	pid_t child = fork();

	if (child < 0) {
		perror("again: fork");
		exit(1);
	}
	if (child)
		return;
	alarm(HANGS_AFTER_S);
	execv(command[0], command);
	perror(command[0]);
	_exit(127);
}

/* In the form of STATUS on the command line. */
static int ended_with(int status)
{
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static long long us(struct timeval time)
{
	return time.tv_sec * 1000000ll + time.tv_usec;
}

static long long used_us(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return us(used.ru_utime) + us(used.ru_stime);
}

int main(int argc, char **argv)
{
	int times = argc > 3 ? atoi(argv[1]) : 0, wanted = argc > 3 ? atoi(argv[2]) : 0, started = 0, well = 0, status;

	for (int ended = 0; ended < times; ended++) {
		while (started < times && started - ended < AT_ONCE) {
			start(argv + 3);
			started++;
		}
		if (wait(&status) < 0) {
			perror("again: wait");
			return 1;
		}
		if (ended_with(status) == wanted)
			well++;
		else
			dprintf(STDOUT_FILENO, "ended with %d, not %d\n", ended_with(status), wanted);
	}
	dprintf(STDOUT_FILENO, "%d of %d well\n", well, times);
	/* Includes its own time: the kernel spends much time for a process that waits for one that others inspect
	 * in /proc. */
	dprintf(STDERR_FILENO, "used %lld us\n", used_us(RUSAGE_SELF) + used_us(RUSAGE_CHILDREN));
	return well != times;
}
