#include "frames/jail/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"
#include "frames/jail/task.h"
#include "frames/jail/wire.h"
#include "frames/native/debuginfod.h"
#include "processor/system_call.h"

static char file_path[PATH_MAX]; /* of the task's file */

/* The recorder has gone, or there is no memory for a message. */
static _Noreturn void exit_with_failure(void)
{
	_exit(EXIT_FAILURE);
}

static void send_message(uint32_t kind, const void *bytes, size_t size)
{
	if (wire_send(CONFINED_SOCKET, kind, bytes, size, -1) < 0)
		exit_with_failure();
}

/* Requests something by a text. The answer begins with 0 or an errno, which is returned; the caller releases it. */
static int32_t request(uint32_t kind, const void *bytes, size_t size, uint32_t answer_kind, struct wire_message *answer)
{
	int32_t number = EPROTO;
	send_message(kind, bytes, size);
	if (wire_wait(CONFINED_SOCKET, answer) < 0 || answer->kind != answer_kind || answer->size < sizeof(number))
		exit_with_failure();
	memcpy(&number, answer->bytes, sizeof(number));
	return number;
}

/* Opens a file through the recorder. Returns a descriptor or -errno. */
static int open_by(uint32_t kind, const void *bytes, size_t size)
{
	struct wire_message answer;
	int32_t number = request(kind, bytes, size, WIRE_OPENED, &answer);
	int fd = number == 0 && answer.fd >= 0 ? answer.fd : -1;
	answer.fd = -1;
	wire_message_release(&answer);
	if (fd < 0)
		return number > 0 ? -number : -EIO;
	return fd;
}

/* --- system calls that the filter traps --- */

/* path_open_regular opens a descriptor of this process again. The descriptors that the recorder opened for it are readable already. */
static int open_own(const char *number)
{
	int fd = fcntl((int)strtol(number, NULL, 10), F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

/* libdw looks for the file of a split unit where it was compiled; it may be beside the program now. */
static int open_path(const char *path)
{
	static const char own[] = "/proc/self/fd/";
	if (strncmp(path, own, strlen(own)) == 0)
		return open_own(path + strlen(own));
	int fd = open_by(WIRE_OPEN, path, strlen(path));
	size_t length = strlen(path);
	const char *slash = strrchr(file_path, '/');
	if (fd != -ENOENT || !slash || length < sizeof(".dwo") || strcmp(path + length - 4, ".dwo") != 0)
		return fd;
	char beside[PATH_MAX];
	int bytes = snprintf(beside, sizeof(beside), "%.*s%s", (int)(slash + 1 - file_path), file_path,
			     path_basename(path));
	return bytes > 0 && (size_t)bytes < sizeof(beside) ? open_by(WIRE_OPEN, beside, (size_t)bytes) : fd;
}

static int64_t read_link(const char *path, char *target, size_t room)
{
	struct wire_message answer;
	int32_t number = request(WIRE_READ_LINK, path, strlen(path), WIRE_LINK, &answer);
	size_t size = answer.size - sizeof(number);
	if (size > room)
		size = room;
	if (number == 0)
		memcpy(target, answer.bytes + sizeof(number), size);
	wire_message_release(&answer);
	return number == 0 ? (int64_t)size : -number;
}

static int64_t replace_call(int call, const ucontext_t *context)
{
	bool is_at = call == SYS_openat || call == SYS_readlinkat;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	const char *path = (const char *)(uintptr_t)system_call_argument(context, is_at ? 1 : 0);
	if (!path || path[0] != '/')
		return -ENOENT; /* this process has no folder */
	if (call == SYS_openat)
		return open_path(path);
#ifdef SYS_open
	if (call == SYS_open)
		return open_path(path);
#endif
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	char *target = (char *)(uintptr_t)system_call_argument(context, is_at ? 2 : 1);
	return read_link(path, target, system_call_argument(context, is_at ? 3 : 2));
}

/* The signal is synchronous: it interrupts the call's own instruction, so that it may do what the caller may do. */
static void on_trapped_call(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	int saved = errno;
	system_call_return(context, replace_call(info->si_syscall, context));
	errno = saved;
}

/* --- tasks --- */

static int open_build_id(const uint8_t *build_id, size_t bytes)
{
	int fd = open_by(WIRE_OPEN_BUILD_ID, build_id, bytes);
	return fd < 0 ? -1 : fd;
}

void inside_progress(uint64_t done)
{
	send_message(WIRE_PROGRESS, &done, sizeof(done));
}

static void send_done(int32_t status, const struct error *error, const struct buffer *answer)
{
	struct buffer message;
	const char *text = status < 0 ? error->message : "";
	const uint32_t size = (uint32_t)strlen(text);
	buffer_init(&message);
	buffer_append(&message, &status, sizeof(status));
	buffer_append(&message, &size, sizeof(size));
	buffer_append(&message, text, size);
	if (status == 0)
		buffer_append(&message, answer->bytes, answer->size);
	if (buffer_error(&message))
		exit_with_failure();
	send_message(WIRE_DONE, message.bytes, message.size);
	buffer_release(&message);
}

/* Runs one task and sends its answer. */
static void run(void *context, struct wire_message *message)
{
	struct cursor cursor = cursor_over(message->bytes, message->size);
	struct wire_run head;
	const uint8_t *bytes = cursor_bytes(&cursor, sizeof(head));
	if (message->kind != WIRE_RUN || !bytes)
		exit_with_failure();
	memcpy(&head, bytes, sizeof(head));
	bytes = cursor_bytes(&cursor, head.path_bytes);
	if (!bytes)
		exit_with_failure();
	snprintf(file_path, sizeof(file_path), "%.*s", (int)head.path_bytes, (const char *)bytes);
	struct jail_input input = { .fd = message->fd, .path = file_path, .request = cursor };
	message->fd = -1;
	struct buffer answer;
	struct error error = { 0 };
	buffer_init(&answer);
	int status = ((const struct jail_task *)head.task)->run(context, &input, &answer, &error);
	send_done(status == 0 ? buffer_error(&answer) : status, &error, &answer);
	buffer_release(&answer);
}

/* Handlers of the recorder must not run in its copy. */
static int set_signals(void)
{
	const struct sigaction plain = { .sa_handler = SIG_DFL };
	const struct sigaction action = { .sa_sigaction = on_trapped_call, .sa_flags = SA_SIGINFO };
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &plain, NULL); /* some cannot be set */
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGSYS);
	return sigaction(SIGSYS, &action, NULL) < 0 || sigprocmask(SIG_UNBLOCK, &signals, NULL) < 0 ? -1 : 0;
}

static void send_ready(const char *failed_step, int number)
{
	char text[128] = "";
	int32_t head = failed_step ? number : 0;
	memcpy(text, &head, sizeof(head));
	if (failed_step)
		snprintf(text + sizeof(head), sizeof(text) - sizeof(head), "%s", failed_step);
	send_message(WIRE_READY, text, sizeof(head) + strlen(text + sizeof(head)));
}

void inside_run(const struct confinement *confinement, void *context)
{
	debuginfod_open_through(open_build_id);
	const char *failed_step = set_signals() < 0 ? "handling SIGSYS" : confine(confinement);
	int number = errno;
	send_ready(failed_step, number);
	if (failed_step)
		exit_with_failure();
	struct wire_message message;
	while (wire_wait(CONFINED_SOCKET, &message) == 0) {
		run(context, &message);
		wire_message_release(&message);
	}
	_exit(EXIT_SUCCESS);
}
