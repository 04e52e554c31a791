/*
 * Two processes pass a byte to and fro through pipes, and wait for each other. Prints how often the kernel
 * switched them.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

NOINLINE static void pass(int in, int out)
{
	char byte = 1;

	if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
		_exit(1);
}

NOINLINE static void ping_pong(int in, int out, int turns)
{
	while (turns-- > 0)
		pass(in, out);
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	int turns = rounds_wanted(argc, argv, 3000);
	int there[2], back[2];
	struct rusage own, other;

	if (pipe(there) || pipe(back))
		return 1;
	pid_t child = fork();
	if (child < 0)
		return 1;
	if (child == 0) {
		ping_pong(there[0], back[1], turns);
		_exit(0);
	}
	ping_pong(back[0], there[1], turns);
	if (waitpid(child, NULL, 0) != child)
		return 1;
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &other);
	printf("switches %ld\n", own.ru_nvcsw + own.ru_nivcsw + other.ru_nvcsw + other.ru_nivcsw);
	return 0;
}
