#include "frames/jail/once.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/path.h"

/* Runs a task in this process. */
static int run_here(const struct jail_request *request, struct buffer *answer, struct error *error)
{
	struct jail_input input = { .fd = fcntl(request->fd, F_DUPFD_CLOEXEC, 0),
				    .path = request->path,
				    .request = cursor_over(request->bytes, request->size) };
	if (input.fd < 0)
		return error_set_errno(error, "cannot read '%s'", request->path);
	int status = request->task->run(NULL, &input, answer, error);
	return status == 0 && buffer_error(answer) ? error_set(error, ERROR_MEMORY, "out of memory") : status;
}

static int run_inside(struct jail *jail, const struct jail_request *request, struct buffer *answer, struct error *error)
{
	struct cursor cursor;
	int status = jail_run(jail, request, &cursor, error);
	if (status < 0)
		return status;
	size_t size = cursor_left(&cursor);
	buffer_append(answer, cursor_bytes(&cursor, size), size);
	return buffer_error(answer) ? error_set(error, ERROR_MEMORY, "out of memory") : 0;
}

int jail_run_on(const struct jail_task *task, int fd, const char *path, const struct buffer *request,
		const struct frames_limits *limits, struct buffer *answer, struct error *error)
{
	static const struct frames_limits usual;
	struct jail jail;
	struct download download;
	const struct jail_request all = { .task = task,
					  .fd = fd,
					  .path = path,
					  .bytes = request ? request->bytes : NULL,
					  .size = request ? request->size : 0 };
	int status;
	if (request && buffer_error(request))
		return error_set(error, ERROR_MEMORY, "out of memory");
	jail_init(&jail, limits ? limits : &usual, NULL);
	download_init(&download);
	jail.download = &download;
	if (jail_prepare(&jail) == 0)
		status = run_inside(&jail, &all, answer, error);
	else if (jail.is_interrupted)
		status = error_set(error, ERROR_LIMIT, "%s '%s' was interrupted", task->doing, path);
	else if (jail_trusts(fd))
		status = run_here(&all, answer, error);
	else
		status = error_set(error, ERROR_UNSUPPORTED,
				   "cannot read '%s', another user's, in a process without privileges: %s", path,
				   jail.obstacle);
	jail_release(&jail);
	return status;
}

int jail_run_once(const struct jail_task *task, const char *path, const struct buffer *request, struct buffer *answer,
		  struct error *error)
{
	int fd = path_open_regular(path);
	if (fd < 0)
		return error_set_errno(error, "cannot read '%s'", path);
	int status = jail_run_on(task, fd, path, request, NULL, answer, error);
	close(fd);
	return status;
}
