/* Signal actions: the old action must be the action that was set, also for the ticks' number, and handlers must run
 * as requested. */
#include "check.h"

#include <pthread.h>
#include <setjmp.h>

static siginfo_t seen;
static bool was_blocked, usr1_was_blocked;

static void keep(int number, siginfo_t *info, void *context)
{
	sigset_t now;
	(void)number;
	(void)context;
	seen = *info;
	sigprocmask(SIG_SETMASK, NULL, &now);
	was_blocked = sigismember(&now, TICKS);
	usr1_was_blocked = sigismember(&now, SIGUSR1);
	handled++;
}

static void set_and_see(int number, const char *what)
{
	struct sigaction action = { .sa_sigaction = keep, .sa_flags = SA_SIGINFO | SA_ONSTACK }, old, again;
	memset(&old, 0xff, sizeof(old));
	sigfillset(&action.sa_mask);
	sigdelset(&action.sa_mask, SIGUSR2);
	sigaction(number, &action, &old);
	check(old.sa_handler == SIG_DFL && old.sa_flags == 0 && !sigismember(&old.sa_mask, TICKS), what);
	sigaction(number, NULL, &again);
	check(again.sa_sigaction == keep && (again.sa_flags & ~0x04000000) == (SA_SIGINFO | SA_ONSTACK) &&
		      sigismember(&again.sa_mask, TICKS) && sigismember(&again.sa_mask, SIGUSR1) &&
		      !sigismember(&again.sa_mask, SIGUSR2) && !sigismember(&again.sa_mask, SIGKILL),
	      "... and what was set");
	action.sa_handler = SIG_IGN;
	action.sa_flags = 0;
	sigemptyset(&action.sa_mask);
	sigaction(number, &action, &old);
	sigaction(number, NULL, &again);
	check(old.sa_sigaction == keep && sigismember(&old.sa_mask, TICKS) && again.sa_handler == SIG_IGN &&
		      !sigismember(&again.sa_mask, TICKS),
	      "... and what was set then");
	check(signal(number, count_one) == SIG_IGN && signal(number, SIG_DFL) == count_one, "... by signal() too");
}

static void queue_number_of_ticks(void)
{
	struct sigaction action = { .sa_sigaction = keep, .sa_flags = SA_SIGINFO };
	union sigval value = { .sival_int = 7 };
	sigaddset(&action.sa_mask, SIGUSR1);
	sigaction(TICKS, &action, NULL);
	handled = 0;
	busy(0.02);
	check(handled == 0, "ticks are not the program's");
	for (int i = 0; i < 100; i++)
		sigqueue(getpid(), TICKS, value);
	check(handled == 100 && seen.si_code == SI_QUEUE && seen.si_value.sival_int == 7, "what is queued is");
	check(was_blocked && usr1_was_blocked, "... with its mask");
}

static void hold_number_of_ticks(void)
{
	union sigval value = { .sival_int = 8 };
	sigset_t full, old;
	sigfillset(&full);
	handled = 0;
	sigprocmask(SIG_BLOCK, &full, &old);
	sigqueue(getpid(), TICKS, value);
	sigqueue(getpid(), TICKS, value);
	busy(0.02);
	check(handled == 0, "what is blocked waits");
	sigprocmask(SIG_SETMASK, &old, NULL);
	check(handled == 2 && seen.si_value.sival_int == 8, "... and comes");
	busy(0.02);
	check(handled == 2, "... once");
}

static void *send_later(void *target)
{
	usleep(50000);
	pthread_kill(*(pthread_t *)target, TICKS);
	return NULL;
}

/* A thread that waits for the signal with the ticks' number. */
static void pause_for_number_of_ticks(void)
{
	pthread_t self = pthread_self(), thread;
	double start = seconds();
	handled = 0;
	pthread_create(&thread, NULL, send_later, &self);
	int result = pause();
	check(result < 0 && errno == EINTR && handled == 1 && seconds() - start > 0.04, "pause ends with it");
	pthread_join(thread, NULL);
}

static sigjmp_buf out;
static void jump(int number)
{
	(void)number;
	siglongjmp(out, 1);
}

static void leave_handlers(void)
{
	volatile int jumps = 0;
	handle(TICKS, jump, 0);
	for (volatile int i = 0; i < 10; i++) {
		if (sigsetjmp(out, 1) == 0)
			raise(TICKS);
		else
			jumps++;
		busy(0.002);
	}
	check(jumps == 10, "handlers are left by jumps");
}

static void handle_once(void)
{
	struct sigaction now;
	handled = 0;
	handle(TICKS, count_one, (int)SA_RESETHAND);
	raise(TICKS);
	sigaction(TICKS, NULL, &now);
	check(handled == 1 && now.sa_handler == SIG_DFL, "a handler for once");
}

int main(void)
{
	set_and_see(SIGUSR2, "an action of some signal");
	set_and_see(TICKS, "an action of the ticks' number");
	queue_number_of_ticks();
	hold_number_of_ticks();
	pause_for_number_of_ticks();
	leave_handlers();
	handle_once();
	fflush(stdout);
	if (checks_failed)
		return 1;
	raise(TICKS); /* its default action ends the program */
	return 2;
}
