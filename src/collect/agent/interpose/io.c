/*
 * The calls that transfer bytes, and other calls that wait for files: those that the bpf backend counts by their
 * system calls. The transfers of the C library's streams are unobserved, because their system calls are made inside
 * the library.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "collect/agent/core/real.h"
#include "collect/agent/interpose/io.h"
#include "collect/agent/signals/waits.h"
#include "processor/agent/machine.h"

/* If a socket has a timeout, no tick may come while it waits. A thread pays its pauses before a call that may wake
 * another one; in the call it owes none. */
#define REAL_CALL(name, arguments)                                                                          \
	({                                                                                                  \
		struct runtime_thread *waiting = waits_on_sockets ? waits_begin(REAL_ADDRESS(name)) : NULL; \
		if (runtime.has_experiments)                                                                \
			causal_waits(RUNTIME_HERE);                                                         \
		__typeof__(REAL(name) arguments) returned = REAL(name) arguments;                           \
		if (waiting)                                                                                \
			waits_end(waiting);                                                                 \
		if (runtime.has_experiments)                                                                \
			causal_woken(runtime_thread);                                                       \
		returned;                                                                                   \
	})

/* Interposes a call that moves bytes. `asked` and `moved` are evaluated after the call and may use `result`; `asked`
 * is evaluated only if it is needed. */
#define TRANSFER(direction, type, name, parameters, arguments, asked, moved)                   \
	INTERPOSED type name parameters                                                        \
	{                                                                                      \
		struct io_call call;                                                           \
		if (!io_begins(&call))                                                         \
			return REAL(name) arguments;                                           \
		type result = REAL_CALL(name, arguments);                                      \
		uint64_t wanted = 0;                                                           \
		if ((direction) != IO_NEITHER && io_needs_requested(&call, direction, result)) \
			wanted = (uint64_t)(asked);                                            \
		io_ended(&call, direction, (ssize_t)(moved), wanted, REAL_ADDRESS(name));      \
		return result;                                                                 \
	}

/* As TRANSFER, for a call that a tick may cut short. If so, and if `goes_on`, `more` calls the real function for the
 * rest, from byte `result` on. If that makes no progress, the program gets the short result, as it would after any
 * other interruption. */
#define TRANSFER_ALL(direction, name, parameters, arguments, asked, goes_on, more) \
	INTERPOSED ssize_t name parameters                                         \
	{                                                                          \
		struct io_call call;                                               \
		if (!io_begins(&call))                                             \
			return REAL(name) arguments;                               \
		ssize_t result = REAL_CALL(name, arguments);                       \
		uint64_t wanted = 0;                                               \
		if (io_needs_requested(&call, direction, result))                  \
			wanted = (uint64_t)(asked);                                \
		while (io_was_cut_short(&call, result, wanted) && (goes_on)) {     \
			int error = errno;                                         \
			call.ticks = call.thread->ticks;                           \
			ssize_t further = (more);                                  \
			errno = error;                                             \
			if (further <= 0)                                          \
				break;                                             \
			result += further;                                         \
		}                                                                  \
		io_ended(&call, direction, result, wanted, REAL_ADDRESS(name));    \
		return result;                                                     \
	}

#define FROM(buffer) ((char *)(buffer) + result)
#define LEFT(bytes) ((bytes) - (size_t)result)

/* The rest of a vector, in two calls: the rest of the element in which the first call ended, then the elements
 * behind it. */
struct vector_rest {
	struct iovec piece;
	const struct iovec *behind;
	int count;
};

static struct vector_rest rest_of(const struct iovec *vector, int count, size_t done)
{
	while (count > 0 && done >= vector->iov_len) {
		done -= vector->iov_len;
		vector++;
		count--;
	}
	if (count == 0)
		return (struct vector_rest){ .count = 0 };
	return (struct vector_rest){ .piece = { (char *)vector->iov_base + done, vector->iov_len - done },
				     .behind = vector + 1,
				     .count = count - 1 };
}

static ssize_t write_rest(int fd, const struct iovec *vector, int count, size_t done)
{
	struct vector_rest rest = rest_of(vector, count, done);
	ssize_t first = REAL(write)(fd, rest.piece.iov_base, rest.piece.iov_len);
	if (first < 0 || (size_t)first < rest.piece.iov_len || rest.count == 0)
		return first;
	ssize_t others = REAL(writev)(fd, rest.behind, rest.count);
	return others < 0 ? first : first + others;
}

typedef ssize_t (*message_call)(int socket, struct msghdr *message, int flags);

/* Ancillary data (descriptors, for example) went with the first part. */
static ssize_t message_rest(message_call call, int socket, const struct msghdr *message, int flags, size_t done)
{
	struct vector_rest rest = rest_of(message->msg_iov, (int)message->msg_iovlen, done);
	struct msghdr part = { .msg_iov = &rest.piece, .msg_iovlen = 1 };
	ssize_t first = call(socket, &part, flags);
	if (first < 0 || (size_t)first < rest.piece.iov_len || rest.count == 0)
		return first;
	part.msg_iov = (struct iovec *)rest.behind;
	part.msg_iovlen = (size_t)rest.count;
	ssize_t others = call(socket, &part, flags);
	return others < 0 ? first : first + others;
}

static bool kernel_status(int fd, struct stat *status)
{
	return machine_syscall(SYS_fstat, fd, (long)status, 0, 0, 0, 0) == 0;
}

/* Returns true if a signal can cut a write short: not one to a file or a disk. */
static bool is_slow(int fd)
{
	struct stat status;
	return kernel_status(fd, &status) && !S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode);
}

/* Returns true if a receiver waits for all bytes that it requests, not for one message or the bytes that are
 * available. */
static bool waits_for_all(int socket, int flags)
{
	int type = 0;
	socklen_t bytes = sizeof(type);
	return flags & MSG_WAITALL && !(flags & MSG_PEEK) &&
	       machine_syscall(SYS_getsockopt, socket, SOL_SOCKET, SO_TYPE, (long)&type, (long)&bytes, 0) == 0 &&
	       type == SOCK_STREAM;
}

/* --- reading --- */

/* Returns true for /dev/zero and similar devices, where only a signal makes a read short. Everything else that is
 * not a file returns the bytes that are available. */
static bool is_endless(int fd)
{
	enum { MEMORY_DEVICES = 1 };
	struct stat status;
	return kernel_status(fd, &status) && S_ISCHR(status.st_mode) && major(status.st_rdev) == MEMORY_DEVICES;
}

#define READING_ALL(name, parameters, arguments, more) \
	TRANSFER_ALL(IO_READS, name, parameters, arguments, bytes, is_endless(fd), more)

#define READING(type, name, parameters, arguments, asked) \
	TRANSFER(IO_READS, type, name, parameters, arguments, asked, result)

READING_ALL(read, (int fd, void *to, size_t bytes), (fd, to, bytes), REAL(read)(fd, FROM(to), LEFT(bytes)))
READING(ssize_t, pread, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at), bytes)
READING(ssize_t, pread64, (int fd, void *to, size_t bytes, off64_t at), (fd, to, bytes, at), bytes)
READING(ssize_t, readv, (int fd, const struct iovec *to, int count), (fd, to, count),
	io_requested_of_vector(to, count, result))
READING(ssize_t, preadv, (int fd, const struct iovec *to, int count, off_t at), (fd, to, count, at),
	io_requested_of_vector(to, count, result))
READING(ssize_t, preadv64, (int fd, const struct iovec *to, int count, off64_t at), (fd, to, count, at),
	io_requested_of_vector(to, count, result))
READING(ssize_t, preadv2, (int fd, const struct iovec *to, int count, off_t at, int flags), (fd, to, count, at, flags),
	io_requested_of_vector(to, count, result))
READING(ssize_t, preadv64v2, (int fd, const struct iovec *to, int count, off64_t at, int flags),
	(fd, to, count, at, flags), io_requested_of_vector(to, count, result))

ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t at, size_t room);
READING_ALL(__read_chk, (int fd, void *to, size_t bytes, size_t room), (fd, to, bytes, room),
	    REAL(read)(fd, FROM(to), LEFT(bytes)))
READING(ssize_t, __pread_chk, (int fd, void *to, size_t bytes, off_t at, size_t room), (fd, to, bytes, at, room), bytes)
READING(ssize_t, __pread64_chk, (int fd, void *to, size_t bytes, off64_t at, size_t room), (fd, to, bytes, at, room),
	bytes)

/* Not a transfer, but a signal cuts it short in the same way. */
INTERPOSED ssize_t getrandom(void *to, size_t bytes, unsigned flags)
{
	const struct runtime_thread *thread = runtime_thread;
	ssize_t done = 0, got;
	uint32_t ticks;
	do {
		ticks = thread ? thread->ticks : 0;
		got = REAL(getrandom)((char *)to + done, bytes - (size_t)done, flags);
		done += got > 0 ? got : 0;
	} while (got > 0 && (size_t)done < bytes && thread && thread->ticks != ticks);
	return done > 0 ? done : got;
}

/* --- receiving --- */

#define RECEIVING(name, parameters, arguments, bytes, more) \
	TRANSFER_ALL(IO_RECEIVES, name, parameters, arguments, bytes, waits_for_all(fd, flags), more)

ssize_t __recv_chk(int fd, void *to, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t bytes, size_t room, int flags, struct sockaddr *from, socklen_t *size);
RECEIVING(recv, (int fd, void *to, size_t bytes, int flags), (fd, to, bytes, flags), bytes,
	  REAL(recv)(fd, FROM(to), LEFT(bytes), flags))
RECEIVING(recvfrom, (int fd, void *to, size_t bytes, int flags, struct sockaddr *from, socklen_t *size),
	  (fd, to, bytes, flags, from, size), bytes, REAL(recv)(fd, FROM(to), LEFT(bytes), flags))
RECEIVING(__recv_chk, (int fd, void *to, size_t bytes, size_t room, int flags), (fd, to, bytes, room, flags), bytes,
	  REAL(recv)(fd, FROM(to), LEFT(bytes), flags))
RECEIVING(__recvfrom_chk,
	  (int fd, void *to, size_t bytes, size_t room, int flags, struct sockaddr *from, socklen_t *size),
	  (fd, to, bytes, room, flags, from, size), bytes, REAL(recv)(fd, FROM(to), LEFT(bytes), flags))
RECEIVING(recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags),
	  io_requested_of_message(message, result), message_rest(REAL(recvmsg), fd, message, flags, (size_t)result))
TRANSFER(IO_RECEIVES, int, recvmmsg,
	 (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
	 (fd, messages, count, flags, timeout), io_requested_of_messages(messages, count, result),
	 io_moved_by_messages(messages, result))

/* --- writing and sending --- */

#define WRITING(name, parameters, arguments, asked) \
	TRANSFER(IO_WRITES, ssize_t, name, parameters, arguments, asked, result)
#define WRITING_ALL(name, parameters, arguments, asked, more) \
	TRANSFER_ALL(IO_WRITES, name, parameters, arguments, asked, is_slow(fd), more)
#define SENDING(name, parameters, arguments, asked, more) \
	TRANSFER_ALL(IO_SENDS, name, parameters, arguments, asked, is_slow(fd), more)
#define COPYING(name, parameters, arguments, asked, more) \
	TRANSFER_ALL(IO_COPIES, name, parameters, arguments, asked, is_slow(fd), more)

WRITING_ALL(write, (int fd, const void *from, size_t bytes), (fd, from, bytes), bytes,
	    REAL(write)(fd, FROM(from), LEFT(bytes)))
WRITING(pwrite, (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at), bytes)
WRITING(pwrite64, (int fd, const void *from, size_t bytes, off64_t at), (fd, from, bytes, at), bytes)
WRITING_ALL(writev, (int fd, const struct iovec *from, int count), (fd, from, count),
	    io_requested_of_vector(from, count, result), write_rest(fd, from, count, (size_t)result))
WRITING(pwritev, (int fd, const struct iovec *from, int count, off_t at), (fd, from, count, at),
	io_requested_of_vector(from, count, result))
WRITING(pwritev64, (int fd, const struct iovec *from, int count, off64_t at), (fd, from, count, at),
	io_requested_of_vector(from, count, result))
WRITING(pwritev2, (int fd, const struct iovec *from, int count, off_t at, int flags), (fd, from, count, at, flags),
	io_requested_of_vector(from, count, result))
WRITING(pwritev64v2, (int fd, const struct iovec *from, int count, off64_t at, int flags), (fd, from, count, at, flags),
	io_requested_of_vector(from, count, result))
SENDING(send, (int fd, const void *from, size_t bytes, int flags), (fd, from, bytes, flags), bytes,
	REAL(send)(fd, FROM(from), LEFT(bytes), flags))
SENDING(sendto, (int fd, const void *from, size_t bytes, int flags, const struct sockaddr *to, socklen_t size),
	(fd, from, bytes, flags, to, size), bytes, REAL(send)(fd, FROM(from), LEFT(bytes), flags))

static ssize_t send_message(int fd, struct msghdr *message, int flags)
{
	return REAL(sendmsg)(fd, message, flags);
}

SENDING(sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags),
	io_requested_of_message(message, result), message_rest(send_message, fd, message, flags, (size_t)result))
TRANSFER(IO_SENDS, int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags),
	 (fd, messages, count, flags), io_requested_of_messages(messages, count, result),
	 io_moved_by_messages(messages, result))
COPYING(sendfile, (int fd, int from, off_t *at, size_t bytes), (fd, from, at, bytes), bytes,
	REAL(sendfile)(fd, from, at, LEFT(bytes)))
COPYING(sendfile64, (int fd, int from, off64_t *at, size_t bytes), (fd, from, at, bytes), bytes,
	REAL(sendfile64)(fd, from, at, LEFT(bytes)))
TRANSFER(IO_COPIES, ssize_t, copy_file_range,
	 (int from, off64_t *from_at, int to, off64_t *to_at, size_t bytes, unsigned flags),
	 (from, from_at, to, to_at, bytes, flags), bytes, result)

/* --- calls that wait, and move no bytes that are counted --- */

#define OTHER(type, name, parameters, arguments) TRANSFER(IO_NEITHER, type, name, parameters, arguments, 0, result)

OTHER(ssize_t, splice, (int from, off64_t *from_at, int to, off64_t *to_at, size_t bytes, unsigned flags),
      (from, from_at, to, to_at, bytes, flags))
OTHER(ssize_t, vmsplice, (int fd, const struct iovec *from, size_t count, unsigned flags), (fd, from, count, flags))
OTHER(int, fsync, (int fd), (fd))
OTHER(int, fdatasync, (int fd), (fd))
OTHER(int, syncfs, (int fd), (fd))
OTHER(int, sync_file_range, (int fd, off64_t at, off64_t bytes, unsigned flags), (fd, at, bytes, flags))
OTHER(int, msync, (void *memory, size_t bytes, int flags), (memory, bytes, flags))
OTHER(int, fallocate, (int fd, int mode, off_t at, off_t bytes), (fd, mode, at, bytes))
OTHER(int, fallocate64, (int fd, int mode, off64_t at, off64_t bytes), (fd, mode, at, bytes))
OTHER(int, posix_fallocate, (int fd, off_t at, off_t bytes), (fd, at, bytes))
OTHER(int, posix_fallocate64, (int fd, off64_t at, off64_t bytes), (fd, at, bytes))
OTHER(int, truncate, (const char *path, off_t bytes), (path, bytes))
OTHER(int, truncate64, (const char *path, off64_t bytes), (path, bytes))
OTHER(int, ftruncate, (int fd, off_t bytes), (fd, bytes))
OTHER(int, ftruncate64, (int fd, off64_t bytes), (fd, bytes))
OTHER(ssize_t, getdents64, (int fd, void *to, size_t bytes), (fd, to, bytes))
OTHER(int, creat, (const char *path, mode_t mode), (path, mode))
OTHER(int, creat64, (const char *path, mode_t mode), (path, mode))

INTERPOSED void sync(void)
{
	struct io_call call;
	bool is_watched = io_begins(&call);
	REAL(sync)();
	if (is_watched)
		io_ended(&call, IO_NEITHER, 0, 0, REAL_ADDRESS(sync));
}

/* --- opening: there is a mode only if a file may be made --- */

#define OPENING(name, first_parameters, first_arguments)                            \
	INTERPOSED int name(UNPACK first_parameters, int flags, ...)                \
	{                                                                           \
		va_list more;                                                       \
		va_start(more, flags);                                              \
		mode_t mode = makes_file(flags) ? va_arg(more, mode_t) : 0;         \
		va_end(more);                                                       \
		struct io_call call;                                                \
		bool is_watched = io_begins(&call);                                 \
		int result = REAL(name)(UNPACK first_arguments, flags, mode);       \
		if (is_watched)                                                     \
			io_ended(&call, IO_NEITHER, result, 0, REAL_ADDRESS(name)); \
		return result;                                                      \
	}
#define UNPACK(...) __VA_ARGS__

static bool makes_file(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

OPENING(open, (const char *path), (path))
OPENING(open64, (const char *path), (path))
OPENING(openat, (int folder, const char *path), (folder, path))
OPENING(openat64, (int folder, const char *path), (folder, path))

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
OTHER(int, __open_2, (const char *path, int flags), (path, flags))
OTHER(int, __open64_2, (const char *path, int flags), (path, flags))
OTHER(int, __openat_2, (int folder, const char *path, int flags), (folder, path, flags))
OTHER(int, __openat64_2, (int folder, const char *path, int flags), (folder, path, flags))
