#include "frames/jail/download.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frames/jail/download_client.h"
#include "frames/jail/interruption.h"
#include "profile/findings.h"

#define NS_PER_S UINT64_C(1000000000)

enum {
	STALL_S = 30,
	TOTAL_S = 600,
	FILE_MB = 2048,
	CHECK_MS = 50,
	END_MS = 2000, /* the time in which a process that was asked to end removes its temporary file */
	CPU_S = 600,
	MEMORY_MB = 1024,
	BUILD_ID_MIN = 2,
	BUILD_ID_MAX = 64,
};

/* --- limits --- */

static uint64_t seconds_of(const char *variable, uint64_t standard)
{
	const char *text = getenv(variable);
	char *end;
	unsigned long long seconds = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	bool is_number = seconds > 0 && seconds < UINT32_MAX && *end == 0;
	return (is_number ? seconds : standard) * NS_PER_S;
}

void download_init(struct download *download)
{
	*download = (struct download){ 0 };
	download->limits = (struct download_limits){ .file_bytes = (uint64_t)FILE_MB << 20,
						     .stall_ns = seconds_of("DEBUGINFOD_TIMEOUT", STALL_S),
						     .total_ns = seconds_of("DEBUGINFOD_MAXTIME", TOTAL_S) };
}

bool download_has_servers(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	return servers && servers[strspn(servers, " ")];
}

/* --- the child --- */

struct client {
	struct download *download;
	pid_t process;
	int socket;
	uint64_t started_ns, moved_ns; /* moved: when the last bytes arrived */
	uint64_t done;
	struct interruption interruption;
};

static uint64_t now_ns(void)
{
	struct timespec time = { 0 };
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static int fail(struct download *download, int status, bool is_final, const char *reason)
{
	download->failed++;
	download->is_over |= is_final;
	if (reason != download->reason)
		snprintf(download->reason, sizeof(download->reason), "%s", reason);
	return status;
}

static int start(struct client *client, const struct download_job *job)
{
	int sockets[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -1;
	const struct confinement confinement = { .socket = sockets[1],
						 .parent = getpid(),
						 .memory_bytes = (uint64_t)MEMORY_MB << 20,
						 .cpu_seconds = CPU_S,
						 .file_bytes = job->file_bytes };
	client->process = fork();
	if (client->process == 0)
		download_client_run(&confinement, job);
	int number = errno;
	close(sockets[1]);
	client->socket = sockets[0];
	client->started_ns = client->moved_ns = now_ns();
	if (client->process < 0)
		close(sockets[0]);
	errno = number;
	return client->process < 0 ? -1 : 0;
}

/* Waits until the child has ended, for at most so long. */
static void await_end(const struct client *client, int milliseconds)
{
	struct timespec moment = { .tv_nsec = 10 * 1000 * 1000 };
	siginfo_t info = { 0 };
	for (int i = 0; i < milliseconds / 10; i++) {
		if (waitid(P_PID, (id_t)client->process, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid)
			return;
		nanosleep(&moment, NULL);
	}
}

static void finish(struct client *client, bool is_running)
{
	if (is_running)
		kill(client->process, SIGTERM);
	await_end(client, END_MS);
	kill(client->process, SIGKILL);
	while (waitpid(client->process, NULL, 0) < 0 && errno == EINTR)
		;
	close(client->socket);
}

/* --- the conversation --- */

/* Reads a message, with a descriptor or -1. Returns 1, 0 if there is none yet, or -1 at the end. */
static int receive(const struct client *client, struct download_message *message, int *fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { message, sizeof(*message) };
	struct msghdr all = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)
	};
	*fd = -1;
	ssize_t got = recvmsg(client->socket, &all, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	struct cmsghdr *rights = got > 0 ? CMSG_FIRSTHDR(&all) : NULL;
	if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS &&
	    rights->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(rights), sizeof(*fd));
	if (got == (ssize_t)sizeof(*message))
		return 1;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return -1;
}

/* Returns why the download must end now, or NULL. */
static const char *reason_to_end(const struct client *client, char *text, size_t bytes)
{
	const struct download_limits *limits = &client->download->limits;
	uint64_t now = now_ns();
	if (interruption_came(&client->interruption))
		return "it was interrupted";
	if (now - client->moved_ns > limits->stall_ns)
		snprintf(text, bytes, "nothing arrived for %g s", (double)limits->stall_ns / (double)NS_PER_S);
	else if (client->download->spent_ns + (now - client->started_ns) > limits->total_ns)
		snprintf(text, bytes, "it took more than %g s", (double)limits->total_ns / (double)NS_PER_S);
	else
		return NULL;
	return text;
}

static void show_progress(struct client *client, const struct download_message *message)
{
	const struct download *download = client->download;
	if (message->done != client->done)
		client->moved_ns = now_ns();
	client->done = message->done;
	if (download->progress)
		download->progress(download->context, message->done, message->total);
}

/* Returns whether a descriptor of the child's refers to a file of a permitted size. */
static bool is_fine(const struct download *download, int fd)
{
	struct stat status;
	return fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       (uint64_t)status.st_size <= download->limits.file_bytes;
}

/* Takes the last message. Returns the descriptor or a negative error. */
static int take_result(struct download *download, struct download_message *message, int fd)
{
	message->reason[sizeof(message->reason) - 1] = 0;
	if (message->status == 0 && is_fine(download, fd))
		return fd;
	if (fd >= 0)
		close(fd);
	if (message->status == ERROR_NOT_FOUND) {
		download->lacking++;
		return ERROR_NOT_FOUND;
	}
	if (message->status >= 0)
		return fail(download, ERROR_LIMIT, false, "a file is too large");
	return fail(download, message->status, message->is_final, message->reason);
}

static int converse(struct client *client)
{
	struct download_message message;
	char text[DOWNLOAD_REASON_BYTES];
	for (;;) {
		int fd, got = receive(client, &message, &fd);
		const char *reason = got < 0 ? "its process ended" : reason_to_end(client, text, sizeof(text));
		if (got > 0 && message.is_last) {
			finish(client, false);
			return take_result(client->download, &message, fd);
		}
		if (fd >= 0)
			close(fd);
		if (reason) {
			finish(client, got >= 0);
			return fail(client->download, ERROR_LIMIT, true, reason);
		}
		if (got > 0) {
			show_progress(client, &message);
			continue;
		}
		if (client->download->progress && client->done == 0)
			client->download->progress(client->download->context, 0, 0);
		struct pollfd ready = { .fd = client->socket, .events = POLLIN };
		poll(&ready, 1, CHECK_MS);
	}
}

int download_get(struct download *download, const uint8_t *build_id, size_t bytes)
{
	struct client client = { .download = download };
	const struct download_job job = { build_id, bytes, download->limits.file_bytes };
	if (!download_has_servers() || bytes < BUILD_ID_MIN || bytes > BUILD_ID_MAX)
		return ERROR_NOT_FOUND;
	if (download->is_over)
		return fail(download, ERROR_UNSUPPORTED, true, download->reason);
	interruption_begin(&client.interruption);
	if (start(&client, &job) < 0)
		return fail(download, ERROR_SYSTEM, true, strerror(errno));
	int result = converse(&client);
	download->spent_ns += now_ns() - client.started_ns;
	return result;
}

void download_add_findings(struct download *download, struct profile *profile)
{
	if (download->lacking > 0)
		finding_add(profile, FINDING_DEBUG_FILES_LACKING, download->lacking,
			    "no server of DEBUGINFOD_URLS has {# debug file|# debug files}");
	if (download->failed > 0)
		finding_add(profile, FINDING_DOWNLOADS_FAILED, download->failed,
			    "{# debug file was|# debug files were} not downloaded: %s", download->reason);
	download->lacking = download->failed = 0;
}
