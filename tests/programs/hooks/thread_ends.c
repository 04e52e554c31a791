/* The last calls of a thread: in destructors of thread-specific data, which call further functions, and in
 * destructors that run after those. */
#include <pthread.h>

#include "hooks.h"

enum { THREADS = 6, ROUNDS = 3 };

static pthread_key_t first_key, second_key;
static int destroyed;

static NOINLINE void clean(int n)
{
	if (n > 0)
		clean(n - 1);
}

static NOINLINE void first_destructor(void *value)
{
	clean(3);
	if ((long)value < ROUNDS) /* the C library calls the destructor again for values that were set meanwhile */
		pthread_setspecific(first_key, (char *)value + 1);
	__atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
}

static NOINLINE void second_destructor(void *value)
{
	clean((int)(long)value);
	__atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
}

/* The function by which thread_local objects of C++ register their destructors, which run before the destructors of the
 * keys. */
int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *dso);
extern void *__dso_handle;

static NOINLINE void object_destructor(void *object)
{
	clean(2);
	(void)object;
	__atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
}

static NOINLINE void *start(void *argument)
{
	pthread_setspecific(first_key, (void *)1L);
	pthread_setspecific(second_key, (void *)5L);
	__cxa_thread_atexit_impl(object_destructor, argument, &__dso_handle);
	clean(1);
	return argument;
}

int main(void)
{
	CHECK(pthread_key_create(&first_key, first_destructor) == 0);
	CHECK(pthread_key_create(&second_key, second_destructor) == 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;
		CHECK(pthread_create(&thread, NULL, start, NULL) == 0);
		pthread_join(thread, NULL);
	}
	CHECK(destroyed == THREADS * (ROUNDS + 2));
	return 0;
}
