#include "ui/explore/io.h"

#include <errno.h>
#include <stdio_ext.h>
#include <sys/wait.h>

#include "base/quote.h"

/* The write function of the stream: writes to the target. stdio expects 0 on failure. */
static ssize_t pass_on(void *cookie, const char *bytes, size_t size)
{
	struct output *output = cookie;
	if (explore_interrupted())
		output->stopped = true;
	if (output->stopped || output->write_failure) {
		errno = EINTR;
		return 0;
	}
	if (line_wrap_write(&output->wrap, bytes, size) == 0 && !ferror(output->target))
		return (ssize_t)size;
	if (errno == EPIPE || explore_interrupted())
		output->stopped = true;
	else
		output->write_failure = errno;
	return 0;
}

int explore_output_open(struct output *output, FILE *out, const char *shell, int columns, struct error *error)
{
	*output = (struct output){ .target = out, .is_pipe = shell != NULL };
	if (shell && !*shell)
		return error_set(error, ERROR_USAGE, "a shell command is missing after '|'");
	if (shell) {
		fflush(out); /* text that was printed before comes first */
		output->target = popen(shell, "we");
		if (!output->target)
			return error_set_errno(error, "cannot start a shell");
	}
	line_wrap_init(&output->wrap, output->target, columns > 0 ? (size_t)columns : 0);
	output->stream = fopencookie(output, "w", (cookie_io_functions_t){ .write = pass_on });
	if (output->stream)
		return 0;
	if (output->is_pipe)
		pclose(output->target);
	return error_set(error, ERROR_MEMORY, "out of memory");
}

static int close_shell(struct output *output, struct error *error)
{
	int status = pclose(output->target);
	if (status >= 0 && WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127))
		return error_set(error, ERROR_SYSTEM, "the shell could not run the command after '|'");
	return 0;
}

int explore_output_close(struct output *output, bool *gone, struct error *error)
{
	fclose(output->stream); /* a failure of pass_on is stored in `output` */
	if (!output->stopped && !output->write_failure)
		line_wrap_end(&output->wrap);
	line_wrap_release(&output->wrap);
	if (output->is_pipe)
		return close_shell(output, error);
	errno = 0;
	if (explore_interrupted()) {
		/* Drop the buffer, which contains text of the interrupted report. */
		__fpurge(output->target);
		clearerr(output->target);
		return 0;
	}
	if (fflush(output->target) && !output->write_failure) {
		if (errno == EPIPE || explore_interrupted())
			output->stopped = true;
		else
			output->write_failure = errno;
	}
	if (!output->write_failure) {
		*gone = output->stopped && !explore_interrupted();
		clearerr(output->target);
		return 0;
	}
	errno = output->write_failure;
	return error_set_errno(error, "cannot write the report");
}
