/* Sets errno, works, and must find it unchanged; in two threads. */
#include <errno.h>
#include <pthread.h>

#include "moment.h"

enum { ROUNDS = 20000 };

static void *work(void *unused)
{
	for (int i = 1; i <= ROUNDS; i++) {
		errno = i;
		for (int turn = 0; turn < 200; turn++)
			__asm__ volatile("" ::: "memory");
		CHECK(errno == i);
		if (i % 100 == 0) {
			burn(20);
			CHECK(errno == i);
			free(malloc(100));
			CHECK(errno == i);
			CHECK(close(-1) < 0 && errno == EBADF);
		}
	}
	return unused;
}

int main(void)
{
	pthread_t other;

	CHECK(pthread_create(&other, NULL, work, NULL) == 0);
	work(NULL);
	CHECK(pthread_join(other, NULL) == 0);
	return moment_ends("errno was kept\n");
}
