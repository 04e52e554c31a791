/*
 * `sudden_ending return|_exit|kill|abort|exec|pthread_exit`: allocates and writes, states how much, and ends in
 * that way at once. Its last counts are smaller than any interval.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

enum { CALLS = 1234, BYTES = 321 };

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	int nowhere = open("/dev/null", O_WRONLY);
	char bytes[BYTES] = { 0 };

	for (int i = 0; i < CALLS; i++) {
		free(malloc(BYTES));
		if (write(nowhere, bytes, BYTES) != BYTES)
			return 1;
	}
	amount("allocs", "main", CALLS);
	amount("alloc-bytes", "main", CALLS * BYTES);
	amount("write-bytes", "main", CALLS * BYTES);
	amount("io-calls", "main", CALLS + 1);
	fflush(stdout);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "exec") == 0)
		execlp("true", "true", (char *)NULL);
	if (strcmp(how, "pthread_exit") == 0)
		pthread_exit(NULL);
	return 0;
}
