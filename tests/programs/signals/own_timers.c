/* A program with timers of its own: their signals must arrive as often as they should, and no signals of others. */
#include "check.h"

static volatile sig_atomic_t profiles, alarms, timers, values;

static void on_profile(int number)
{
	(void)number;
	profiles++;
}

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

static void on_timer(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	timers += info->si_code == SI_TIMER;
	values += info->si_value.sival_int == 99;
}

int main(void)
{
	const struct itimerval each_10_ms = { { 0, 10000 }, { 0, 10000 } }, never = { { 0, 0 }, { 0, 0 } };
	const struct itimerspec each_5_ms = { { 0, 5000000 }, { 0, 5000000 } };
	struct sigaction action = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = TICKS,
				  .sigev_value = { .sival_int = 99 } };
	timer_t timer;
	handle(SIGPROF, on_profile, SA_RESTART);
	handle(SIGALRM, on_alarm, SA_RESTART);
	sigaction(TICKS, &action, NULL);
	check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "a timer of the ticks' number");
	timer_settime(timer, 0, &each_5_ms, NULL);
	double start = seconds();
	setitimer(ITIMER_PROF, &each_10_ms, NULL);
	setitimer(ITIMER_REAL, &each_10_ms, NULL);
	busy(0.5);
	/* The kernel checks ITIMER_PROF at its ticks, at which other processes run on a busy machine. */
	while (profiles < 5 && seconds() - start < 30)
		busy(0.1);
	setitimer(ITIMER_PROF, &never, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	timer_delete(timer);
	double time = seconds() - start;
	fprintf(stderr, "%d profiles, %d alarms, %d timers in %.3f s\n", profiles, alarms, timers, time);
	check(profiles >= 5 && profiles <= 60, "ITIMER_PROF");
	check(alarms >= 5 && alarms <= time / 0.01 + 2, "ITIMER_REAL");
	check(timers >= 5 && timers <= time / 0.005 + 2 && values == timers, "timer_create");
	return checks_failed != 0;
}
