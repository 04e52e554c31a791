/* Calls on sockets that have a timeout: the kernel does not restart them after a signal (signal(7)). Only the
 * program's own signals may end them, and without one they must last as long as the timeout. */
#include "check.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

/* The sockets' timeout. */
#define WAIT 0.02
static const struct timeval timeout = { .tv_usec = 20000 };

static int listener, pair[2], full[2], client;
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static char bytes[4096];

static int by_accept(void)
{
	return accept(listener, NULL, NULL);
}

static int by_accept4(void)
{
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

/* The listener's queue is full. */
static int by_connect(void)
{
	return connect(client, (struct sockaddr *)&address, sizeof(address));
}

static int by_send(void)
{
	return (int)send(full[0], bytes, sizeof(bytes), 0);
}

static int by_recvmsg(void)
{
	struct iovec to = { .iov_base = bytes, .iov_len = sizeof(bytes) };
	struct msghdr message = { .msg_iov = &to, .msg_iovlen = 1 };
	return (int)recvmsg(pair[0], &message, 0);
}

static int by_syscall_of_accept(void)
{
	return (int)syscall(SYS_accept, listener, NULL, NULL);
}

static int by_syscall_of_accept4(void)
{
	return (int)syscall(SYS_accept4, listener, NULL, NULL, 0);
}

static int by_syscall_of_connect(void)
{
	return (int)syscall(SYS_connect, client, &address, sizeof(address));
}

static int by_syscall_of_recvfrom(void)
{
	return (int)syscall(SYS_recvfrom, pair[0], bytes, sizeof(bytes), 0, NULL, NULL);
}

static int by_syscall_of_sendto(void)
{
	return (int)syscall(SYS_sendto, full[0], bytes, sizeof(bytes), 0, NULL, 0);
}

static int by_syscall_of_read(void)
{
	return (int)syscall(SYS_read, pair[0], bytes, sizeof(bytes));
}

static int by_syscall_of_write(void)
{
	return (int)syscall(SYS_write, full[0], bytes, sizeof(bytes));
}

static const struct {
	const char *name;
	int (*wait)(void);
} calls[] = {
	{ "accept", by_accept },
	{ "accept4", by_accept4 },
	{ "connect", by_connect },
	{ "send", by_send },
	{ "recvmsg", by_recvmsg },
	{ "syscall of accept", by_syscall_of_accept },
	{ "syscall of accept4", by_syscall_of_accept4 },
	{ "syscall of connect", by_syscall_of_connect },
	{ "syscall of recvfrom", by_syscall_of_recvfrom },
	{ "syscall of sendto", by_syscall_of_sendto },
	{ "syscall of read", by_syscall_of_read },
	{ "syscall of write", by_syscall_of_write },
};

/* Ticks fall due before and during each of several waits. */
static bool waits_to_the_end(int (*wait)(void))
{
	enum { TIMES = 2 };
	for (int i = 0; i < TIMES; i++) {
		busy(0.002);
		double start = seconds();
		int found = wait(), error = errno;
		double time = seconds() - start;
		/* The kernel rounds a socket's timeout to its own clock's ticks. */
		if (found != -1 || error != EAGAIN || time < WAIT * 0.75) {
			fprintf(stderr, "%d, %s, after %.4f s\n", found, strerror(error), time);
			return false;
		}
	}
	return true;
}

/* Repeats the alarm, because on a busy machine the wait may begin after the first one. Repeats the wait as well: where the thread
 * runs only after the alarm and the timeout, the kernel reports the timeout. */
static bool is_ended_by_alarm(int (*wait)(void))
{
	enum { TIMES = 100 };
	const struct itimerval often = { { 0, 5000 }, { 0, 5000 } }, never = { { 0, 0 }, { 0, 0 } };
	int result = -1, error = EAGAIN;
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < TIMES && result == -1 && error == EAGAIN; i++) {
		result = wait();
		error = errno;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return result == -1 && error == EINTR;
}

/* A process in which only a system call without a function has set a timeout. */
static bool waits_after_syscall_of_setsockopt(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		syscall(SYS_setsockopt, listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
		_exit(waits_to_the_end(by_accept) ? 0 : 1);
	}
	return waitpid(child, &status, 0) == child && status == 0;
}

/* A process that got a socket with a timeout from the program that it has replaced. */
static bool waits_after_exec(void)
{
	int status;
	char number[16];
	snprintf(number, sizeof(number), "%d", listener);
	pid_t child = fork();
	if (child == 0) {
		execl("/proc/self/exe", "socket_timeouts", number, NULL);
		_exit(2);
	}
	return waitpid(child, &status, 0) == child && status == 0;
}

/* Listens with an abstract name, and fills the queue of connections. */
static void make_sockets(void)
{
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "socket-timeouts-%d", (int)getpid());
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(listener, 0) < 0)
		exit(2);
	int backlog = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (connect(backlog, (struct sockaddr *)&address, sizeof(address)) < 0)
		exit(2);
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, full) < 0)
		exit(2);
	while (send(full[0], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

static int empty_queue(void)
{
	int accepted = accept(listener, NULL, NULL);
	return accepted < 0 ? -1 : close(accepted);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		listener = atoi(argv[1]);
		return waits_to_the_end(by_accept) ? 0 : 1;
	}
	make_sockets();
	check(empty_queue() == 0, "a connection");
	check(waits_after_syscall_of_setsockopt(), "accept after syscall of setsockopt");
	const struct timeval none = { 0 };
	syscall(SYS_setsockopt, listener, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(full[0], SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	check(waits_after_exec(), "accept after exec");
	handle(SIGALRM, count_one, SA_RESTART);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		bool connects = strstr(calls[i].name, "connect") != NULL;
		int filler = connects ? socket(AF_UNIX, SOCK_STREAM, 0) : -1;
		if (connects && connect(filler, (struct sockaddr *)&address, sizeof(address)) < 0)
			return 2;
		check(waits_to_the_end(calls[i].wait), calls[i].name);
		check(is_ended_by_alarm(calls[i].wait), "... ended by an alarm");
		if (connects && (empty_queue() < 0 || close(filler) < 0))
			return 2;
	}
	return checks_failed != 0;
}
