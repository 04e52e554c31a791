#include "collect/control/client.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* --- the process --- */

struct process {
	uid_t user;
	pid_t own_pid; /* its number in its innermost pid namespace */
};

static int read_status(pid_t pid, struct process *process, struct error *error)
{
	char path[64], line[256];
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *status = fopen(path, "re");
	if (!status)
		return errno == ENOENT ? error_set(error, ERROR_NOT_FOUND, "there is no process %d", (int)pid)
				       : error_set_errno(error, "cannot inspect process %d", (int)pid);
	bool has_user = false, is_process = true;
	char state = 0;
	process->own_pid = pid;
	while (fgets(line, sizeof(line), status)) {
		unsigned long user;
		const char *last = strrchr(line, '\t');
		if (sscanf(line, "State: %c", &state) == 1)
			continue;
		if (sscanf(line, "Uid: %*u %lu", &user) == 1) {
			process->user = (uid_t)user;
			has_user = true;
		} else if (strncmp(line, "Tgid:", strlen("Tgid:")) == 0 && last) {
			is_process = strtol(last, NULL, 10) == pid;
		} else if (strncmp(line, "NSpid:", strlen("NSpid:")) == 0 && last) {
			process->own_pid = (pid_t)strtol(last, NULL, 10);
		}
	}
	fclose(status);
	if (!is_process)
		return error_set(error, ERROR_NOT_FOUND, "cannot control %d: it is a thread, not a process", (int)pid);
	if (state == 'T' || state == 't')
		return error_set(error, ERROR_SYSTEM, "cannot control process %d: it is stopped", (int)pid);
	if (state == 'Z')
		has_user = false;
	return has_user ? 0 : error_set(error, ERROR_NOT_FOUND, "process %d has just ended", (int)pid);
}

static int refuse_other_user(pid_t pid, uid_t user, struct error *error)
{
	const struct passwd *entry = getpwuid(user);
	char name[64];
	snprintf(name, sizeof(name), "%u", (unsigned)user);
	return error_set(error, ERROR_PERMISSION, "cannot control process %d: it belongs to user %s", (int)pid,
			 entry ? entry->pw_name : name);
}

static bool is_private(const char *folder, uid_t user)
{
	struct stat status;
	return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == user &&
	       (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

int control_find(struct control_target *target, pid_t pid, struct error *error)
{
	struct process process = { 0 };
	int result = read_status(pid, &process, error);
	if (result < 0)
		return result;
	if (process.user != geteuid())
		return refuse_other_user(pid, process.user, error);
	*target = (struct control_target){ .pid = pid, .user = process.user };
	/* The folder in the process's root directory, which may differ from ours. */
	char folder[64], root[32];
	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	snprintf(folder, sizeof(folder), "%s/tmp/cpprof-%u", root, (unsigned)process.user);
	if (!is_private(folder, process.user))
		snprintf(folder, sizeof(folder), "/tmp/cpprof-%u", (unsigned)process.user);
	snprintf(target->socket, sizeof(target->socket), "%s/%d", folder, (int)process.own_pid);
	if (is_private(folder, process.user) && access(target->socket, F_OK) == 0)
		return 0;
	return error_set(error, ERROR_NOT_FOUND,
			 "process %d has no probe points to control: either it was not built with 'cpprof cc' (or has "
			 "no CPPROF_FUNCTION by hand), or has not reached any yet, or nothing is measured in it, or "
			 "CPPROF_CONTROL=0 forbids it",
			 (int)pid);
}

/* --- the answer --- */

static int connect_to(const struct control_target *target, struct error *error)
{
	enum { LONGEST_S = 10 };
	const struct timeval longest = { .tv_sec = LONGEST_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer = { 0 };
	socklen_t bytes = sizeof(peer);
	memcpy(address.sun_path, target->socket, strnlen(target->socket, sizeof(address.sun_path) - 1));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set_errno(error, "cannot make a socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof(longest));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof(longest));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int result =
			errno == ECONNREFUSED
				? error_set(error, ERROR_NOT_FOUND,
					    "cannot control process %d: it runs another program now", (int)target->pid)
				: error_set_errno(error, "cannot communicate with process %d", (int)target->pid);
		close(fd);
		return result;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.pid == target->pid &&
	    peer.uid == target->user)
		return fd;
	close(fd);
	return error_set(error, ERROR_PERMISSION, "%s does not belong to process %d", target->socket, (int)target->pid);
}

/* Reads up to the end of the stream. */
static int read_all(const struct control_target *target, int fd, struct buffer *text, struct error *error)
{
	char bytes[4096];
	ssize_t got;
	while ((got = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		buffer_append(text, bytes, (size_t)got);
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return error_set(error, ERROR_SYSTEM, "process %d does not answer; is it stopped?", (int)target->pid);
	if (got < 0)
		return error_set_errno(error, "process %d does not answer", (int)target->pid);
	buffer_append_byte(text, 0);
	return buffer_error(text);
}

static int take_answer(const struct control_target *target, const char *text, struct buffer *answer,
		       struct error *error)
{
	static const char good[] = "ok ", bad[] = "error ";
	if (strncmp(text, good, strlen(good)) == 0) {
		buffer_append(answer, text + strlen(good), strlen(text + strlen(good)) + 1);
		return buffer_error(answer);
	}
	if (strncmp(text, bad, strlen(bad)) == 0)
		return error_set(error, ERROR_USAGE, "%.*s", (int)strcspn(text + strlen(bad), "\n"),
				 text + strlen(bad));
	return error_set(error, ERROR_FORMAT,
			 "process %d sent an invalid answer: its libcpprof may be of another version",
			 (int)target->pid);
}

int control_request(const struct control_target *target, const char *line, struct buffer *answer, struct error *error)
{
	struct buffer text;
	int fd = connect_to(target, error);
	if (fd < 0)
		return fd;
	buffer_init(&text);
	buffer_printf(&text, "%s\n", line);
	int result = buffer_error(&text);
	if (result == 0 && send(fd, text.bytes, text.size, MSG_NOSIGNAL) != (ssize_t)text.size)
		result = error_set_errno(error, "cannot communicate with process %d", (int)target->pid);
	buffer_clear(&text);
	if (result == 0)
		result = read_all(target, fd, &text, error);
	if (result == 0)
		result = take_answer(target, (const char *)text.bytes, answer, error);
	buffer_release(&text);
	close(fd);
	return result;
}
