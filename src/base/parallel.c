#include "base/parallel.h"

#include <pthread.h>

struct call {
	void (*work)(void *item);
	void *item;
	pthread_t thread;
};

static void *start(void *argument)
{
	const struct call *call = argument;
	call->work(call->item);
	return NULL;
}

void parallel_run(void (*work)(void *item), void *items, size_t count, size_t bytes)
{
	struct call calls[PARALLEL_MAX];
	size_t started = 1;
	for (; started < count && started < PARALLEL_MAX; started++) {
		struct call *call = &calls[started];
		*call = (struct call){ .work = work, .item = (char *)items + started * bytes };
		if (pthread_create(&call->thread, NULL, start, call) != 0)
			break;
	}
	if (count > 0)
		work(items);
	for (size_t i = started; i < count; i++)
		work((char *)items + i * bytes);
	for (size_t i = 1; i < started; i++)
		pthread_join(calls[i].thread, NULL);
}
