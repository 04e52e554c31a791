/* Short-lived threads that are joined, detached, cancelled, or end by pthread_exit; each has data of its own with
 * a destructor. */
#include <pthread.h>
#include <stdatomic.h>

#include "moment.h"

enum { AT_ONCE = 4 };

static pthread_key_t key;
static atomic_int destroyed, detached_ended, cleaned;
static _Thread_local int own = 7;

static void destroy(void *value)
{
	burn(5);
	free(value);
	atomic_fetch_add(&destroyed, 1);
}

static void clean(void *unused)
{
	(void)unused;
	burn(5);
	atomic_fetch_add(&cleaned, 1);
}

static void *joined(void *argument)
{
	CHECK(own == 7 && pthread_setspecific(key, malloc(10)) == 0);
	own = (int)(intptr_t)argument;
	burn(100);
	CHECK(own == (int)(intptr_t)argument);
	if (own % 2)
		pthread_exit((void *)((intptr_t)argument + 1));
	return (void *)((intptr_t)argument + 1);
}

static void *detached(void *unused)
{
	burn(50);
	atomic_fetch_add(&detached_ended, 1);
	return unused;
}

static void *cancelled(void *how)
{
	CHECK(pthread_setcanceltype(how ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, NULL) == 0);
	pthread_cleanup_push(clean, NULL);
	for (;;) {
		burn_sink += 1;
		if (!how)
			pthread_testcancel();
	}
	pthread_cleanup_pop(0);
	return NULL;
}

static void start_detached(void)
{
	pthread_attr_t attributes;
	pthread_t id;

	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
	CHECK(pthread_attr_setstacksize(&attributes, 32 * 1024) == 0);
	CHECK(pthread_create(&id, &attributes, detached, NULL) == 0);
	pthread_attr_destroy(&attributes);
}

static void cancel_one(bool asynchronous)
{
	pthread_t id;
	void *result;

	CHECK(pthread_create(&id, NULL, cancelled, asynchronous ? &key : NULL) == 0);
	usleep(100);
	CHECK(pthread_cancel(id) == 0);
	CHECK(pthread_join(id, &result) == 0 && result == PTHREAD_CANCELED);
}

int main(void)
{
	pthread_t ids[AT_ONCE];
	void *result;
	int turns = 0;

	CHECK(pthread_key_create(&key, destroy) == 0);
	for (; moment_goes_on(5); turns++) {
		for (intptr_t i = 0; i < AT_ONCE; i++)
			CHECK(pthread_create(&ids[i], NULL, joined, (void *)i) == 0);
		start_detached();
		cancel_one(turns % 2);
		for (intptr_t i = 0; i < AT_ONCE; i++)
			CHECK(pthread_join(ids[i], &result) == 0 && result == (void *)(i + 1));
	}
	while (atomic_load(&detached_ended) < turns)
		usleep(100);
	CHECK(destroyed == AT_ONCE * turns);
	CHECK(cleaned <= turns && cleaned >= turns / 2);
	return moment_ends("each thread ended well\n");
}
