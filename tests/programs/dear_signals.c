/*
 * Runs a program on which signals are dear: a tracer stops it at each signal and lets it go on after a time. Only
 * the program's first thread is traced.
 *
 *   dear_signals MICROSECONDS PROGRAM ARGUMENT...
 *
 * Ends as the program does; with status 77 if tracing is not permitted.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REFUSED = 77, FAILED = 76, MICROSECOND = 1000, EVENT_SHIFT = 16 };

static long now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void pass_time(long ns)
{
	for (long end = now_ns() + ns; now_ns() < end;)
		;
}

static int wait_for(pid_t child)
{
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			exit(FAILED);
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return FAILED;
	long ns = strtol(argv[1], NULL, 10) * MICROSECOND;
	pid_t child = fork();
	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(REFUSED);
		raise(SIGSTOP);
		execvp(argv[2], argv + 2);
		_exit(FAILED);
	}
	long stops = 0;
	int status = wait_for(child);
	for (; WIFSTOPPED(status); status = wait_for(child)) {
		int number = WSTOPSIG(status);
		if (number == SIGSTOP)
			ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(long)(PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL));
		if (number == SIGSTOP || status >> EVENT_SHIFT) /* ours, or exec */
			number = 0;
		stops += number != 0;
		pass_time(number ? ns : 0);
		ptrace(PTRACE_CONT, child, NULL, (void *)(long)number);
	}
	fprintf(stderr, "dear_signals: %ld signals\n", stops);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
