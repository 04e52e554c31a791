#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "cmd/command.h"
#include "cmd/mcp.h"

enum { SECONDS_MOST = 120 };

static void limit(int resource, rlim_t value)
{
	struct rlimit limits;
	if (getrlimit(resource, &limits) == 0 && (limits.rlim_cur == RLIM_INFINITY || limits.rlim_cur > value)) {
		limits.rlim_cur = value;
		setrlimit(resource, &limits);
	}
}

_Noreturn static void run_in_child(const struct mcp_words *words, int out, int err)
{
	int null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(EXIT_FAILED);
	setpgid(0, 0);
	unsetenv("DEBUGINFOD_URLS"); /* no downloads */
	path_confine();
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, SECONDS_MOST);
	alarm(SECONDS_MOST);
	int status = dispatch((int)words->count, words->words);
	fflush(stderr);
	_exit(status);
}

/* Reads what is there. Returns false at the end of the pipe, when there is too much, or with *failure set. */
static bool read_part(int fd, struct buffer *to, int *failure)
{
	enum { PART = 64 * 1024 };
	uint8_t *next = buffer_extend(to, PART);
	if (!next)
		return false;
	size_t had = to->size - PART;
	ssize_t got = read(fd, next, PART);
	to->size = had + (got > 0 ? (size_t)got : 0);
	if (got < 0 && errno != EINTR)
		*failure = errno;
	return (got > 0 || (got < 0 && errno == EINTR)) && to->size <= MCP_OUTPUT_MOST;
}

static void read_pipes(int out, int err, struct mcp_output *output)
{
	struct pollfd pipes[] = { { .fd = out, .events = POLLIN }, { .fd = err, .events = POLLIN } };
	struct buffer *buffers[] = { &output->out, &output->err };
	while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
		if (poll(pipes, 2, -1) < 0)
			continue;
		for (int i = 0; i < 2; i++) {
			if (!pipes[i].revents || read_part(pipes[i].fd, buffers[i], &output->failure))
				continue;
			pipes[i].fd = -1;
			/* Too much, no memory, or a failed call: nobody reads the rest. */
			if (buffers[i]->size > MCP_OUTPUT_MOST || buffer_error(buffers[i]) < 0 || output->failure)
				return;
		}
	}
}

static int finish(pid_t child, struct mcp_output *output, struct error *error)
{
	int status = 0;
	bool is_large = output->out.size > MCP_OUTPUT_MOST || output->err.size > MCP_OUTPUT_MOST;
	kill(-child, SIGKILL); /* has no effect on a process that has ended, except for what it left behind */
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (is_large)
		return error_set(error, ERROR_LIMIT,
				 "the answer is larger than %d bytes (a smaller limit, or a larger "
				 "threshold)",
				 MCP_OUTPUT_MOST);
	if (output->failure)
		return error_set(error, ERROR_SYSTEM, "cannot read the answer of the command: %s",
				 strerror(output->failure));
	buffer_append_byte(&output->out, 0);
	buffer_append_byte(&output->err, 0);
	if (buffer_error(&output->out) < 0 || buffer_error(&output->err) < 0)
		return error_set(error, ERROR_MEMORY, "out of memory");
	if (WIFSIGNALED(status) && output->out.size <= 1)
		return error_set(error, ERROR_SYSTEM, "the command was ended by signal %d (limit %d s)",
				 WTERMSIG(status), SECONDS_MOST);
	output->failed =
		!WIFEXITED(status) || (WEXITSTATUS(status) != EXIT_DONE && WEXITSTATUS(status) != EXIT_EXCEEDED);
	return 0;
}

int mcp_call(const struct mcp_words *words, struct mcp_output *output, struct error *error)
{
	int out[2], err[2];
	buffer_init(&output->out);
	buffer_init(&output->err);
	output->failure = 0;
	if (pipe2(out, O_CLOEXEC) < 0)
		return error_set_errno(error, "cannot make a pipe");
	if (pipe2(err, O_CLOEXEC) < 0) {
		close(out[0]);
		close(out[1]);
		return error_set_errno(error, "cannot make a pipe");
	}
	pid_t child = fork();
	if (child == 0)
		run_in_child(words, out[1], err[1]);
	int status = child < 0 ? error_set_errno(error, "cannot start a process") : 0;
	close(out[1]);
	close(err[1]);
	if (child > 0) {
		setpgid(child, child);
		read_pipes(out[0], err[0], output);
		status = finish(child, output, error);
	}
	close(out[0]);
	close(err[0]);
	return status;
}
