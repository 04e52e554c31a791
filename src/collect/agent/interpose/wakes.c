/*
 * Calls that may wake another thread: before them the present thread pays the pauses that it owes
 * (causal/causal.h). Threads that end, transfers of bytes and waits that give up a lock do so too,
 * in the other files.
 */
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "collect/agent/causal/causal.h"
#include "collect/agent/core/real.h"

#define WAKING_VERSION(name, version, parameters, arguments)  \
	INTERPOSED int name parameters                        \
	{                                                     \
		causal_wakes();                               \
		return REAL_VERSION(name, version) arguments; \
	}
#define WAKING(name, parameters, arguments) WAKING_VERSION(name, NULL, parameters, arguments)

WAKING(pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))
WAKING(mtx_unlock, (mtx_t * mutex), (mutex))
WAKING(pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))
WAKING(sem_post, (sem_t * semaphore), (semaphore))
WAKING(cnd_signal, (cnd_t * condition), (condition))
WAKING(cnd_broadcast, (cnd_t * condition), (condition))

/* In the version that programs have been linked with for twenty years: see locks.c. */
WAKING_VERSION(pthread_cond_signal, "GLIBC_2.3.2", (pthread_cond_t * condition), (condition))
WAKING_VERSION(pthread_cond_broadcast, "GLIBC_2.3.2", (pthread_cond_t * condition), (condition))
