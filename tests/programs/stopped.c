/* `stopped MS`: stops itself, and a child lets it continue that many ms later. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

static int is_stopped(int pid)
{
	char path[64], line[256] = "";
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *file = fopen(path, "r");
	const char *state = file && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (file)
		fclose(file);
	return state && state[1] && state[2] == 'T';
}

NOINLINE static void stop(int pid)
{
	kill(pid, SIGSTOP);
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	int ms = argc > 1 ? atoi(argv[1]) : 0, pid = getpid();
	burn(20 * 1000);
	int child = fork();
	if (child == 0) {
		while (!is_stopped(pid))
			usleep(1000);
		usleep((unsigned)ms * 1000);
		kill(pid, SIGCONT);
		_exit(0);
	}
	stop(pid);
	burn(20 * 1000);
	waitpid(child, NULL, 0);
	return 0;
}
