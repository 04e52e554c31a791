/*
 * Interposed calls that fail with EINTR after a signal even if its handler requests a restart (signal(7)): the
 * program must not observe an EINTR that a tick has caused.
 */
#include <aio.h>
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "collect/agent/core/real.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/interpose/locks.h"
#include "collect/agent/signals/signals.h"
#include "collect/agent/signals/waits.h"
#include "processor/agent/machine.h"

/* The result of a call that waits with a mask of its own, which may be NULL. */
#define WAITING_MASKED(function, mask, ...)                                                     \
	({                                                                                      \
		sigset_t waiting_room;                                                          \
		struct runtime_thread *waiting_thread =                                         \
			waits_begin_masked(REAL_ADDRESS(function), &(mask), &waiting_room);     \
		__typeof__(function(__VA_ARGS__)) waiting_result = REAL(function)(__VA_ARGS__); \
		waits_end(waiting_thread);                                                      \
		if (waiting_result > 0)                                                         \
			causal_woken(waiting_thread);                                           \
		waiting_result;                                                                 \
	})

/* --- descriptors --- */

/* No header declares these: those that _FORTIFY_SOURCE makes a program call, and second names of others. */
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t bytes);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t bytes);
INTERPOSED int __poll(struct pollfd *fds, nfds_t count, int timeout) ALIAS(poll);
INTERPOSED int __select(int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *timeout)
	ALIAS(select);
INTERPOSED int __nanosleep(const struct timespec *time, struct timespec *left) ALIAS(nanosleep);
INTERPOSED int __connect(int fd, const struct sockaddr *to, socklen_t size) ALIAS(connect);

static bool is_zero(const struct timespec *timeout)
{
	return timeout && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
}

INTERPOSED int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (timeout == 0)
		return REAL(poll)(fds, count, timeout);
	return WAITING(poll, fds, count, timeout);
}

INTERPOSED int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t bytes)
{
	if (timeout == 0)
		return REAL(__poll_chk)(fds, count, timeout, bytes);
	return WAITING(__poll_chk, fds, count, timeout, bytes);
}

INTERPOSED int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	return WAITING_MASKED(ppoll, mask, fds, count, timeout, mask);
}

INTERPOSED int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
			   size_t bytes)
{
	return WAITING_MASKED(__ppoll_chk, mask, fds, count, timeout, mask, bytes);
}

INTERPOSED int select(int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *timeout)
{
	if (timeout && timeout->tv_sec == 0 && timeout->tv_usec == 0)
		return REAL(select)(count, reads, writes, exceptions, timeout);
	return WAITING(select, count, reads, writes, exceptions, timeout);
}

INTERPOSED int pselect(int count, fd_set *reads, fd_set *writes, fd_set *exceptions, const struct timespec *timeout,
		       const sigset_t *mask)
{
	return WAITING_MASKED(pselect, mask, count, reads, writes, exceptions, timeout, mask);
}

INTERPOSED int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
	if (timeout == 0)
		return REAL(epoll_wait)(fd, events, count, timeout);
	return WAITING(epoll_wait, fd, events, count, timeout);
}

INTERPOSED int epoll_pwait(int fd, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
{
	return WAITING_MASKED(epoll_pwait, mask, fd, events, count, timeout, mask);
}

INTERPOSED int epoll_pwait2(int fd, struct epoll_event *events, int count, const struct timespec *timeout,
			    const sigset_t *mask)
{
	return WAITING_MASKED(epoll_pwait2, mask, fd, events, count, timeout, mask);
}

/* --- sockets: io.c has the calls that transfer bytes --- */

INTERPOSED int setsockopt(int fd, int level, int name, const void *value, socklen_t bytes)
{
	if (waits_is_timeout(level, name))
		__atomic_store_n(&waits_on_sockets, true, __ATOMIC_RELAXED);
	return REAL(setsockopt)(fd, level, name, value, bytes);
}

__attribute__((constructor)) static void find_inherited_sockets(void)
{
	cpprof_runtime_begin();
	if (runtime.channel && runtime.channel->tick_ns)
		waits_find_sockets();
}

INTERPOSED int accept(int fd, struct sockaddr *from, socklen_t *size)
{
	if (!waits_on_sockets)
		return REAL(accept)(fd, from, size);
	return WAITING(accept, fd, from, size);
}

INTERPOSED int accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
{
	if (!waits_on_sockets)
		return REAL(accept4)(fd, from, size, flags);
	return WAITING(accept4, fd, from, size, flags);
}

INTERPOSED int connect(int fd, const struct sockaddr *to, socklen_t size)
{
	if (!waits_on_sockets)
		return REAL(connect)(fd, to, size);
	return WAITING(connect, fd, to, size);
}

/* --- time --- */

INTERPOSED int nanosleep(const struct timespec *time, struct timespec *left)
{
	if (is_zero(time))
		return REAL(nanosleep)(time, left);
	return WAITING(nanosleep, time, left);
}

INTERPOSED int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	return WAITING(clock_nanosleep, clock, flags, time, left);
}

INTERPOSED int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	return WAITING(thrd_sleep, time, left);
}

INTERPOSED int usleep(useconds_t time)
{
	return WAITING(usleep, time);
}

INTERPOSED unsigned int sleep(unsigned int seconds)
{
	return WAITING(sleep, seconds);
}

INTERPOSED int pause(void)
{
	return WAITING(pause);
}

/* --- semaphores, messages, asynchronous input and output --- */

INTERPOSED int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	if (!locks_are_watched())
		return WAITING(sem_timedwait, semaphore, until);
	struct lock_wait wait = lock_wait_begins(RUNTIME_HERE);
	int result = WAITING(sem_timedwait, semaphore, until);
	lock_wait_ended(&wait, REAL_ADDRESS(sem_timedwait), result == 0);
	return result;
}

INTERPOSED int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
	if (!locks_are_watched())
		return WAITING(sem_clockwait, semaphore, clock, until);
	struct lock_wait wait = lock_wait_begins(RUNTIME_HERE);
	int result = WAITING(sem_clockwait, semaphore, clock, until);
	lock_wait_ended(&wait, REAL_ADDRESS(sem_clockwait), result == 0);
	return result;
}

INTERPOSED ssize_t msgrcv(int queue, void *message, size_t bytes, long type, int flags)
{
	if (flags & IPC_NOWAIT)
		return REAL(msgrcv)(queue, message, bytes, type, flags);
	return WAITING(msgrcv, queue, message, bytes, type, flags);
}

INTERPOSED int msgsnd(int queue, const void *message, size_t bytes, int flags)
{
	if (flags & IPC_NOWAIT)
		return REAL(msgsnd)(queue, message, bytes, flags);
	return WAITING(msgsnd, queue, message, bytes, flags);
}

INTERPOSED int semop(int set, struct sembuf *operations, size_t count)
{
	return WAITING(semop, set, operations, count);
}

INTERPOSED int semtimedop(int set, struct sembuf *operations, size_t count, const struct timespec *timeout)
{
	return WAITING(semtimedop, set, operations, count, timeout);
}

INTERPOSED int aio_suspend(const struct aiocb *const list[], int count, const struct timespec *timeout)
{
	return WAITING(aio_suspend, list, count, timeout);
}

INTERPOSED int aio_suspend64(const struct aiocb64 *const list[], int count, const struct timespec *timeout)
{
	return WAITING(aio_suspend64, list, count, timeout);
}

/* A function of libaio, which returns errors as negative results. */
int io_getevents(void *context, long least, long count, void *events, struct timespec *timeout);

INTERPOSED int io_getevents(void *context, long least, long count, void *events, struct timespec *timeout)
{
	if (!REAL(io_getevents))
		return -ENOSYS;
	return WAITING(io_getevents, context, least, count, events, timeout);
}
