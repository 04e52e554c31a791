/*
 * Threads that end by return, by pthread_exit, by cancellation in a read, and one of C11. Each allocates, reads
 * and writes, in its function and in what is called when it ends.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <threads.h>
#include <unistd.h>

#include "burn.h"

enum { ROUNDS = 10, BYTES = 50, AT_END = 30 };

static int files[2], never[2];
static pthread_key_t key;
static pthread_barrier_t together;

NOINLINE static void work(void)
{
	char bytes[BYTES] = { 0 };

	free(malloc(BYTES));
	if (read(files[0], bytes, BYTES) != BYTES || write(files[1], bytes, BYTES) != BYTES)
		exit(1);
}

/* Runs several times: sets the key again, so that the C library calls it once more. */
NOINLINE static void destroy(void *round)
{
	free(malloc(AT_END));
	if (round < (void *)3)
		pthread_setspecific(key, (char *)round + 1);
}

NOINLINE static void clean_up(void *unused)
{
	(void)unused;
	free(malloc(AT_END));
}

NOINLINE static void *returns(void *unused)
{
	pthread_setname_np(pthread_self(), "by_itself");
	pthread_setspecific(key, (void *)1);
	work();
	return unused;
}

NOINLINE static void *exits(void *unused)
{
	prctl(PR_SET_NAME, "by_prctl");
	pthread_setspecific(key, (void *)1);
	work();
	pthread_exit(unused);
}

NOINLINE static void *is_cancelled(void *unused)
{
	char byte;

	pthread_setspecific(key, (void *)1);
	pthread_cleanup_push(clean_up, NULL);
	work();
	pthread_barrier_wait(&together);
	if (read(never[0], &byte, 1) >= 0)
		exit(1);
	pthread_cleanup_pop(0);
	return unused;
}

NOINLINE static int of_c11(void *unused)
{
	(void)unused;
	pthread_setspecific(key, (void *)1);
	work();
	return -5;
}

static void state(const char *path, unsigned ends)
{
	amount("alloc-bytes", path, ROUNDS * (BYTES + ends * AT_END));
	amount("read-bytes", path, ROUNDS * BYTES);
	amount("write-bytes", path, ROUNDS * BYTES);
}

int main(void)
{
	void *result;

	files[0] = open("/dev/zero", O_RDONLY);
	files[1] = open("/dev/null", O_WRONLY);
	if (pipe(never) || pthread_key_create(&key, destroy) || pthread_barrier_init(&together, NULL, 2))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t id;
		thrd_t other;
		int number;

		if (pthread_create(&id, NULL, returns, &id) || pthread_join(id, &result) || result != &id ||
		    pthread_create(&id, NULL, exits, &key) || pthread_join(id, &result) || result != &key ||
		    pthread_create(&id, NULL, is_cancelled, NULL))
			return 1;
		pthread_setname_np(id, "by_another");
		pthread_barrier_wait(&together);
		if (pthread_cancel(id) || pthread_join(id, &result) || result != PTHREAD_CANCELED ||
		    thrd_create(&other, of_c11, NULL) != thrd_success || thrd_join(other, &number) != thrd_success ||
		    number != -5)
			return 1;
	}
	state("returns;work", 0);
	state("exits;work", 0);
	state("is_cancelled;work", 0);
	state("of_c11;work", 0);
	amount("alloc-bytes", "destroy", 4 * ROUNDS * 3 * AT_END);
	amount("alloc-bytes", "clean_up", ROUNDS * AT_END);
	return 0;
}
