#include "base/time_limit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 256 };

static char last_words[MESSAGE_BYTES];

static void end(int number)
{
	(void)number;
	/* Calls only what a signal handler may call. Nothing can be done if the message cannot be written. */
	if (write(STDERR_FILENO, last_words, strlen(last_words)) < 0)
		_exit(1);
	_exit(1);
}

int time_limit_set(double seconds, const char *message, struct error *error)
{
	const double ns_per_s = 1e9;
	struct sigaction action = { .sa_handler = end };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGXCPU };
	struct itimerspec times = { .it_value.tv_sec = (time_t)seconds };
	timer_t timer;
	times.it_value.tv_nsec = (long)((seconds - (double)times.it_value.tv_sec) * ns_per_s);
	snprintf(last_words, sizeof(last_words), "%s\n", message);
	if (sigaction(SIGXCPU, &action, NULL) < 0 || timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) < 0 ||
	    timer_settime(timer, 0, &times, NULL) < 0)
		return error_set_errno(error, "cannot limit the CPU time (--cpu-time 0 runs without a limit)");
	return 0;
}
