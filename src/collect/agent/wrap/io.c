/* Input and output by descriptors, and waiting for it. */
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "collect/agent/wrap/wrap.h"

/* --- opening: callers pass a mode only if the call may create a file --- */

static bool makes_file(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define UNPACK(...) __VA_ARGS__
#define OPENING(descriptor, name, first_parameters, first_arguments)        \
	INTERPOSED int name(UNPACK first_parameters, int flags, ...)        \
	{                                                                   \
		va_list more;                                               \
		va_start(more, flags);                                      \
		mode_t mode = makes_file(flags) ? va_arg(more, mode_t) : 0; \
		va_end(more);                                               \
		WRAP_ENTER(descriptor);                                     \
		return REAL(name)(UNPACK first_arguments, flags, mode);     \
	}

WRAP_PROBE(open_probe, "open", CPPROF_KIND_FUNCTION);
WRAP_PROBE(openat_probe, "openat", CPPROF_KIND_FUNCTION);
OPENING(open_probe, open, (const char *path), (path))
OPENING(open_probe, open64, (const char *path), (path))
OPENING(openat_probe, openat, (int folder, const char *path), (folder, path))
OPENING(openat_probe, openat64, (int folder, const char *path), (folder, path))

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
WRAP_LIKE(open, int, __open_2, (const char *path, int flags), (path, flags))
WRAP_LIKE(open, int, __open64_2, (const char *path, int flags), (path, flags))
WRAP_LIKE(openat, int, __openat_2, (int folder, const char *path, int flags), (folder, path, flags))
WRAP_LIKE(openat, int, __openat64_2, (int folder, const char *path, int flags), (folder, path, flags))
WRAP(int, creat, (const char *path, mode_t mode), (path, mode))
WRAP_LIKE(creat, int, creat64, (const char *path, mode_t mode), (path, mode))
WRAP(int, close, (int fd), (fd))

/* --- reading --- */

ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t at, size_t room);
WRAP(ssize_t, read, (int fd, void *to, size_t bytes), (fd, to, bytes))
WRAP_LIKE(read, ssize_t, __read_chk, (int fd, void *to, size_t bytes, size_t room), (fd, to, bytes, room))
WRAP(ssize_t, pread, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at))
WRAP_LIKE(pread, ssize_t, pread64, (int fd, void *to, size_t bytes, off64_t at), (fd, to, bytes, at))
WRAP_LIKE(pread, ssize_t, __pread_chk, (int fd, void *to, size_t bytes, off_t at, size_t room),
	  (fd, to, bytes, at, room))
WRAP_LIKE(pread, ssize_t, __pread64_chk, (int fd, void *to, size_t bytes, off64_t at, size_t room),
	  (fd, to, bytes, at, room))
WRAP(ssize_t, readv, (int fd, const struct iovec *to, int count), (fd, to, count))
WRAP(ssize_t, preadv, (int fd, const struct iovec *to, int count, off_t at), (fd, to, count, at))
WRAP_LIKE(preadv, ssize_t, preadv64, (int fd, const struct iovec *to, int count, off64_t at), (fd, to, count, at))
WRAP(ssize_t, preadv2, (int fd, const struct iovec *to, int count, off_t at, int flags), (fd, to, count, at, flags))
WRAP_LIKE(preadv2, ssize_t, preadv64v2, (int fd, const struct iovec *to, int count, off64_t at, int flags),
	  (fd, to, count, at, flags))

/* --- writing --- */

WRAP(ssize_t, write, (int fd, const void *from, size_t bytes), (fd, from, bytes))
WRAP(ssize_t, pwrite, (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at))
WRAP_LIKE(pwrite, ssize_t, pwrite64, (int fd, const void *from, size_t bytes, off64_t at), (fd, from, bytes, at))
WRAP(ssize_t, writev, (int fd, const struct iovec *from, int count), (fd, from, count))
WRAP(ssize_t, pwritev, (int fd, const struct iovec *from, int count, off_t at), (fd, from, count, at))
WRAP_LIKE(pwritev, ssize_t, pwritev64, (int fd, const struct iovec *from, int count, off64_t at), (fd, from, count, at))
WRAP(ssize_t, pwritev2, (int fd, const struct iovec *from, int count, off_t at, int flags),
     (fd, from, count, at, flags))
WRAP_LIKE(pwritev2, ssize_t, pwritev64v2, (int fd, const struct iovec *from, int count, off64_t at, int flags),
	  (fd, from, count, at, flags))
WRAP(ssize_t, sendfile, (int to, int from, off_t *at, size_t bytes), (to, from, at, bytes))
WRAP_LIKE(sendfile, ssize_t, sendfile64, (int to, int from, off64_t *at, size_t bytes), (to, from, at, bytes))
WRAP(ssize_t, copy_file_range, (int from, off64_t *from_at, int to, off64_t *to_at, size_t bytes, unsigned flags),
     (from, from_at, to, to_at, bytes, flags))
WRAP(ssize_t, splice, (int from, off64_t *from_at, int to, off64_t *to_at, size_t bytes, unsigned flags),
     (from, from_at, to, to_at, bytes, flags))

/* --- files --- */

WRAP(off_t, lseek, (int fd, off_t by, int from), (fd, by, from))
WRAP_LIKE(lseek, off64_t, lseek64, (int fd, off64_t by, int from), (fd, by, from))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, fdatasync, (int fd), (fd))
WRAP(int, ftruncate, (int fd, off_t bytes), (fd, bytes))
WRAP_LIKE(ftruncate, int, ftruncate64, (int fd, off64_t bytes), (fd, bytes))
WRAP(int, truncate, (const char *path, off_t bytes), (path, bytes))
WRAP_LIKE(truncate, int, truncate64, (const char *path, off64_t bytes), (path, bytes))

/* --- sockets --- */

ssize_t __recv_chk(int fd, void *to, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t bytes, size_t room, int flags, struct sockaddr *from, socklen_t *size);
WRAP(ssize_t, recv, (int fd, void *to, size_t bytes, int flags), (fd, to, bytes, flags))
WRAP_LIKE(recv, ssize_t, __recv_chk, (int fd, void *to, size_t bytes, size_t room, int flags),
	  (fd, to, bytes, room, flags))
WRAP(ssize_t, recvfrom, (int fd, void *to, size_t bytes, int flags, struct sockaddr *from, socklen_t *size),
     (fd, to, bytes, flags, from, size))
WRAP_LIKE(recvfrom, ssize_t, __recvfrom_chk,
	  (int fd, void *to, size_t bytes, size_t room, int flags, struct sockaddr *from, socklen_t *size),
	  (fd, to, bytes, room, flags, from, size))
WRAP(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
WRAP(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
     (fd, messages, count, flags, timeout))
WRAP(ssize_t, send, (int fd, const void *from, size_t bytes, int flags), (fd, from, bytes, flags))
WRAP(ssize_t, sendto, (int fd, const void *from, size_t bytes, int flags, const struct sockaddr *to, socklen_t size),
     (fd, from, bytes, flags, to, size))
WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
WRAP(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags), (fd, messages, count, flags))
WRAP(int, connect, (int fd, const struct sockaddr *to, socklen_t size), (fd, to, size))
WRAP_WAIT(int, accept, (int fd, struct sockaddr *from, socklen_t *size), (fd, from, size))
WRAP_WAIT(int, accept4, (int fd, struct sockaddr *from, socklen_t *size, int flags), (fd, from, size, flags))

/* --- waiting for descriptors --- */

int __poll_chk(struct pollfd *fds, nfds_t count, int milliseconds, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *signals, size_t room);
WRAP_WAIT(int, poll, (struct pollfd * fds, nfds_t count, int milliseconds), (fds, count, milliseconds))
WRAP_LIKE(poll, int, __poll_chk, (struct pollfd * fds, nfds_t count, int milliseconds, size_t room),
	  (fds, count, milliseconds, room))
WRAP_WAIT(int, ppoll, (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *signals),
	  (fds, count, timeout, signals))
WRAP_LIKE(ppoll, int, __ppoll_chk,
	  (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *signals, size_t room),
	  (fds, count, timeout, signals, room))
WRAP_WAIT(int, select, (int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *timeout),
	  (count, reads, writes, others, timeout))
WRAP_WAIT(int, pselect,
	  (int count, fd_set *reads, fd_set *writes, fd_set *others, const struct timespec *timeout,
	   const sigset_t *signals),
	  (count, reads, writes, others, timeout, signals))
WRAP_WAIT(int, epoll_wait, (int fd, struct epoll_event *events, int room, int milliseconds),
	  (fd, events, room, milliseconds))
WRAP_WAIT(int, epoll_pwait, (int fd, struct epoll_event *events, int room, int milliseconds, const sigset_t *signals),
	  (fd, events, room, milliseconds, signals))
