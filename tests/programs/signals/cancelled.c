/* Threads that are cancelled in calls into which the runtime delivers no ticks. The CPU time of their clean-up
 * handlers must be recorded. */
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>

static void by_poll(void)
{
	poll(NULL, 0, -1);
}

static void by_ppoll(void)
{
	sigset_t none;
	sigemptyset(&none);
	ppoll(NULL, 0, NULL, &none);
}

static void by_sigwaitinfo(void)
{
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, SIGUSR2);
	sigwaitinfo(&one, NULL);
}

static void by_sigsuspend(void)
{
	sigset_t none;
	sigemptyset(&none);
	sigsuspend(&none);
}

/* syscall() is no cancellation point, so the cancellation is asynchronous. */
static void by_syscall(void)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	syscall(SYS_poll, NULL, 0, -1);
}

static void (*const calls[])(void) = { by_poll, by_ppoll, by_sigwaitinfo, by_sigsuspend, by_syscall };
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static int cleaned;

static __attribute__((noinline)) void clean_up(void *unused)
{
	(void)unused;
	busy(0.15);
	cleaned++;
}

static void *wait_for_ever(void *call)
{
	pthread_cleanup_push(clean_up, NULL);
	calls[*(int *)call]();
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	for (int i = 0; i < CALLS; i++) {
		pthread_t thread;
		void *result = NULL;
		pthread_create(&thread, NULL, wait_for_ever, &i);
		usleep(30000);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		check(result == PTHREAD_CANCELED && cleaned == i + 1, "cancelled");
	}
	return checks_failed != 0;
}
