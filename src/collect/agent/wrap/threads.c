/* Thread functions, and functions in which threads wait for each other. C++ threads use these. */
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "collect/agent/wrap/wrap.h"

/* --- threads --- */

WRAP(int, pthread_create, (pthread_t * id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
     (id, attributes, run, argument))
WRAP(int, pthread_detach, (pthread_t id), (id))
WRAP_WAIT(int, pthread_join, (pthread_t id, void **result_of), (id, result_of))
WRAP(int, pthread_tryjoin_np, (pthread_t id, void **result_of), (id, result_of))
WRAP_WAIT(int, pthread_timedjoin_np, (pthread_t id, void **result_of, const struct timespec *until),
	  (id, result_of, until))
WRAP_WAIT(int, pthread_clockjoin_np, (pthread_t id, void **result_of, clockid_t clock, const struct timespec *until),
	  (id, result_of, clock, until))
WRAP(int, thrd_create, (thrd_t * id, thrd_start_t run, void *argument), (id, run, argument))
WRAP_WAIT(int, thrd_join, (thrd_t id, int *result_of), (id, result_of))

/* --- mutexes --- */

WRAP_WAIT(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
WRAP(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
WRAP_WAIT(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *until), (mutex, until))
WRAP_WAIT(int, pthread_mutex_clocklock, (pthread_mutex_t * mutex, clockid_t clock, const struct timespec *until),
	  (mutex, clock, until))
WRAP(int, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))
WRAP_WAIT(int, mtx_lock, (mtx_t * mutex), (mutex))
WRAP(int, mtx_trylock, (mtx_t * mutex), (mutex))
WRAP_WAIT(int, mtx_timedlock, (mtx_t *restrict mutex, const struct timespec *restrict until), (mutex, until))
WRAP(int, mtx_unlock, (mtx_t * mutex), (mutex))
WRAP_WAIT(int, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
WRAP(int, pthread_spin_trylock, (pthread_spinlock_t * lock), (lock))
WRAP(int, pthread_spin_unlock, (pthread_spinlock_t * lock), (lock))

/* --- read-write locks --- */

WRAP_WAIT(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
WRAP(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
WRAP_WAIT(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *until), (lock, until))
WRAP_WAIT(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
	  (lock, clock, until))
WRAP_WAIT(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
WRAP(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
WRAP_WAIT(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *until), (lock, until))
WRAP_WAIT(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
	  (lock, clock, until))
WRAP(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))

/* --- conditions: REAL finds the newest version of the next library, which may be libcpprof-hooks --- */

WRAP_WAIT(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
WRAP_WAIT(int, pthread_cond_timedwait,
	  (pthread_cond_t * condition, pthread_mutex_t *mutex, const struct timespec *until), (condition, mutex, until))
WRAP(int, pthread_cond_signal, (pthread_cond_t * condition), (condition))
WRAP(int, pthread_cond_broadcast, (pthread_cond_t * condition), (condition))
WRAP_WAIT(int, pthread_cond_clockwait,
	  (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
	  (condition, mutex, clock, until))
WRAP_WAIT(int, cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex))
WRAP_WAIT(int, cnd_timedwait, (cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until),
	  (condition, mutex, until))
WRAP(int, cnd_signal, (cnd_t * condition), (condition))
WRAP(int, cnd_broadcast, (cnd_t * condition), (condition))

/* --- barriers and semaphores --- */

WRAP_WAIT(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))
WRAP_WAIT(int, sem_wait, (sem_t * semaphore), (semaphore))
WRAP(int, sem_trywait, (sem_t * semaphore), (semaphore))
WRAP_WAIT(int, sem_timedwait, (sem_t *restrict semaphore, const struct timespec *restrict until), (semaphore, until))
WRAP_WAIT(int, sem_clockwait, (sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until),
	  (semaphore, clock, until))
WRAP(int, sem_post, (sem_t * semaphore), (semaphore))
