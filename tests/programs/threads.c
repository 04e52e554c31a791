/* `threads [COUNT [US]]`: runs COUNT short threads, eight at a time, each of which computes for US microseconds. */
#include <pthread.h>

#include "burn.h"

enum { AT_ONCE = 8 };

static unsigned each_us;

NOINLINE static void short_work(void)
{
	burn(each_us / 4);
	NOT_A_TAIL_CALL();
}

NOINLINE static void long_work(void)
{
	burn(each_us / 4 * 3);
	NOT_A_TAIL_CALL();
}

static void *worker(void *unused)
{
	short_work();
	long_work();
	return unused;
}

int main(int argc, char **argv)
{
	int wanted = rounds_wanted(argc, argv, 200);

	each_us = argc > 2 ? (unsigned)atoi(argv[2]) : 4000;

	for (int started = 0; started < wanted;) {
		pthread_t ids[AT_ONCE];
		int count = 0;

		while (count < AT_ONCE && started < wanted) {
			if (pthread_create(&ids[count], NULL, worker, NULL))
				return 1;
			count++;
			started++;
		}
		while (count > 0)
			pthread_join(ids[--count], NULL);
	}
	printf("threads %d\n", wanted);
	share("worker;short_work", 0.25);
	share("worker;long_work", 0.75);
	return 0;
}
