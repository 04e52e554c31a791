#include "collect/sample/target_signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

int target_signals_take(int *fd, sigset_t *old, struct error *error)
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGPIPE);
	sigaddset(&signals, SIGXFSZ); /* a file size limit makes a write fail; it must not end the monitor */
	sigprocmask(SIG_BLOCK, &signals, old);
	sigdelset(&signals, SIGPIPE);
	sigdelset(&signals, SIGXFSZ);
	*fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
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
