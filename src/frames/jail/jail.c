#include "frames/jail/jail.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory_limit.h"
#include "frames/jail/desk.h"
#include "frames/jail/inside.h"
#include "frames/jail/wire.h"

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

enum {
	BUDGET_S = 10,
	/* Naming takes this time for a file, and for each byte of it: with debug information about 20 ns on a machine of 2020. */
	FILE_MS = 5,
	BYTE_NS = 100,
	CHILD_CPU_S = 600, /* for one child; a new one follows */
	SEND_S = 20,       /* the child must read within this time */
	/* The child may get a small part of a busy processor; then it must not sleep. */
	WALL_PER_CPU = 20,
	WALL_S = 60,
	CONFINEMENT_S = 2, /* of CPU time: 100 times as long as it takes */
	CHECK_MS = 50,     /* the interval of looks at the child's clock */
	MEMORY_MB = 2048,
};

void jail_init(struct jail *jail, const struct frames_limits *limits, void *context)
{
	*jail = (struct jail){
		.context = context,
		.socket = -1,
		.budget_ns = limits->cpu_ns ? limits->cpu_ns : BUDGET_S * NS_PER_S,
		.memory_bytes = limits->memory_bytes ? limits->memory_bytes : (uint64_t)MEMORY_MB << 20,
	};
	buffer_init(&jail->inbox);
	interruption_begin(&jail->interruption);
}

/* Ends the child. Returns its status as of waitpid, or 0 if it had to be killed. */
static int end_child(struct jail *jail)
{
	int status = 0;
	if (jail->child == 0)
		return 0;
	/* A child that has ended stays ended. */
	bool ended = waitpid(jail->child, &status, WNOHANG) == jail->child;
	if (!ended) {
		kill(jail->child, SIGKILL);
		while (waitpid(jail->child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(jail->socket);
	jail->socket = -1;
	jail->child = 0;
	buffer_clear(&jail->inbox);
	return ended ? status : 0;
}

void jail_release(struct jail *jail)
{
	end_child(jail);
	buffer_release(&jail->inbox);
}

/* --- time --- */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;
	return clock_gettime(clock, &time) < 0 ? 0 : (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static uint64_t cpu_of(pid_t process)
{
	clockid_t clock;
	return clock_getcpuclockid(process, &clock) == 0 ? clock_ns(clock) : 0;
}

/* --- conversation --- */

struct conversation {
	struct jail *jail;
	bool is_ready; /* false: the child is being confined */
	struct desk desk;
	uint64_t bytes_before; /* of the jail's files */
	uint64_t cpu_began, wall_end;
};

static void show_progress(struct conversation *talk, const struct wire_message *message)
{
	uint64_t done = 0;
	if (message->size != sizeof(done) || !talk->is_ready || !talk->jail->progress)
		return;
	memcpy(&done, message->bytes, sizeof(done));
	talk->jail->progress(talk->jail->context, done);
}

static uint64_t used_ns(const struct conversation *talk)
{
	uint64_t now = cpu_of(talk->jail->child);
	return now > talk->cpu_began ? now - talk->cpu_began : 0;
}

/* The time that the files of the task may take before it is charged to the budget. */
static uint64_t due_ns(const struct conversation *talk)
{
	return FILE_MS * NS_PER_MS + BYTE_NS * (talk->jail->files.bytes - talk->bytes_before);
}

/* The child's confinement is not charged to the task, which may have less time than a machine with dear system calls takes for it. */
static bool is_over_time(const struct conversation *talk)
{
	uint64_t limit = talk->is_ready ? due_ns(talk) + talk->jail->budget_ns : CONFINEMENT_S * NS_PER_S;
	return used_ns(talk) > limit || clock_ns(CLOCK_MONOTONIC) > talk->wall_end;
}

static void charge(const struct conversation *talk)
{
	uint64_t used = used_ns(talk), due = due_ns(talk), over = used > due ? used - due : 0;
	struct jail *jail = talk->jail;
	jail->last_ns = due + jail->budget_ns;
	jail->budget_ns -= over < jail->budget_ns ? over : jail->budget_ns;
}

/* The child's time does not pass while it waits for a download, which has a limit of its own. */
static int answer_request(struct conversation *talk, const struct wire_message *message)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	int status = desk_answer(&talk->desk, talk->jail->socket, message);
	if (message->kind == WIRE_OPEN_BUILD_ID)
		talk->wall_end += clock_ns(CLOCK_MONOTONIC) - began_ns;
	return status;
}

/* Serves the child until it sends a message of this kind. Returns 0, ERROR_LIMIT (time, or a signal that asks to end), the
 * error of wire_poll, or ERROR_CORRUPT: it sent something that was not expected. */
static int await(struct conversation *talk, uint32_t kind, struct wire_message *message)
{
	struct jail *jail = talk->jail;
	for (;;) {
		int status = wire_poll(jail->socket, &jail->inbox, message);
		if (status < 0)
			return status;
		jail->is_interrupted |= interruption_came(&jail->interruption);
		if (jail->is_interrupted || is_over_time(talk))
			return ERROR_LIMIT;
		if (status == 0) {
			struct pollfd ready = { .fd = jail->socket, .events = POLLIN };
			poll(&ready, 1, CHECK_MS);
			continue;
		}
		if (message->kind == kind)
			return 0;
		if (message->kind == WIRE_PROGRESS)
			show_progress(talk, message);
		else if (!talk->is_ready || answer_request(talk, message) < 0)
			return ERROR_CORRUPT;
	}
}

/* `fd`: of the task's file; -1: it has none. */
static struct conversation begin_conversation(struct jail *jail, bool is_ready, int fd)
{
	struct conversation talk = { .jail = jail,
				     .is_ready = is_ready,
				     .desk = { .download = jail->download, .files = &jail->files },
				     .bytes_before = jail->files.bytes,
				     .cpu_began = cpu_of(jail->child) };
	desk_count(&jail->files, fd);
	talk.wall_end =
		clock_ns(CLOCK_MONOTONIC) + WALL_PER_CPU * (jail->budget_ns + due_ns(&talk)) + WALL_S * NS_PER_S;
	return talk;
}

/* --- the child --- */

static int be_impossible(struct jail *jail, const char *step, int number)
{
	end_child(jail);
	jail->impossible = true;
	snprintf(jail->obstacle, sizeof(jail->obstacle), "%s failed: %s", step, strerror(number));
	return ERROR_UNSUPPORTED;
}

/* Waits until the child is confined. */
static int await_ready(struct jail *jail)
{
	struct wire_message message;
	struct conversation talk = begin_conversation(jail, false, -1);
	int32_t number = EPROTO;
	char step[96] = "confining a process";
	int status = await(&talk, WIRE_READY, &message);
	if (jail->is_interrupted) {
		end_child(jail);
		return ERROR_LIMIT;
	}
	if (status < 0)
		return be_impossible(jail, step, status == ERROR_LIMIT ? ETIMEDOUT : EPROTO);
	if (message.size >= sizeof(number))
		memcpy(&number, message.bytes, sizeof(number));
	if (number == 0)
		return 0;
	if (message.size > sizeof(number))
		snprintf(step, sizeof(step), "%.*s", (int)(message.size - sizeof(number)),
			 (const char *)message.bytes + sizeof(number));
	return be_impossible(jail, step, number);
}

int jail_prepare(struct jail *jail)
{
	int sockets[2];
	if (jail->child)
		return 0;
	if (jail->impossible)
		return ERROR_UNSUPPORTED;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return be_impossible(jail, "socketpair", errno);
	const struct confinement confinement = {
		.socket = sockets[1], .parent = getpid(), .memory_bytes = jail->memory_bytes, .cpu_seconds = CHILD_CPU_S
	};
	jail->child = fork();
	if (jail->child == 0)
		inside_run(&confinement, jail->context);
	int number = errno;
	close(sockets[1]);
	jail->socket = sockets[0];
	if (jail->child < 0) {
		jail->child = 0;
		close(jail->socket);
		jail->socket = -1;
		return be_impossible(jail, "fork", number);
	}
	const struct timeval patience = { .tv_sec = SEND_S };
	setsockopt(jail->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return await_ready(jail);
}

/* --- tasks --- */

static int send_request(struct jail *jail, const struct jail_request *request)
{
	const struct wire_run head = { request->task, strlen(request->path) };
	struct buffer text;
	buffer_init(&text);
	buffer_append(&text, &head, sizeof(head));
	buffer_append(&text, request->path, head.path_bytes);
	if (request->size)
		buffer_append(&text, request->bytes, request->size);
	int status = buffer_error(&text);
	if (status == 0)
		status = wire_send(jail->socket, WIRE_RUN, text.bytes, text.size, request->fd);
	buffer_release(&text);
	return status;
}

/* Waits until a child whose end of the socket is closed has ended. */
static void await_end(const struct jail *jail)
{
	struct timespec moment = { .tv_nsec = 1000 * 1000 };
	siginfo_t info = { 0 };
	for (int i = 0; i < 1000; i++) {
		if (waitid(P_PID, (id_t)jail->child, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid)
			break;
		nanosleep(&moment, NULL);
	}
}

int jail_refuse_answer(const struct jail_task *task, const char *path, struct error *error)
{
	return error_set(error, ERROR_CORRUPT, "the process for %s '%s' gave a wrong answer", task->doing, path);
}

/* Returns the limit that applies: the user's (--memory) holds in the child, too. */
static uint64_t memory_of(const struct jail *jail)
{
	uint64_t limit = memory_limit();
	return limit && limit < jail->memory_bytes ? limit : jail->memory_bytes;
}

int jail_fail(struct jail *jail, const struct jail_request *request, int status, struct error *error)
{
	const char *doing = request->task->doing;
	if (status == ERROR_SYSTEM)
		await_end(jail);
	int ended = end_child(jail);
	if (status == ERROR_LIMIT && jail->is_interrupted)
		return error_set(error, ERROR_LIMIT, "%s '%s' was interrupted", doing, request->path);
	if (status == ERROR_LIMIT)
		return error_set(error, ERROR_LIMIT, "%s '%s' takes more than %.3g s of CPU time", doing, request->path,
				 (double)jail->last_ns / (double)NS_PER_S);
	if (status == ERROR_MEMORY || (WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_FAILURE))
		return error_set(error, ERROR_LIMIT, "%s '%s' takes more than %llu MB of memory", doing, request->path,
				 (unsigned long long)(memory_of(jail) >> 20));
	if (status == ERROR_SYSTEM && WIFSIGNALED(ended))
		return error_set(error, ERROR_CORRUPT, "the process for %s '%s' ended by signal %d", doing,
				 request->path, WTERMSIG(ended));
	return jail_refuse_answer(request->task, request->path, error);
}

/* Reads the head of an answer. Returns the task's status, or ERROR_CORRUPT with *is_wrong set. */
static int read_status(struct cursor *answer, struct error *error, bool *is_wrong)
{
	int32_t status = (int32_t)cursor_u32(answer);
	uint32_t size = cursor_u32(answer);
	const char *text = (const char *)cursor_bytes(answer, size);
	*is_wrong = answer->failed || status > 0 || (size > 0 && memchr(text, 0, size));
	if (*is_wrong)
		return ERROR_CORRUPT;
	return status < 0 ? error_set(error, status, "%.*s", (int)size, text) : 0;
}

int jail_run(struct jail *jail, const struct jail_request *request, struct cursor *answer, struct error *error)
{
	struct wire_message message;
	struct conversation talk = begin_conversation(jail, true, request->fd);
	bool is_wrong;
	int status = send_request(jail, request);
	if (status == ERROR_MEMORY)
		return error_set(error, status, "out of memory");
	if (status == 0)
		status = await(&talk, WIRE_DONE, &message);
	charge(&talk);
	if (status < 0)
		return jail_fail(jail, request, status, error);
	*answer = cursor_over(message.bytes, message.size);
	status = read_status(answer, error, &is_wrong);
	if (is_wrong || status == ERROR_MEMORY)
		return jail_fail(jail, request, status, error);
	return status;
}

bool jail_trusts(int fd)
{
	struct stat status;
	return fstat(fd, &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid());
}
