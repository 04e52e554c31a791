/*
 * Locks, conditions, semaphores, barriers and joins. A free lock is taken by the function that does not wait. The
 * clocks are read only if it is not free.
 */
#include "collect/agent/interpose/locks.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "collect/agent/causal/causal.h"
#include "collect/agent/core/real.h"

/* The CPU clock is read before the other one here, and after it at the end. So reading the clocks does not count as
 * waiting. */
struct lock_wait lock_wait_begins(uint64_t frame)
{
	struct lock_wait wait;
	if (runtime.has_experiments)
		causal_waits(frame);
	wait.start_cpu_ns = runtime_now_ns(CLOCK_THREAD_CPUTIME_ID);
	wait.start_ns = runtime_now_ns(CLOCK_MONOTONIC);
	return wait;
}

void lock_wait_ended(const struct lock_wait *wait, uint64_t function, bool is_woken)
{
	int error = errno;
	if (runtime.has_experiments && is_woken)
		causal_woken(runtime_thread);
	else if (runtime.has_experiments)
		causal_timed_out(runtime_thread);
	struct runtime_thread *thread = runtime_enter();
	if (thread) {
		uint64_t elapsed = runtime_now_ns(CLOCK_MONOTONIC) - wait->start_ns;
		uint64_t used = runtime_now_ns(CLOCK_THREAD_CPUTIME_ID) - wait->start_cpu_ns;
		if (elapsed > used)
			runtime_count(thread, COUNTER_LOCK_WAIT, elapsed - used, function);
		runtime_leave(thread);
	}
	errno = error;
}

/* Whether another thread has ended the wait, rather than time or an error. */
#define IS_WOKEN(result) ((result) == 0 || (result) == PTHREAD_BARRIER_SERIAL_THREAD)

/* Interposes a function that always, or nearly always, waits. */
#define WAITING_VERSION(type, name, version, parameters, arguments)           \
	INTERPOSED type name parameters                                       \
	{                                                                     \
		if (!locks_are_watched())                                     \
			return REAL_VERSION(name, version) arguments;         \
		struct lock_wait wait = lock_wait_begins(RUNTIME_HERE);       \
		type result = REAL_VERSION(name, version) arguments;          \
		lock_wait_ended(&wait, REAL_ADDRESS(name), IS_WOKEN(result)); \
		return result;                                                \
	}
#define WAITING(type, name, parameters, arguments) WAITING_VERSION(type, name, NULL, parameters, arguments)

/* Interposes a function that takes a lock. `attempt` is the same without a wait. If its result is `busy`, the real
 * function is called, which waits or reports another error. Any other result is returned as the real function's. */
#define LOCKING(name, parameters, arguments, attempt, busy)                   \
	INTERPOSED int name parameters                                        \
	{                                                                     \
		if (!locks_are_watched())                                     \
			return REAL(name) arguments;                          \
		int result = attempt;                                         \
		if (result != (busy))                                         \
			return result;                                        \
		struct lock_wait wait = lock_wait_begins(RUNTIME_HERE);       \
		result = REAL(name) arguments;                                \
		lock_wait_ended(&wait, REAL_ADDRESS(name), IS_WOKEN(result)); \
		return result;                                                \
	}

/* --- mutexes --- */

#define MUTEX(name, parameters, arguments) \
	LOCKING(name, parameters, arguments, REAL(pthread_mutex_trylock)(mutex), EBUSY)
#define C11_MUTEX(name, parameters, arguments) LOCKING(name, parameters, arguments, REAL(mtx_trylock)(mutex), thrd_busy)

MUTEX(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
MUTEX(pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *until), (mutex, until))
MUTEX(pthread_mutex_clocklock, (pthread_mutex_t * mutex, clockid_t clock, const struct timespec *until),
      (mutex, clock, until))
C11_MUTEX(mtx_lock, (mtx_t * mutex), (mutex))
C11_MUTEX(mtx_timedlock, (mtx_t *restrict mutex, const struct timespec *restrict until), (mutex, until))

/* --- read-write locks --- */

#define READER(name, parameters, arguments) \
	LOCKING(name, parameters, arguments, REAL(pthread_rwlock_tryrdlock)(lock), EBUSY)
#define WRITER(name, parameters, arguments) \
	LOCKING(name, parameters, arguments, REAL(pthread_rwlock_trywrlock)(lock), EBUSY)

READER(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
READER(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *until), (lock, until))
READER(pthread_rwlock_clockrdlock, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
       (lock, clock, until))
WRITER(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
WRITER(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *until), (lock, until))
WRITER(pthread_rwlock_clockwrlock, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
       (lock, clock, until))

/* --- conditions, in the version that programs have been linked with for twenty years --- */

WAITING_VERSION(int, pthread_cond_wait, "GLIBC_2.3.2", (pthread_cond_t * condition, pthread_mutex_t *mutex),
		(condition, mutex))
WAITING_VERSION(int, pthread_cond_timedwait, "GLIBC_2.3.2",
		(pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until),
		(condition, mutex, until))
WAITING(int, pthread_cond_clockwait,
	(pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
	(condition, mutex, clock, until))
WAITING(int, cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex))
WAITING(int, cnd_timedwait, (cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until),
	(condition, mutex, until))

/* --- others (sem_timedwait and sem_clockwait, which signals interrupt, are in interpose/waits.c) --- */

WAITING(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))
WAITING(int, pthread_join, (pthread_t thread, void **result_of), (thread, result_of))
WAITING(int, pthread_timedjoin_np, (pthread_t thread, void **result_of, const struct timespec *until),
	(thread, result_of, until))
WAITING(int, pthread_clockjoin_np, (pthread_t thread, void **result_of, clockid_t clock, const struct timespec *until),
	(thread, result_of, clock, until))
WAITING(int, thrd_join, (thrd_t thread, int *result_of), (thread, result_of))

INTERPOSED int sem_wait(sem_t *semaphore)
{
	if (!locks_are_watched())
		return REAL(sem_wait)(semaphore);
	pthread_testcancel();
	int error = errno;
	if (REAL(sem_trywait)(semaphore) == 0)
		return 0;
	errno = error;
	struct lock_wait wait = lock_wait_begins(RUNTIME_HERE);
	int result = REAL(sem_wait)(semaphore);
	lock_wait_ended(&wait, REAL_ADDRESS(sem_wait), result == 0);
	return result;
}
