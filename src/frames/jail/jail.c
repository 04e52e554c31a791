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

#include "base/path.h"
#include "frames/jail/additions.h"
#include "frames/jail/desk.h"
#include "frames/jail/inside.h"
#include "frames/jail/wire.h"

#define NS_PER_S UINT64_C(1000000000)

enum {
	CPU_S = 60,         /* for one module */
	CHILD_CPU_S = 600,  /* for one child; a new one follows */
	SHORTEST_CPU_S = 1, /* after modules that exceeded the time */
	SEND_S = 20,        /* the child must read within this time */
	/* The child may get a small part of a busy processor; then it must not sleep. */
	WALL_PER_CPU = 20,
	WALL_S = 60,
	CHECK_MS = 50, /* the interval of looks at the child's clock */
	MEMORY_MB = 2048,
};

enum jail_cause { JAIL_MEMORY, JAIL_TIME, JAIL_ENDED, JAIL_IMPOSSIBLE };

static const struct frames_cause causes[] = {
	[JAIL_MEMORY] = { .remedy = "its functions stay addresses" },
	[JAIL_TIME] = { .remedy = "its functions stay addresses" },
	[JAIL_ENDED] = { .remedy = "the file may be damaged; its functions stay addresses" },
	[JAIL_IMPOSSIBLE] = { .remedy = "its owner may name them: cpprof report" },
};

static int fail(struct frames_failure *failure, enum jail_cause cause)
{
	failure->cause = &causes[cause];
	return 0;
}

void jail_init(struct jail *jail, struct frames_naming *naming)
{
	const struct frames_limits *limits = &naming->options->limits;
	*jail = (struct jail){
		.naming = naming,
		.socket = -1,
		.cpu_ns = limits->cpu_ns ? limits->cpu_ns : CPU_S * NS_PER_S,
		.memory_bytes = limits->memory_bytes ? limits->memory_bytes : (uint64_t)MEMORY_MB << 20,
	};
	buffer_init(&jail->inbox);
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
	const struct additions_request *request; /* NULL: the child gets ready */
	struct desk desk;
	uint64_t cpu_end, wall_end;
	size_t shown; /* locations done, as reported to the caller */
};

static void show_progress(struct conversation *talk, const struct wire_message *message)
{
	const struct frames_naming *naming = talk->jail->naming;
	uint64_t done = 0;
	if (message->size != sizeof(done) || !talk->request || !naming->options->progress)
		return;
	memcpy(&done, message->bytes, sizeof(done));
	if (done <= talk->shown || done > talk->request->count)
		return;
	talk->shown = (size_t)done;
	naming->options->progress(naming->options->context, naming->progress.done + talk->shown,
				  naming->progress.total);
}

static bool is_over_time(const struct conversation *talk)
{
	return cpu_of(talk->jail->child) > talk->cpu_end || clock_ns(CLOCK_MONOTONIC) > talk->wall_end;
}

/* Serves the child until it sends a message of this kind. Returns 0, ERROR_LIMIT (time), or the error of wire_poll or
 * ERROR_CORRUPT: it sent something that was not expected. */
static int await(struct conversation *talk, uint32_t kind, struct wire_message *message)
{
	struct jail *jail = talk->jail;
	for (;;) {
		int status = wire_poll(jail->socket, &jail->inbox, message);
		if (status < 0)
			return status;
		if (is_over_time(talk))
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
		else if (!talk->request || desk_serve(&talk->desk, jail->socket, message) < 0)
			return ERROR_CORRUPT;
	}
}

static struct conversation talk_to(struct jail *jail, const struct additions_request *request)
{
	return (struct conversation){ .jail = jail,
				      .request = request,
				      .cpu_end = cpu_of(jail->child) + jail->cpu_ns,
				      .wall_end = clock_ns(CLOCK_MONOTONIC) + WALL_PER_CPU * jail->cpu_ns +
						  WALL_S * NS_PER_S };
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
	struct conversation talk = talk_to(jail, NULL);
	int32_t number = EPROTO;
	char step[96] = "confining a process";
	int status = await(&talk, WIRE_READY, &message);
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

/* Makes a child if there is none. Returns 0 or ERROR_UNSUPPORTED: there can be none. */
static int need_child(struct jail *jail)
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
	jail->copied = jail->naming->profile->function_count;
	jail->child = fork();
	if (jail->child == 0)
		inside_run(&confinement, jail->naming);
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

/* --- naming --- */

static int send_request(struct jail *jail, const struct additions_request *request, int fd)
{
	struct wire_name head = { request->provider, request->module, (uint32_t)request->count };
	struct buffer text;
	buffer_init(&text);
	buffer_append(&text, &head, sizeof(head));
	buffer_append(&text, request->locations, request->count * sizeof(*request->locations));
	int status = buffer_error(&text);
	if (status == 0)
		status = wire_send(jail->socket, WIRE_NAME, text.bytes, text.size, fd);
	buffer_release(&text);
	return status;
}

/* Sets the failure of a module at which the child exceeded a limit, ended or erred, and ends it. */
static int set_failure(struct jail *jail, const char *path, int status, struct frames_failure *failure)
{
	struct error *detail = &failure->detail;
	const uint64_t limit_ns = jail->cpu_ns;
	if (status == ERROR_SYSTEM) {
		/* The socket's end is closed. Its process may still be about to end. */
		struct timespec moment = { .tv_nsec = 1000 * 1000 };
		siginfo_t info = { 0 };
		for (int i = 0; i < 1000; i++) {
			if (waitid(P_PID, (id_t)jail->child, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid)
				break;
			nanosleep(&moment, NULL);
		}
	}
	int ended = end_child(jail);
	bool no_memory = status == ERROR_MEMORY || (WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_FAILURE);
	if (status == ERROR_LIMIT) {
		if (jail->cpu_ns / 2 >= SHORTEST_CPU_S * NS_PER_S)
			jail->cpu_ns /= 2;
		error_set(detail, status, "naming the addresses of %s takes more than %.0f s of CPU time", path,
			  (double)limit_ns / (double)NS_PER_S);
		return fail(failure, JAIL_TIME);
	}
	if (no_memory) {
		error_set(detail, status, "naming the addresses of %s takes more than %llu MB of memory", path,
			  (unsigned long long)(jail->memory_bytes >> 20));
		return fail(failure, JAIL_MEMORY);
	}
	if (status == ERROR_SYSTEM && WIFSIGNALED(ended))
		error_set(detail, status, "the process that named the addresses of %s ended by signal %d", path,
			  WTERMSIG(ended));
	else
		error_set(detail, status, "the process that named the addresses of %s gave a wrong answer", path);
	return fail(failure, JAIL_ENDED);
}

static int name_in_jail(struct jail *jail, const struct additions_request *request, int fd, const char *path,
			struct frames_failure *failure)
{
	struct wire_message message;
	struct conversation talk = talk_to(jail, request);
	int status = send_request(jail, request, fd);
	if (status == ERROR_MEMORY)
		return status;
	if (status == 0)
		status = await(&talk, WIRE_NAMED, &message);
	if (status < 0)
		return set_failure(jail, path, status, failure);
	status = additions_read(message.bytes, message.size, jail->naming->profile, jail->copied, request, failure);
	if (status == ERROR_CORRUPT || (status < 0 && status != ERROR_LIMIT))
		return set_failure(jail, path, status, failure);
	if (status == 0 && !failure->cause)
		jail->naming->progress.done += request->count;
	return status;
}

/* --- without a jail --- */

struct one_file {
	int fd;           /* or a negative error: it cannot be opened */
	struct error why; /* then the reason */
};

static int give_file(void *context, uint32_t module, struct error *error)
{
	(void)module;
	struct one_file *file = context;
	int fd = file->fd;
	if (fd < 0 && error)
		*error = file->why;
	file->fd = file->why.code = ERROR_NOT_FOUND; /* it is given once */
	return fd;
}

/* Names a module in this process, from this file alone. */
static int name_here(struct jail *jail, const struct additions_request *request, struct one_file *file,
		     struct frames_failure *failure)
{
	struct frames_naming *naming = jail->naming;
	const struct frames_options *options = naming->options;
	const struct frames_options here = { .open_module = give_file, .context = file };
	naming->options = &here;
	int status =
		request->provider->name_module(naming, request->module, request->locations, request->count, failure);
	naming->options = options;
	return status;
}

/* Returns whether only root or our user can have made a file. */
static bool is_trusted(int fd)
{
	struct stat status;
	return fstat(fd, &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid());
}

static void open_file(const struct jail *jail, uint32_t module, const char *path, struct one_file *file)
{
	const struct frames_options *options = jail->naming->options;
	if (options->open_module)
		file->fd = options->open_module(options->context, module, &file->why);
	else if ((file->fd = path_open_regular(path)) < 0)
		file->fd = error_set_errno(&file->why, "cannot read '%s'", path);
}

int jail_name_module(struct jail *jail, const struct frames_provider *provider, uint32_t module,
		     const uint32_t *locations, size_t count, struct frames_failure *failure)
{
	const struct profile *profile = jail->naming->profile;
	const struct additions_request request = {
		.provider = provider, .module = module, .locations = locations, .count = count
	};
	const char *path = profile_string(profile, profile->modules[module].path);
	bool is_file = profile->modules[module].kind == MODULE_FILE;
	struct one_file file = { .fd = -1 };
	if (is_file)
		open_file(jail, module, path, &file);
	int status;
	if (is_file && file.fd < 0)
		status = name_here(jail, &request, &file, failure); /* fails, with the provider's reason */
	else if (need_child(jail) == 0)
		status = name_in_jail(jail, &request, file.fd, path, failure);
	else if (!is_file || is_trusted(file.fd))
		status = name_here(jail, &request, &file, failure);
	else {
		error_set(&failure->detail, ERROR_UNSUPPORTED,
			  "cannot name the addresses of '%s', another user's, in a process without privileges: %s",
			  path, jail->obstacle);
		status = fail(failure, JAIL_IMPOSSIBLE);
	}
	if (file.fd >= 0)
		close(file.fd);
	return status;
}
