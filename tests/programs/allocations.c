/*
 * `allocations [ROUNDS [THREADS]]`: allocates by each function of the malloc family, three times as often below
 * one caller as below the other, in the first thread and in others. Some of these functions call one another
 * inside the C library, but each call by the program is one allocation.
 */
#include <malloc.h>
#include <pthread.h>

#include "burn.h"

enum { KINDS = 9 };
static const unsigned long long BYTES = 100 + 3 * 40 + 500 + 70 + 48 + 8192 + 640 + 24 + 77;

static unsigned rounds;

static void *kept(void *memory)
{
	if (!memory)
		exit(1);
	*(volatile char *)memory = 1;
	return memory;
}

NOINLINE static void allocate_all(void)
{
	void *aligned;

	void *grown = kept(malloc(100));
	free(kept(calloc(3, 40)));
	free(kept(realloc(grown, 500)));
	free(kept(realloc(NULL, 70)));
	if (posix_memalign(&aligned, 16, 48)) /* no more than malloc's own alignment */
		exit(1);
	free(kept(aligned));
	if (posix_memalign(&aligned, 4096, 8192))
		exit(1);
	free(kept(aligned));
	free(kept(aligned_alloc(64, 640)));
	free(kept(memalign(8, 24)));
	free(kept(malloc(77)));
}

NOINLINE static void heavy(void)
{
	for (unsigned i = 0; i < 3 * rounds; i++)
		allocate_all();
}

NOINLINE static void light(void)
{
	for (unsigned i = 0; i < rounds; i++)
		allocate_all();
}

static void *worker(void *unused)
{
	heavy();
	light();
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t ids[16];

	rounds = (unsigned)rounds_wanted(argc, argv, 10);
	for (int i = 0; i < threads && i < 16; i++)
		if (pthread_create(&ids[i], NULL, worker, NULL))
			return 1;
	heavy();
	light();
	for (int i = 0; i < threads && i < 16; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < 2; i++) {
		const char *path = i == 0 ? "heavy;allocate_all" : "light;allocate_all";
		unsigned long long calls = (i == 0 ? 3ull : 1ull) * rounds * (1ull + (unsigned)threads);

		amount("allocs", path, KINDS * calls);
		amount("alloc-bytes", path, BYTES * calls);
	}
	share("heavy", 0.75);
	share("light", 0.25);
	return 0;
}
