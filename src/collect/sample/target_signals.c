#include "collect/sample/target_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- without the kernel's descriptors: a thread waits, and writes into a pipe --- */

struct waiter {
	sigset_t signals;
	pid_t child;
	int write_fd;
};

/* Frees the waiter, and closes its pipe. */
static void *end_wait(struct waiter *waiter)
{
	close(waiter->write_fd);
	free(waiter);
	return NULL;
}

/* Ends when the other end is closed and one more signal comes. */
static void *wait_for_signals(void *context)
{
	struct waiter *waiter = context;
	siginfo_t info;
	struct signalfd_siginfo signal = { .ssi_signo = 0 };
	ssize_t written = sizeof(signal);
	while (written == (ssize_t)sizeof(signal)) {
		if (sigwaitinfo(&waiter->signals, &info) < 0)
			continue;
		signal.ssi_signo = (uint32_t)info.si_signo;
		signal.ssi_code = info.si_code;
		written = write(waiter->write_fd, &signal, sizeof(signal));
	}
	return end_wait(waiter);
}

/* Leaves the child's status for the caller. Ends early if the caller collects it first. */
static void *wait_for_child(void *context)
{
	struct waiter *waiter = context;
	siginfo_t info;
	while (waitid(P_PID, (id_t)waiter->child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	return end_wait(waiter);
}

/* Starts a thread that waits. Returns the other end of its pipe, which does not block, or -1 with errno. */
static int open_pipe(void *(*wait)(void *), const struct waiter *from)
{
	int fds[2];
	pthread_t thread;
	struct waiter *waiter = malloc(sizeof(*waiter));
	if (!waiter || pipe2(fds, O_CLOEXEC) < 0) {
		free(waiter);
		return -1;
	}
	*waiter = *from;
	waiter->write_fd = fds[1];
	int error = fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? errno : pthread_create(&thread, NULL, wait, waiter);
	if (error == 0) {
		pthread_detach(thread);
		return fds[0];
	}
	close(fds[0]);
	close(fds[1]);
	free(waiter);
	errno = error;
	return -1;
}

/* --- signals --- */

static sigset_t all_signals(void)
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGPIPE);
	sigaddset(&signals, SIGXFSZ); /* a file size limit makes a write fail; it must not end the monitor */
	return signals;
}

void target_signals_leave(sigset_t *old)
{
	sigset_t signals = all_signals();
	sigaddset(&signals, SIGWINCH);
	sigaddset(&signals, SIGTSTP);
	pthread_sigmask(SIG_BLOCK, &signals, old);
}

int target_signals_take(int *fd, sigset_t *old, struct error *error)
{
	sigset_t signals = all_signals();
	sigprocmask(SIG_BLOCK, &signals, old);
	sigdelset(&signals, SIGPIPE);
	sigdelset(&signals, SIGXFSZ);
	*fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (*fd < 0) /* a seccomp profile may deny it */
		*fd = open_pipe(wait_for_signals, &(struct waiter){ .signals = signals });
	return *fd < 0 ? error_set_errno(error, "cannot receive signals") : 0;
}

/* The descriptor receives ignored signals too, because the kernel discards them
 * only while they are not blocked. */
static bool stays_ignored(const struct signalfd_siginfo *signal)
{
	struct sigaction inherited;
	if (sigaction((int)signal->ssi_signo, NULL, &inherited) < 0 || inherited.sa_handler != SIG_IGN)
		return false;
	return signal->ssi_signo == SIGHUP || signal->ssi_code == SI_KERNEL;
}

bool target_signals_next(int fd, struct signalfd_siginfo *signal)
{
	while (read(fd, signal, sizeof(*signal)) == (ssize_t)sizeof(*signal)) {
		if (!stays_ignored(signal))
			return true;
	}
	return false;
}

void target_signals_pass(const struct signalfd_siginfo *signal, pid_t pid)
{
	if (signal->ssi_code != SI_KERNEL) /* not from the terminal: it was sent to us */
		kill(pid, (int)signal->ssi_signo);
}

/* --- the end of a child --- */

int target_end_open(pid_t child)
{
	int fd = (int)syscall(SYS_pidfd_open, child, 0);
	return fd >= 0 ? fd : open_pipe(wait_for_child, &(struct waiter){ .child = child });
}
