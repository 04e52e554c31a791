/*
 * Signal handlers that work and are interrupted: one by a timer of the program every 300 us, one by SIGPROF every
 * ms of CPU time, and one raised signal whose handler raises another. Each must find the right mask and errno, and
 * all raised signals must arrive.
 */
#include <errno.h>
#include <signal.h>
#include <sys/time.h>

#include "moment.h"

static volatile sig_atomic_t by_timer, by_profile, outer, inner;

static bool is_blocked(int number)
{
	sigset_t now;

	CHECK(sigprocmask(SIG_SETMASK, NULL, &now) == 0);
	return sigismember(&now, number);
}

static void on_timer(int number, siginfo_t *info, void *context)
{
	int before = errno;

	CHECK(info->si_code == SI_TIMER && info->si_value.sival_int == 1993 && context);
	CHECK(is_blocked(number) && is_blocked(SIGUSR1));
	burn(30);
	by_timer++;
	errno = before;
}

static void on_profile(int number)
{
	CHECK(is_blocked(number));
	burn(20);
	by_profile++;
}

static void on_outer(int number)
{
	CHECK(is_blocked(number) && !is_blocked(SIGUSR2));
	raise(SIGUSR2);
	burn(20);
	outer++;
}

static void on_inner(int number)
{
	CHECK(is_blocked(number) && is_blocked(SIGUSR1));
	burn(20);
	inner++;
}

static timer_t start_timers(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGRTMIN,
				  .sigev_value.sival_int = 1993 };
	struct itimerspec every = { { 0, 300000 }, { 0, 300000 } };
	struct itimerval profile = { { 0, 1000 }, { 0, 1000 } };
	timer_t timer;

	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	CHECK(timer_settime(timer, 0, &every, NULL) == 0);
	CHECK(setitimer(ITIMER_PROF, &profile, NULL) == 0);
	return timer;
}

static void stop_timers(timer_t timer)
{
	struct itimerval none = { 0 };

	CHECK(setitimer(ITIMER_PROF, &none, NULL) == 0);
	CHECK(timer_delete(timer) == 0);
}

int main(void)
{
	struct sigaction timed = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART }, now;
	int turns = 0;

	sigaddset(&timed.sa_mask, SIGUSR1);
	CHECK(sigaction(SIGRTMIN, &timed, NULL) == 0);
	CHECK(sigaction(SIGPROF, &(struct sigaction){ .sa_handler = on_profile, .sa_flags = SA_RESTART }, NULL) == 0);
	CHECK(sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_outer }, NULL) == 0);
	CHECK(sigaction(SIGUSR2, &(struct sigaction){ .sa_handler = on_inner }, NULL) == 0);
	timer_t timer = start_timers();
	for (; moment_goes_on(20) || by_timer < 5 || by_profile < 1; turns++) {
		errno = turns;
		raise(SIGUSR1);
		burn(20);
		CHECK(errno == turns);
	}
	stop_timers(timer);
	CHECK(outer == turns && inner == turns);
	CHECK(sigaction(SIGRTMIN, NULL, &now) == 0 && now.sa_sigaction == on_timer);
	CHECK(sigaction(SIGPROF, NULL, &now) == 0 && now.sa_handler == on_profile);
	return moment_ends("each signal was handled\n");
}
