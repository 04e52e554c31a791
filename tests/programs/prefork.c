/*
 * A server with processes of its own, which runs until its standard input ends: a child and a grandchild that compute
 * from the beginning, and one child after the other that computes for a moment. The server itself only waits. Prints
 * "ready" when the first two run, and "later" and the time of its start when one of the others has ended.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

static int ready[2];

static void run_until_killed(void (*duty)(void))
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(ready[1], "r", 1) != 1)
		_exit(1);
	for (;;)
		duty();
}

NOINLINE static void grandchild_duty(void)
{
	burn(200);
	NOT_A_TAIL_CALL();
}

NOINLINE static void child_duty(void)
{
	burn(200);
	NOT_A_TAIL_CALL();
}

NOINLINE static void later_duty(void)
{
	burn(20000);
	NOT_A_TAIL_CALL();
}

int main(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;
	if (pipe(ready) < 0)
		return 1;
	pid_t child = fork();
	if (child == 0) {
		if (fork() == 0)
			run_until_killed(grandchild_duty);
		run_until_killed(child_duty);
	}
	if (read(ready[0], &byte, 1) != 1 || read(ready[0], &byte, 1) != 1)
		return 1;
	dprintf(STDOUT_FILENO, "ready\n");
	while (poll(&input, 1, 10) == 0) {
		struct timespec start;
		clock_gettime(CLOCK_MONOTONIC, &start);
		pid_t later = fork();
		if (later == 0) {
			later_duty();
			_exit(0);
		}
		waitpid(later, NULL, 0);
		dprintf(STDOUT_FILENO, "later %lld\n", start.tv_sec * 1000000000LL + start.tv_nsec);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
