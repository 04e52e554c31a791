/* A program that defines functions of the C library itself and calls the next definition by its other name, as Erlang's runtime does to set
 * each signal's action with SA_ONSTACK. The profiler's definitions must not lead back to the program's. */
#include "check.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>

static int own_calls;

/* Calls the next definition of a function. */
#define NEXT(function, name, ...) (own_calls++, ((__typeof__(&(function)))dlsym(RTLD_NEXT, name))(__VA_ARGS__))

int __sigaction(int number, const struct sigaction *action, struct sigaction *old);

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return NEXT(sigaction, "__sigaction", number, action, old);
}

int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return NEXT(sigaction, "__sigaction", number, action, old);
}

sighandler_t signal(int number, sighandler_t handler)
{
	return NEXT(signal, "bsd_signal", number, handler);
}

sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	return NEXT(signal, "sysv_signal", number, handler);
}

int sigsuspend(const sigset_t *mask)
{
	return NEXT(sigsuspend, "__sigsuspend", mask);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	return NEXT(poll, "__poll", fds, count, timeout);
}

int select(int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *timeout)
{
	return NEXT(select, "__select", count, reads, writes, exceptions, timeout);
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	return NEXT(nanosleep, "__nanosleep", time, left);
}

int mlockall(int flags)
{
	own_calls++;
	return (int)syscall(SYS_mlockall, flags);
}

static void wait_for_own(void)
{
	sigset_t blocked, before;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	raise(SIGUSR1);
	sigsuspend(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(void)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	struct timeval timeout = { .tv_usec = 1000 };
	busy(0.03);
	handle(SIGUSR1, count_one, 0);
	raise(SIGUSR1);
	check(signal(SIGUSR1, count_one) == count_one, "the same handler");
	raise(SIGUSR1);
	check(__sysv_signal(SIGUSR1, count_one) == count_one, "and once more");
	handle(SIGUSR1, count_one, 0);
	wait_for_own();
	check(handled == 3, "three signals");
	check(poll(NULL, 0, 1) == 0, "poll");
	check(select(0, NULL, NULL, NULL, &timeout) == 0, "select");
	check(nanosleep(&pause, NULL) == 0, "nanosleep");
	check(mlockall(0) < 0 && errno == EINVAL, "mlockall");
	check(own_calls == 9, "each call is the program's once");
	busy(0.03);
	return checks_failed != 0;
}
