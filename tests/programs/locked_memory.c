/*
 * Locks its present and future memory, starts threads afterwards, and prints the KB that are locked and mapped.
 * Arguments: "syscall" locks without the C library's function, "current" only the present memory, and ends.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burn.h"

enum { THREADS = 4 };

static void *work(void *barrier)
{
	burn(20000);
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

static void print_sizes(const char *prefix)
{
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "VmLck:", 6) == 0 || strncmp(line, "VmSize:", 7) == 0)
			printf("%s %s", prefix, line);
	if (status)
		fclose(status);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	pthread_barrier_t barrier;
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	if (argc > 1 && strcmp(argv[1], "current") == 0) {
		long locked = mlockall(MCL_CURRENT);
		perror("mlockall");
		print_sizes("first");
		return locked < 0;
	}
	bool directly = argc > 1 && strcmp(argv[1], "syscall") == 0;
	long result = directly ? syscall(SYS_mlockall, MCL_CURRENT | MCL_FUTURE) : mlockall(MCL_CURRENT | MCL_FUTURE);
	if (result < 0) {
		perror("mlockall");
		return 1;
	}
	print_sizes("first");
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, &barrier) != 0)
			return 2;
	pthread_barrier_wait(&barrier);
	print_sizes("threads");
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
