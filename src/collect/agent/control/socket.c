/*
 * Only the user has access to the folder (mode 0700) and to the socket in it (0600); a folder with another owner
 * or mode is not used. For each client the agent also checks the user id that the kernel reports.
 *
 * A process that is killed leaves its socket behind. The next process that starts in the folder connects to each
 * socket and removes those to which no process listens. A process that ends before it listens leaves a socket, too
 * (see bind_and_listen): such sockets are removed when they are old.
 */
#include "collect/agent/control/thread.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/system.h"

static void append(char *text, const char *more)
{
	size_t used = strnlen(text, CONTROL_PATH_MAX - 1), bytes = strnlen(more, CONTROL_PATH_MAX - 1 - used);
	memcpy(text + used, more, bytes);
	text[used + bytes] = 0;
}

static void append_number(char *text, uint64_t number)
{
	enum { DECIMAL = 10, DIGITS = 20 };
	char digits[DIGITS + 1] = "";
	size_t at = DIGITS;
	do
		digits[--at] = (char)('0' + number % DECIMAL);
	while (number /= DECIMAL);
	append(text, digits + at);
}

static uint32_t own_user(void)
{
	return (uint32_t)machine_syscall(SYS_geteuid, 0, 0, 0, 0, 0, 0);
}

void control_path_make(struct control_path *path)
{
	*path = (struct control_path){ .folder = "/tmp/cpprof-" };
	append_number(path->folder, own_user());
	append(path->socket, path->folder);
	append(path->socket, "/");
	append_number(path->socket, system_pid());
}

/* --- the folder --- */

/* Creates the folder if it does not exist. Returns false if other users have access to it. */
static bool has_folder(const char *folder)
{
	enum { PRIVATE = 0700, PERMISSIONS = 07777 };
	struct stat status;
	machine_syscall(SYS_mkdir, (long)folder, PRIVATE, 0, 0, 0, 0);
	return machine_syscall(SYS_lstat, (long)folder, (long)&status, 0, 0, 0, 0) == 0 && S_ISDIR(status.st_mode) &&
	       (status.st_mode & PERMISSIONS) == PRIVATE && status.st_uid == own_user();
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	memcpy(address.sun_path, path, strnlen(path, sizeof(address.sun_path) - 1));
	return address;
}

static long new_socket(void)
{
	return machine_syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0, 0, 0);
}

static void close_descriptor(long fd)
{
	machine_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* Returns whether no process listens to the socket. The connection is refused only then: a process whose queue of
 * clients is full causes another error. */
static bool is_stale(const char *socket_path)
{
	struct sockaddr_un address = address_of(socket_path);
	long fd = new_socket();
	if (system_is_error(fd))
		return false;
	machine_syscall(SYS_fcntl, fd, F_SETFL, O_NONBLOCK, 0, 0, 0);
	long result = machine_syscall(SYS_connect, fd, (long)&address, sizeof(address), 0, 0, 0);
	close_descriptor(fd);
	return result == -ECONNREFUSED;
}

/* Returns whether the socket is so old that its process would listen to it by now. */
static bool is_old(const char *socket_path)
{
	enum { SECONDS = 10 };
	const uint64_t ns_per_s = 1000000000;
	struct stat status;
	return machine_syscall(SYS_lstat, (long)socket_path, (long)&status, 0, 0, 0, 0) == 0 &&
	       (uint64_t)status.st_mtim.tv_sec + SECONDS < runtime_now_ns(CLOCK_REALTIME) / ns_per_s;
}

static void remove_if_stale(const char *folder, const char *name)
{
	char path[CONTROL_PATH_MAX] = "";
	bool is_new = name[0] == '.';
	char first = name[is_new];
	append(path, folder);
	append(path, "/");
	append(path, name);
	/* The agent creates no longer names. */
	if (first >= '0' && first <= '9' && strnlen(path, sizeof(path)) < sizeof(path) - 1 && is_stale(path) &&
	    (!is_new || is_old(path)))
		machine_syscall(SYS_unlink, (long)path, 0, 0, 0, 0, 0);
}

/* Checks the sockets whose entries fit into the buffer: the next process checks the others. */
static void remove_stale(const char *folder)
{
	struct entry {
		uint64_t inode, offset;
		uint16_t bytes;
		uint8_t type;
		char name[];
	};
	char buffer[4096] __attribute__((aligned(8)));
	long fd = machine_syscall(SYS_openat, AT_FDCWD, (long)folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	if (system_is_error(fd))
		return;
	long bytes = machine_syscall(SYS_getdents64, fd, (long)buffer, sizeof(buffer), 0, 0, 0);
	for (long at = 0; at < bytes;) {
		const struct entry *entry = (const struct entry *)(buffer + at);
		if (entry->type == DT_SOCK || entry->type == DT_UNKNOWN)
			remove_if_stale(folder, entry->name);
		at += entry->bytes;
	}
	close_descriptor(fd);
}

/* --- the socket --- */

/* The socket is named ".PID" until the process listens to it, and is renamed then: clients find no socket that
 * would refuse them. */
static long bind_and_listen(long fd, const struct control_path *path)
{
	enum { PRIVATE = 0600, WAITING = 8 };
	char new_path[CONTROL_PATH_MAX] = "";
	append(new_path, path->folder);
	append(new_path, "/.");
	append_number(new_path, system_pid());
	struct sockaddr_un address = address_of(new_path);
	machine_syscall(SYS_unlink, (long)new_path, 0, 0, 0, 0, 0);
	machine_syscall(SYS_fchmod, fd, PRIVATE, 0, 0, 0, 0); /* bind creates the file with this mode */
	long result = machine_syscall(SYS_bind, fd, (long)&address, sizeof(address), 0, 0, 0);
	if (result == 0)
		result = machine_syscall(SYS_listen, fd, WAITING, 0, 0, 0, 0);
	return result == 0 ? machine_syscall(SYS_rename, (long)new_path, (long)path->socket, 0, 0, 0, 0) : result;
}

long control_listen(const struct control_path *path)
{
	enum { TRIES = 8 }; /* a process that ends at the same moment may remove the folder */
	long fd = new_socket(), result = -1;
	if (system_is_error(fd))
		return fd;
	for (int i = 0; i < TRIES && result < 0; i++)
		result = has_folder(path->folder) ? bind_and_listen(fd, path) : -EPERM;
	if (result == 0) {
		remove_stale(path->folder);
		return fd;
	}
	close_descriptor(fd);
	return result;
}

static bool is_same_user(long fd)
{
	struct ucred peer;
	uint32_t bytes = sizeof(peer);
	return machine_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&bytes, 0) == 0 &&
	       peer.uid == own_user();
}

long control_accept(long listener)
{
	for (;;) {
		long fd = machine_syscall(SYS_accept4, listener, 0, 0, SOCK_CLOEXEC, 0, 0);
		if (fd == -EINTR || fd == -ECONNABORTED)
			continue;
		if (system_is_error(fd) || is_same_user(fd))
			return fd;
		close_descriptor(fd);
	}
}

void control_remove(const struct control_path *path)
{
	machine_syscall(SYS_unlink, (long)path->socket, 0, 0, 0, 0, 0);
	machine_syscall(SYS_rmdir, (long)path->folder, 0, 0, 0, 0, 0);
}
