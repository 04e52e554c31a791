/* Many threads that live for a moment, eight at a time; `threads [COUNT]`. */
#include <pthread.h>

#include "burn.h"

enum { AT_ONCE = 8 };

NOINLINE static void short_work(void)
{
	burn(500);
	NOT_A_TAIL_CALL();
}

NOINLINE static void long_work(void)
{
	burn(1500);
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
