/* Children of bare fork system calls, which the C library does not register, made while another thread sets signal
 * actions: each child sets an action too. */
#include "check.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { CHILDREN = 24, LONGEST_MS = 5000 };

static volatile bool is_over;

static void *set_actions(void *unused)
{
	while (!is_over)
		handle(SIGUSR1, count_one, SA_RESTART);
	return unused;
}

/* Returns false if the child hangs or fails. */
static bool ends_well(pid_t child)
{
	int status = 0;
	for (int waited = 0; waited < LONGEST_MS; waited++) {
		if (waitpid(child, &status, WNOHANG) == child)
			return WIFEXITED(status) && WEXITSTATUS(status) == 0;
		usleep(1000);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return false;
}

int main(void)
{
	pthread_t thread;
	bool all_end = pthread_create(&thread, NULL, set_actions, NULL) == 0;
	for (int i = 0; i < CHILDREN && all_end; i++) {
		busy(0.01);
		pid_t child = (pid_t)syscall(SYS_fork);
		if (child == 0) {
			handle(SIGUSR2, count_one, 0);
			_exit(0);
		}
		all_end = ends_well(child);
	}
	is_over = true;
	pthread_join(thread, NULL);
	check(all_end, "all children end");
	check(cpu_seconds() > 0.1, "some work");
	check(handled == 0, "no signals");
	return checks_failed != 0;
}
