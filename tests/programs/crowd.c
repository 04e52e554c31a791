/*
 * A busy machine: two processes that compute, and a number of threads (the first argument) that pass bytes to each other
 * through pipes. Prints "ready", and ends with its standard input.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { BUSY = 2, STACK_BYTES = 64 * 1024 };

struct ends {
	int from, to;
};

static void *pass_on(void *context)
{
	const struct ends *ends = context;
	char byte;

	while (read(ends->from, &byte, 1) == 1 && write(ends->to, &byte, 1) == 1)
		;
	return NULL;
}

static void compute(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (volatile unsigned long i = 0; getppid() == parent; i++)
		for (volatile int j = 0; j < 1000000; j++)
			;
	_exit(0);
}

static void start_thread(int from, int to)
{
	pthread_attr_t attributes;
	pthread_t thread;
	struct ends *ends = malloc(sizeof(*ends));

	if (!ends)
		exit(1);
	*ends = (struct ends){ from, to };
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	if (pthread_create(&thread, &attributes, pass_on, ends) != 0)
		exit(1);
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0;
	pid_t self = getpid();
	char byte;

	for (int i = 0; i < BUSY; i++)
		if (fork() == 0)
			compute(self);
	for (int i = 0; i < threads; i += 2) {
		int there[2], back[2];

		if (pipe(there) < 0 || pipe(back) < 0 || write(there[1], "x", 1) != 1)
			return 1;
		start_thread(there[0], back[1]);
		start_thread(back[0], there[1]);
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
