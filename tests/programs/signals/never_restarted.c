/* Calls that a signal ends with EINTR although its handler has SA_RESTART: only the program's own signals may end
 * them, and without one they must last as long as requested. */
#include "check.h"

#include <arpa/inet.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* The duration of a wait that no signal ends. */
#define WAIT 0.06
#define WAIT_NS 60000000
enum { WAIT_MS = 60 };

static const struct timespec wait_time = { .tv_nsec = WAIT_NS };
static int pipe_fds[2], epoll_fd, sockets[2], semaphores, ring_fd;
static sem_t semaphore;

static struct timespec deadline(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	time.tv_nsec += WAIT_NS;
	if (time.tv_nsec >= 1000000000) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000;
	}
	return time;
}

static int by_poll(void)
{
	struct pollfd fd = { .fd = pipe_fds[0], .events = POLLIN };
	return poll(&fd, 1, WAIT_MS);
}

static int by_ppoll(void)
{
	struct pollfd fd = { .fd = pipe_fds[0], .events = POLLIN };
	sigset_t none;
	sigemptyset(&none);
	return ppoll(&fd, 1, &wait_time, &none);
}

static int by_select(void)
{
	struct timeval timeout = { .tv_usec = WAIT_MS * 1000 };
	fd_set set;
	FD_ZERO(&set);
	FD_SET(pipe_fds[0], &set);
	return select(pipe_fds[0] + 1, &set, NULL, NULL, &timeout);
}

static int by_pselect(void)
{
	return pselect(0, NULL, NULL, NULL, &wait_time, NULL);
}

static int by_pselect_with_mask(void)
{
	sigset_t none;
	sigemptyset(&none);
	return pselect(0, NULL, NULL, NULL, &wait_time, &none);
}

static int by_epoll_wait(void)
{
	struct epoll_event event;
	return epoll_wait(epoll_fd, &event, 1, WAIT_MS);
}

static int by_epoll_pwait(void)
{
	struct epoll_event event;
	sigset_t none;
	sigemptyset(&none);
	return epoll_pwait(epoll_fd, &event, 1, WAIT_MS, &none);
}

static int by_nanosleep(void)
{
	return nanosleep(&wait_time, NULL);
}

static int by_clock_nanosleep(void)
{
	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &wait_time, NULL);
	return errno ? -1 : 0;
}

static int by_usleep(void)
{
	return usleep(WAIT_MS * 1000);
}

static int by_sem_timedwait(void)
{
	struct timespec until = deadline(CLOCK_REALTIME);
	return sem_timedwait(&semaphore, &until);
}

static int by_semtimedop(void)
{
	struct sembuf operation = { .sem_op = -1 };
	return semtimedop(semaphores, &operation, 1, &wait_time);
}

static int by_futex(void)
{
	static int word;
	return (int)syscall(SYS_futex, &word, FUTEX_WAIT, 0, &wait_time, NULL, 0);
}

static int by_syscall_of_ppoll(void)
{
	struct timespec timeout = wait_time;
	unsigned long none = 0;
	return (int)syscall(SYS_ppoll, NULL, 0, &timeout, &none, sizeof(none));
}

static int by_syscall_of_pselect(void)
{
	struct timespec timeout = wait_time;
	unsigned long none = 0;
	const struct {
		const void *mask;
		size_t bytes;
	} mask = { &none, sizeof(none) };
	return (int)syscall(SYS_pselect6, 0, NULL, NULL, NULL, &timeout, &mask);
}

/* The ring has no requests, so only the timeout ends the wait. Without io_uring, poll waits instead. */
static int by_syscall_of_io_uring(void)
{
	const struct io_uring_getevents_arg until = { .ts = (uint64_t)(uintptr_t)&wait_time };
	if (ring_fd < 0) {
		if (by_poll() == 0)
			errno = ETIME;
		return -1;
	}
	return (int)syscall(SYS_io_uring_enter, ring_fd, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &until,
			    sizeof(until));
}

static int by_syscall_of_io_uring_with_mask(void)
{
	const unsigned long none = 0;
	const struct io_uring_getevents_arg until = { .sigmask = (uint64_t)(uintptr_t)&none,
						      .sigmask_sz = sizeof(none),
						      .ts = (uint64_t)(uintptr_t)&wait_time };
	if (ring_fd < 0)
		return by_syscall_of_io_uring();
	return (int)syscall(SYS_io_uring_enter, ring_fd, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &until,
			    sizeof(until));
}

static int by_recv(void)
{
	char byte;
	return (int)recv(sockets[0], &byte, 1, 0);
}

static int by_read_of_socket(void)
{
	char byte;
	return (int)read(sockets[0], &byte, 1);
}

static int by_sigtimedwait(void)
{
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, SIGUSR2);
	return sigtimedwait(&one, NULL, &wait_time);
}

static const struct {
	const char *name;
	int (*wait)(void);
	int result, error; /* after the timeout */
} calls[] = {
	{ "poll", by_poll, 0, 0 },
	{ "ppoll", by_ppoll, 0, 0 },
	{ "select", by_select, 0, 0 },
	{ "pselect", by_pselect, 0, 0 },
	{ "pselect with a mask", by_pselect_with_mask, 0, 0 },
	{ "epoll_wait", by_epoll_wait, 0, 0 },
	{ "epoll_pwait", by_epoll_pwait, 0, 0 },
	{ "nanosleep", by_nanosleep, 0, 0 },
	{ "clock_nanosleep", by_clock_nanosleep, 0, 0 },
	{ "usleep", by_usleep, 0, 0 },
	{ "sem_timedwait", by_sem_timedwait, -1, ETIMEDOUT },
	{ "semtimedop", by_semtimedop, -1, EAGAIN },
	{ "syscall of futex", by_futex, -1, ETIMEDOUT },
	{ "syscall of ppoll", by_syscall_of_ppoll, 0, 0 },
	{ "syscall of pselect", by_syscall_of_pselect, 0, 0 },
	{ "syscall of io_uring_enter", by_syscall_of_io_uring, -1, ETIME },
	{ "syscall of io_uring_enter with a mask", by_syscall_of_io_uring_with_mask, -1, ETIME },
	{ "recv", by_recv, -1, EAGAIN },
	{ "read of a socket", by_read_of_socket, -1, EAGAIN },
	{ "sigtimedwait", by_sigtimedwait, -1, EAGAIN },
};

/* Ticks fall due before and during each of several waits. Prints the total duration too. */
static bool waits_to_the_end(const char *name, int (*wait)(void), int result, int error)
{
	enum { TIMES = 3 };
	double waited = 0;
	for (int i = 0; i < TIMES; i++) {
		busy(0.002);
		double start = seconds();
		errno = 0;
		int found = wait(), found_error = errno;
		double time = seconds() - start;
		waited += time;
		/* The kernel rounds the times of sockets and select to its own clock's ticks, so a wait may be a
		 * little shorter. */
		if (found != result || (result < 0 && found_error != error) || time < WAIT * 0.9) {
			fprintf(stderr, "%d, %s, after %.4f s\n", found, strerror(found_error), time);
			return false;
		}
	}
	fprintf(stderr, "waited %s: %.6f s\n", name, waited);
	return true;
}

/* Repeats the alarm, because on a busy machine the wait may begin after the first one. */
static bool is_ended_by_alarm(int (*wait)(void))
{
	const struct itimerval each_20_ms = { { 0, 20000 }, { 0, 20000 } }, never = { { 0, 0 }, { 0, 0 } };
	handled = 0;
	setitimer(ITIMER_REAL, &each_20_ms, NULL);
	int result = wait(), error = errno;
	setitimer(ITIMER_REAL, &never, NULL);
	if (result == -1 && error == EINTR && handled >= 1)
		return true;
	fprintf(stderr, "%d, %s, %d handled\n", result, strerror(error), (int)handled);
	return false;
}

static void *send_message(void *queue)
{
	struct {
		long type;
		char text[8];
	} message = { .type = 1 };
	usleep(WAIT_MS * 1000);
	msgsnd(*(int *)queue, &message, sizeof(message.text), 0);
	return NULL;
}

static void receive_message(void)
{
	struct {
		long type;
		char text[8];
	} message;
	int queue = msgget(IPC_PRIVATE, 0600);
	pthread_t thread;
	pthread_create(&thread, NULL, send_message, &queue);
	busy(0.002);
	check(msgrcv(queue, &message, sizeof(message.text), 0, 0) == sizeof(message.text), "msgrcv");
	pthread_join(thread, NULL);
	msgctl(queue, IPC_RMID, NULL);
}

static void suspend(void)
{
	sigset_t none, alarm_set;
	sigemptyset(&none);
	sigemptyset(&alarm_set);
	sigaddset(&alarm_set, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm_set, NULL);
	handled = 0;
	alarm_in(WAIT);
	double start = seconds();
	check(sigsuspend(&none) < 0 && errno == EINTR && handled == 1 && seconds() - start > WAIT * 0.9, "sigsuspend");
	sigprocmask(SIG_UNBLOCK, &alarm_set, NULL);
	handled = 0;
	alarm_in(WAIT);
	start = seconds();
	check(pause() < 0 && errno == EINTR && handled == 1 && seconds() - start > WAIT * 0.9, "pause");
	alarm_in(WAIT);
	check(sleep(2) > 0, "sleep ends early");
}

static jmp_buf out;
static void jump(int number)
{
	(void)number;
	longjmp(out, 1);
}

/* The handler does not return to the wait; ticks must continue afterwards. */
static void jump_out_of_wait(void)
{
	if (setjmp(out) == 0) {
		handle(SIGALRM, jump, SA_NODEFER);
		alarm_in(WAIT / 3);
		by_poll();
	}
	handle(SIGALRM, count_one, SA_RESTART);
	busy(0.1);
	check(true, "a jump");
}

int main(void)
{
	const struct timeval timeout = { .tv_usec = WAIT_MS * 1000 };
	struct epoll_event event = { .events = EPOLLIN };
	if (pipe(pipe_fds) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
		return 2;
	struct io_uring_params ring = { 0 };
	ring_fd = (int)syscall(SYS_io_uring_setup, 4, &ring);
	epoll_fd = epoll_create1(0);
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pipe_fds[0], &event);
	sem_init(&semaphore, 0, 0);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	handle(SIGALRM, count_one, SA_RESTART);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		check(waits_to_the_end(calls[i].name, calls[i].wait, calls[i].result, calls[i].error), calls[i].name);
		check(is_ended_by_alarm(calls[i].wait), "... ended by an alarm");
	}
	receive_message();
	suspend();
	jump_out_of_wait();
	semctl(semaphores, 0, IPC_RMID);
	return checks_failed != 0;
}
