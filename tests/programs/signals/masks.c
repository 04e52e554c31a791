/* Signal masks: the kernel's calls must return the mask that was set, in this thread, in new threads, and after exec. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>

static bool blocked(int number)
{
	sigset_t now;
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	return sigismember(&now, number) == 1;
}

static void *see_inherited(void *result)
{
	*(bool *)result = blocked(TICKS) && blocked(SIGUSR1);
	return NULL;
}

static bool sees_what_creator_blocks(void)
{
	pthread_t thread;
	bool result = false;
	pthread_create(&thread, NULL, see_inherited, &result);
	pthread_join(thread, NULL);
	return result;
}

/* The child executes this program again, which checks the mask that it inherited. */
static bool inherits_in_exec(char **argv, bool wanted)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		execl(argv[0], argv[0], wanted ? "blocked" : "free", NULL);
		_exit(2);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void change_masks(void)
{
	sigset_t full, old, one;
	sigfillset(&full);
	sigemptyset(&one);
	sigaddset(&one, TICKS);
	check(!blocked(TICKS), "nothing is blocked at first");
	sigprocmask(SIG_BLOCK, &full, &old);
	check(!sigismember(&old, TICKS) && blocked(TICKS), "all are blocked");
	busy(0.02);
	sigprocmask(SIG_UNBLOCK, &one, &old);
	check(sigismember(&old, TICKS) && !blocked(TICKS) && blocked(SIGUSR1), "one less");
	sigprocmask(SIG_BLOCK, &one, NULL);
	check(blocked(TICKS), "and one more");
	check(sigprocmask(-1, &one, NULL) < 0 && errno == EINVAL, "an error is one");
}

static void see_pending(void)
{
	sigset_t pending, none;
	sigpending(&pending);
	sigemptyset(&none);
	check(!memcmp(&pending, &none, 8), "nothing is pending");
	raise(SIGUSR1);
	sigpending(&pending);
	sigaddset(&none, SIGUSR1);
	check(!memcmp(&pending, &none, 8), "one is");
	signal(SIGUSR1, SIG_IGN);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return blocked(TICKS) != !strcmp(argv[1], "blocked");
	check(inherits_in_exec(argv, false), "free in another program");
	change_masks();
	see_pending();
	check(sees_what_creator_blocks(), "a thread inherits it");
	check(inherits_in_exec(argv, true), "blocked in another program");
	return checks_failed != 0;
}
