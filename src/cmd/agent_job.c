#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/agent.h"
#include "collect/sample/target_signals.h"

/* As shells report it. */
enum { STATUS_OF_SIGNAL = 128 };

_Noreturn static void run_in_child(agent_work *work, const void *context, int text_fd, const sigset_t *signals,
				   pid_t parent)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || dup2(text_fd, STDERR_FILENO) < 0)
		_exit(EXIT_FAILED);
	sigprocmask(SIG_SETMASK, signals, NULL);
	int status = work(context);
	fflush(stdout);
	fflush(stderr);
	_exit(status);
}

int agent_job_start(struct agent_job *job, agent_work *work, const void *context, const sigset_t *signals,
		    struct error *error)
{
	pid_t parent = getpid();
	int text_fd = memfd_create("cpprof-messages", MFD_CLOEXEC);
	if (text_fd < 0)
		return error_set_errno(error, "cannot start a process");
	fflush(stdout);
	fflush(stderr);
	pid_t child = fork();
	if (child == 0)
		run_in_child(work, context, text_fd, signals, parent);
	int end_fd = child > 0 ? target_end_open(child) : -1;
	int number = errno;
	if (end_fd >= 0) {
		*job = (struct agent_job){ .pid = child, .end_fd = end_fd, .text_fd = text_fd };
		return 0;
	}
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	close(text_fd);
	errno = number;
	return error_set_errno(error, "cannot start a process");
}

/* Reads the lines that begin with the name of a command: a closing line has figures that change each time, and begins with "cpprof: ". */
static void read_text(int fd, char *text, size_t bytes)
{
	static const char closing[] = "cpprof: ";
	ssize_t got = pread(fd, text, bytes - 1, 0);
	text[got > 0 ? got : 0] = 0;
	char *to = text;
	for (char *line = text, *next; *line; line = next) {
		size_t length = strcspn(line, "\n");
		length += line[length] == '\n';
		next = line + length;
		if (strncmp(line, closing, strlen(closing)) == 0)
			continue;
		memmove(to, line, length);
		to += length;
	}
	*to = 0;
}

static uint64_t ns_of(const struct timeval *time)
{
	enum { NS_PER_S = 1000000000, NS_PER_US = 1000 };
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_usec * NS_PER_US;
}

void agent_job_end(struct agent_job *job, struct agent_end *end)
{
	int status = 0;
	struct rusage usage = { 0 };
	pid_t ended;
	while ((ended = wait4(job->pid, &status, 0, &usage)) < 0 && errno == EINTR)
		;
	*end = (struct agent_end){
		.status = ended < 0             ? EXIT_FAILED
			  : WIFSIGNALED(status) ? STATUS_OF_SIGNAL + WTERMSIG(status)
						: WEXITSTATUS(status),
		.cpu_ns = ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime),
	};
	read_text(job->text_fd, end->text, sizeof(end->text));
	close(job->end_fd);
	close(job->text_fd);
	*job = (struct agent_job){ 0 };
}
