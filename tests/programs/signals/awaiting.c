/* Signals that the program awaits: all are blocked, and accepted by sigwait, sigtimedwait and signalfd. */
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>

enum { SIGNALS = 20, PAUSE_US = 3000 };

static void *send_some(void *argument)
{
	(void)argument;
	for (int i = 0; i < SIGNALS; i++) {
		usleep(PAUSE_US);
		kill(getpid(), SIGRTMIN + 5 + i % 2);
	}
	return NULL;
}

static void wait_for_all(const sigset_t *full)
{
	pthread_t thread;
	int own = 0, others = 0;
	pthread_create(&thread, NULL, send_some, NULL);
	for (int i = 0; i < SIGNALS; i++) {
		int number = 0;
		busy(0.001);
		if (sigwait(full, &number) == 0 && (number == SIGRTMIN + 5 || number == SIGRTMIN + 6))
			own++;
		else
			others++;
	}
	pthread_join(thread, NULL);
	check(own == SIGNALS && others == 0, "sigwait has what was sent");
}

static void wait_in_vain(const sigset_t *full)
{
	const struct timespec timeout = { .tv_nsec = 100000000 };
	siginfo_t info;
	int least = 0;
	for (int i = 0; i < 3; i++) {
		double start = seconds();
		busy(0.003);
		int result = sigtimedwait(full, &info, &timeout);
		least += result < 0 && errno == EAGAIN && seconds() - start >= 0.1;
	}
	check(least == 3, "sigtimedwait has nothing, after its time");
}

static void read_from_descriptor(const sigset_t *full)
{
	int fd = signalfd(-1, full, SFD_NONBLOCK);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	struct signalfd_siginfo info;
	busy(0.02);
	check(poll(&poll_fd, 1, 50) == 0 && read(fd, &info, sizeof(info)) < 0 && errno == EAGAIN,
	      "signalfd has nothing");
	raise(SIGUSR2);
	check(poll(&poll_fd, 1, -1) == 1 && read(fd, &info, sizeof(info)) == sizeof(info) && info.ssi_signo == SIGUSR2,
	      "signalfd has what was sent");
	close(fd);
}

/* Sends the signal that has the ticks' number, while it is blocked. */
static void wait_for_number_of_ticks(const sigset_t *full)
{
	sigset_t pending;
	siginfo_t info;
	union sigval value = { .sival_int = 42 };
	sigqueue(getpid(), TICKS, value);
	busy(0.01);
	sigpending(&pending);
	check(sigismember(&pending, TICKS), "its number is pending");
	check(sigwaitinfo(full, &info) == TICKS && info.si_code == SI_QUEUE && info.si_value.sival_int == 42,
	      "its number is awaited");
	busy(0.01);
	sigpending(&pending);
	check(!sigismember(&pending, TICKS), "its number was taken");
}

int main(void)
{
	sigset_t full;
	sigfillset(&full);
	sigprocmask(SIG_BLOCK, &full, NULL);
	wait_for_all(&full);
	wait_in_vain(&full);
	read_from_descriptor(&full);
	wait_for_number_of_ticks(&full);
	return checks_failed != 0;
}
