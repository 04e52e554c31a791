#include "collect/sample/child_end.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct waiter {
	pid_t child;
	int write_fd;
};

/* Leaves the child's status for the caller. Ends early if the caller collects it first. */
static void *wait_for_child(void *context)
{
	struct waiter *waiter = context;
	siginfo_t info;
	while (waitid(P_PID, (id_t)waiter->child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	close(waiter->write_fd);
	free(waiter);
	return NULL;
}

static int open_pipe(pid_t child)
{
	int fds[2];
	pthread_t thread;
	struct waiter *waiter = malloc(sizeof(*waiter));
	if (!waiter || pipe2(fds, O_CLOEXEC) < 0) {
		free(waiter);
		return -1;
	}
	*waiter = (struct waiter){ .child = child, .write_fd = fds[1] };
	int error = pthread_create(&thread, NULL, wait_for_child, waiter);
	if (error == 0) {
		pthread_detach(thread);
		return fds[0];
	}
	close(fds[0]);
	close(fds[1]);
	free(waiter);
	errno = error;
	return -1;
}

int child_end_open(pid_t child)
{
	int fd = (int)syscall(SYS_pidfd_open, child, 0);
	return fd >= 0 ? fd : open_pipe(child);
}
