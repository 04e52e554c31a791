/* Forks repeatedly while another thread allocates: each child computes, allocates, forks a child of its own, and
 * must end well. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "moment.h"

static atomic_bool is_over;
static int at_fork_runs;

static void count_at_fork(void)
{
	at_fork_runs++;
}

static void *allocate(void *unused)
{
	while (!atomic_load(&is_over)) {
		char *bytes = malloc(1000);

		CHECK(bytes != NULL);
		memset(bytes, 1, 1000);
		free(bytes);
	}
	return unused;
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		CHECK(errno == EINTR);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

NOINLINE static int child_work(int depth)
{
	char *bytes = malloc(100000);

	CHECK(bytes != NULL && getpid() != getppid());
	memset(bytes, depth, 100000);
	burn(300);
	CHECK(bytes[99999] == depth);
	free(bytes);
	if (depth == 0)
		return 7;
	pid_t grandchild = fork();
	CHECK(grandchild >= 0);
	if (!grandchild)
		_exit(child_work(depth - 1));
	return wait_for(grandchild) + 1;
}

int main(void)
{
	pthread_t other;
	int forked = 0;

	CHECK(pthread_atfork(count_at_fork, count_at_fork, NULL) == 0);
	CHECK(pthread_create(&other, NULL, allocate, NULL) == 0);
	while (moment_goes_on(3)) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child)
			_exit(child_work(1));
		CHECK(wait_for(child) == 8);
		forked++;
		CHECK(at_fork_runs == 2 * forked);
	}
	atomic_store(&is_over, true);
	CHECK(pthread_join(other, NULL) == 0);
	return moment_ends("each child ended well\n");
}
