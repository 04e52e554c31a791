/* A library to preload: a call that reads a file or a socket, or writes into a socket, fails (failing.h). */
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "failing.h"

#define READ(result, name, parameters, number, ...)          \
	result name parameters                               \
	{                                                    \
		if (fails()) {                               \
			errno = EIO;                         \
			return -1;                           \
		}                                            \
		return (result)syscall(number, __VA_ARGS__); \
	}

READ(ssize_t, read, (int file, void *bytes, size_t size), SYS_read, file, bytes, size)
READ(ssize_t, __read_chk, (int file, void *bytes, size_t size, size_t room), SYS_read, file, bytes,
     size < room ? size : room)
READ(ssize_t, pread, (int file, void *bytes, size_t size, off_t at), SYS_pread64, file, bytes, size, at)
READ(ssize_t, pread64, (int file, void *bytes, size_t size, off64_t at), SYS_pread64, file, bytes, size, at)
READ(ssize_t, __pread64_chk, (int file, void *bytes, size_t size, off64_t at, size_t room), SYS_pread64, file, bytes,
     size < room ? size : room, at)
READ(off64_t, lseek64, (int file, off64_t at, int from), SYS_lseek, file, at, from)
READ(int, fstat, (int file, struct stat *status), SYS_fstat, file, status)
READ(int, fstat64, (int file, struct stat64 *status), SYS_fstat, file, status)
READ(ssize_t, recvmsg, (int socket, struct msghdr *message, int flags), SYS_recvmsg, socket, message, flags)
READ(ssize_t, sendmsg, (int socket, const struct msghdr *message, int flags), SYS_sendmsg, socket, message, flags)
READ(ssize_t, send, (int socket, const void *bytes, size_t size, int flags), SYS_sendto, socket, bytes, size, flags,
     NULL, 0)
