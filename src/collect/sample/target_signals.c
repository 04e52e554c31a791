#include "collect/sample/target_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* --- without signalfd: a thread receives the signals and writes them into a pipe --- */

struct receiver {
	sigset_t signals;
	int write_fd;
};

/* Ends when the other end is closed and one more signal comes. */
static void *receive(void *context)
{
	struct receiver *receiver = context;
	siginfo_t info;
	struct signalfd_siginfo signal = { .ssi_signo = 0 };
	ssize_t written = sizeof(signal);
	while (written == (ssize_t)sizeof(signal)) {
		if (sigwaitinfo(&receiver->signals, &info) < 0)
			continue;
		signal.ssi_signo = (uint32_t)info.si_signo;
		signal.ssi_code = info.si_code;
		written = write(receiver->write_fd, &signal, sizeof(signal));
	}
	close(receiver->write_fd);
	free(receiver);
	return NULL;
}

/* Returns a descriptor from which struct signalfd_siginfo can be read, or -1 with errno. */
static int open_pipe(const sigset_t *signals)
{
	int fds[2];
	pthread_t thread;
	struct receiver *receiver = malloc(sizeof(*receiver));
	if (!receiver || pipe2(fds, O_CLOEXEC) < 0) {
		free(receiver);
		return -1;
	}
	*receiver = (struct receiver){ .signals = *signals, .write_fd = fds[1] };
	int error = fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? errno : pthread_create(&thread, NULL, receive, receiver);
	if (error == 0) {
		pthread_detach(thread);
		return fds[0];
	}
	close(fds[0]);
	close(fds[1]);
	free(receiver);
	errno = error;
	return -1;
}

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
		*fd = open_pipe(&signals);
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
