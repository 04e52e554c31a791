/* Blocks in several threads, in a library that is loaded and unloaded, and in a handler that interrupts them. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 300000 };

static volatile long handled;
static long sums[THREADS];

static void on_alarm(int number)
{
	if (number == SIGALRM)
		handled++; /* in the handler */
}

static void *work(void *argument)
{
	long *sum = argument;
	for (long i = 0; i < ROUNDS; i++)
		if (i % 3 == 0)
			*sum += i; /* in a thread */
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &sums[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static long run_handlers(void)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
	long rounds = 0;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 300)
		rounds++; /* interrupted */
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	return rounds;
}

static int run_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*twice)(int) = library ? (int (*)(int))dlsym(library, "twice") : NULL;
	int result = 0;
	for (int i = 0; twice && i < 7; i++)
		result += twice(i);
	if (library)
		dlclose(library);
	return result;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		run_threads();
	else if (argc > 1 && strcmp(argv[1], "handlers") == 0)
		printf("%ld", run_handlers());
	else if (argc > 2 && strcmp(argv[1], "library") == 0)
		printf("%d", run_library(argv[2]));
	if (handled)
		printf(" %ld\n", handled);
	fflush(stdout);
	if (argc > 3)
		kill(getpid(), SIGKILL);
	return 0;
}
