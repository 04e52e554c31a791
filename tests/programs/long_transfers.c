/*
 * Each of these transfers is larger than the buffer between the two sides, and waits for a slow other side. None
 * may return before all bytes are moved. Another thread computes, so that ticks are always due.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

enum { BYTES = 300000, PIECE = 10000 };

static char out[BYTES], in[BYTES + PIECE];
static int ends[2];

/* Reads or writes piece by piece, and pauses in between. */
static void *other_side(void *gives)
{
	size_t done = 0;

	while (done < BYTES) {
		struct timespec pause = { .tv_nsec = 1000000 };

		nanosleep(&pause, NULL);
		ssize_t moved = gives ? write(ends[1], out + done, PIECE) : read(ends[0], in + done, PIECE);
		if (moved <= 0)
			exit(1);
		done += (size_t)moved;
	}
	return NULL;
}

static ssize_t by_write(void)
{
	return write(ends[1], out, BYTES);
}

static ssize_t by_writev(void)
{
	struct iovec pieces[3] = { { out, 100000 }, { out + 100000, 0 }, { out + 100000, 200000 } };

	return writev(ends[1], pieces, 3);
}

static ssize_t by_send(void)
{
	return send(ends[1], out, BYTES, 0);
}

static ssize_t by_sendmsg(void)
{
	struct iovec pieces[2] = { { out, 100000 }, { out + 100000, 200000 } };
	struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 2 };

	return sendmsg(ends[1], &message, 0);
}

static ssize_t by_sendfile(void)
{
	int file = memfd_create("file", 0);
	off_t from = 0;

	if (write(file, out, BYTES) != BYTES)
		return -1;
	ssize_t result = sendfile(ends[1], file, &from, BYTES);
	close(file);
	return from == BYTES ? result : -1;
}

static ssize_t by_recv(void)
{
	return recv(ends[0], in, BYTES, MSG_WAITALL);
}

static ssize_t by_recvmsg(void)
{
	struct iovec pieces[2] = { { in, 100000 }, { in + 100000, 200000 } };
	struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 2 };

	return recvmsg(ends[0], &message, MSG_WAITALL);
}

static const struct {
	const char *name;
	ssize_t (*transfer)(void);
	int on_socket, receives;
} transfers[] = {
	{ "write", by_write, 0, 0 },     { "writev", by_writev, 0, 0 },     { "send", by_send, 1, 0 },
	{ "sendmsg", by_sendmsg, 1, 0 }, { "sendfile", by_sendfile, 1, 0 }, { "recv", by_recv, 1, 1 },
	{ "recvmsg", by_recvmsg, 1, 1 },
};

/* These reads do not wait for another side; they take long because they are large. */
static int endless_failures(void)
{
	enum { LONG = 32 * 1024 * 1024 };
	static char large[LONG];
	int zero = open("/dev/zero", O_RDONLY), random = open("/dev/urandom", O_RDONLY);
	int failures = 0;

	for (int i = 0; i < 10; i++)
		failures += read(zero, large, LONG) != LONG;
	failures += read(random, large, LONG / 4) != LONG / 4;
	failures += getrandom(large, LONG / 4, 0) != LONG / 4;
	close(zero);
	close(random);
	if (failures)
		printf("%d reads of devices ended short\n", failures);
	return failures;
}

int main(void)
{
	int failures = endless_failures();

	alarm(20); /* a transfer that returns early leaves the other side waiting */
	for (int i = 0; i < BYTES; i++)
		out[i] = (char)(i * 7 + i / 256);
	for (size_t i = 0; i < sizeof(transfers) / sizeof(transfers[0]); i++) {
		pthread_t id;
		int sockets[2];

		if (transfers[i].on_socket) {
			if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
				return 1;
			ends[0] = sockets[0];
			ends[1] = sockets[1];
		} else if (pipe(ends)) {
			return 1;
		}
		memset(in, 0, sizeof(in));
		if (pthread_create(&id, NULL, other_side, transfers[i].receives ? &failures : NULL))
			return 1;
		burn(3000);
		ssize_t moved = transfers[i].transfer();
		pthread_join(id, NULL);
		if (moved != BYTES || memcmp(in, out, BYTES) != 0) {
			printf("%s: %zd of %d\n", transfers[i].name, moved, BYTES);
			failures++;
		}
		close(ends[0]);
		close(ends[1]);
	}
	return failures > 0;
}
