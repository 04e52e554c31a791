/* A chain of processes, each the child of the process before. Each uses the same CPU time and prints its PID. */
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

NOINLINE static void even_generation(void)
{
	burn(20000);
	NOT_A_TAIL_CALL();
}

NOINLINE static void odd_generation(void)
{
	burn(20000);
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	int generations = rounds_wanted(argc, argv, 12);
	int generation = 0;

	for (;;) {
		if (generation % 2)
			odd_generation();
		else
			even_generation();
		dprintf(STDOUT_FILENO, "process %d\n", (int)getpid());
		if (++generation == generations)
			return 0;
		pid_t child = fork();
		if (child < 0)
			return 1;
		if (child > 0) {
			int status;

			if (waitpid(child, &status, 0) != child)
				return 1;
			if (generation == 1) {
				share("main;even_generation", 0.5);
				share("main;odd_generation", 0.5);
				fflush(stdout);
			}
			_exit(status != 0);
		}
	}
}
