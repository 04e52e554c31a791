/*
 * `io_bytes [ROUNDS]`: moves bytes by each system call that can, three times as often below `heavy` as below
 * `light`. Most calls move fewer bytes than requested, and some fail. The program states what each call returned.
 */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "burn.h"

enum { FILE_BYTES = 100, ASKED = 10000, MESSAGES = 3 };

static char buffer[ASKED];
static int source, destination; /* files: the first holds FILE_BYTES */
static int one_end, other_end;  /* of a socket that preserves message boundaries */
static int pipe_in, pipe_out;   /* holds a page, and does not block */
static struct iovec pieces[2] = { { buffer, 60 }, { buffer + 60, ASKED - 60 } };
static struct iovec small_pieces[2] = { { buffer, 60 }, { buffer + 60, 30 } };

struct tally {
	unsigned long long read, written, read_asked, write_asked, calls;
};
static struct tally *tally; /* of the active caller and call */

/* A call with several messages reports each message with `asked` = 0, and then the requested bytes of all, so that
 * it counts as one call. */
static void did_read(ssize_t bytes, size_t asked)
{
	tally->read += bytes > 0 ? (size_t)bytes : 0;
	tally->read_asked += asked;
	tally->calls += asked > 0;
}

static void did_write(ssize_t bytes, size_t asked)
{
	tally->written += bytes > 0 ? (size_t)bytes : 0;
	tally->write_asked += asked;
	tally->calls += asked > 0;
}

static void fill_socket(size_t bytes)
{
	did_write(write(other_end, buffer, bytes), bytes);
}

static void empty_socket(void)
{
	did_read(read(other_end, buffer, ASKED), ASKED);
}

NOINLINE static void by_read(void)
{
	lseek(source, 0, SEEK_SET);
	did_read(read(source, buffer, ASKED), ASKED);
	did_read(read(source, buffer, ASKED), ASKED); /* at the end of the file */
}

NOINLINE static void by_pread(void)
{
	did_read(pread(source, buffer, ASKED, 40), ASKED);
}

NOINLINE static void by_readv(void)
{
	lseek(source, 0, SEEK_SET);
	did_read(readv(source, pieces, 2), ASKED);
}

NOINLINE static void by_preadv2(void)
{
	did_read(preadv2(source, pieces, 2, 10, 0), ASKED);
}

NOINLINE static void by_recv(void)
{
	fill_socket(70);
	did_read(recv(one_end, buffer, ASKED, 0), ASKED);
}

NOINLINE static void by_recvfrom(void)
{
	struct sockaddr_storage from;
	socklen_t size = sizeof(from);

	fill_socket(80);
	did_read(recvfrom(one_end, buffer, ASKED, 0, (struct sockaddr *)&from, &size), ASKED);
}

NOINLINE static void by_recvmsg(void)
{
	struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 2 };

	fill_socket(90);
	did_read(recvmsg(one_end, &message, 0), ASKED);
}

NOINLINE static void by_recvmmsg(void)
{
	struct mmsghdr messages[MESSAGES + 1] = { 0 };

	for (int i = 0; i <= MESSAGES; i++)
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = pieces, .msg_iovlen = 2 };
	for (size_t i = 0; i < MESSAGES; i++)
		fill_socket(50 + i);
	int count = recvmmsg(one_end, messages, MESSAGES + 1, MSG_DONTWAIT, NULL);
	for (int i = 0; i < count; i++)
		did_read((ssize_t)messages[i].msg_len, 0);
	did_read(0, (MESSAGES + 1) * (size_t)ASKED);
}

NOINLINE static void by_write(void)
{
	did_write(write(pipe_in, buffer, ASKED), ASKED);
	did_read(read(pipe_out, buffer, ASKED), ASKED);
}

NOINLINE static void by_writev(void)
{
	did_write(writev(pipe_in, pieces, 2), ASKED);
	did_read(read(pipe_out, buffer, ASKED), ASKED);
}

NOINLINE static void by_pwrite(void)
{
	did_write(pwrite(destination, buffer, 110, 5), 110);
}

NOINLINE static void by_pwritev2(void)
{
	did_write(pwritev2(destination, small_pieces, 2, 5, 0), 90);
}

NOINLINE static void by_send(void)
{
	did_write(send(one_end, buffer, 120, 0), 120);
	empty_socket();
}

NOINLINE static void by_sendto(void)
{
	did_write(sendto(one_end, buffer, 130, 0, NULL, 0), 130);
	empty_socket();
}

NOINLINE static void by_sendmsg(void)
{
	struct msghdr message = { .msg_iov = small_pieces, .msg_iovlen = 2 };

	did_write(sendmsg(one_end, &message, 0), 90);
	empty_socket();
}

NOINLINE static void by_sendmmsg(void)
{
	struct mmsghdr messages[MESSAGES] = { 0 };

	for (int i = 0; i < MESSAGES; i++)
		messages[i].msg_hdr =
			(struct msghdr){ .msg_iov = small_pieces, .msg_iovlen = i == 0 ? 1 : 2 }; /* 60, 90, 90 */
	int count = sendmmsg(one_end, messages, MESSAGES, 0);
	for (int i = 0; i < count; i++) {
		did_write((ssize_t)messages[i].msg_len, 0);
		empty_socket();
	}
	did_write(0, 60 + 90 + 90);
}

NOINLINE static void by_sendfile(void)
{
	off_t from = 30;

	lseek(destination, 0, SEEK_SET);
	did_write(sendfile(destination, source, &from, ASKED), ASKED);
}

NOINLINE static void by_copy_file_range(void)
{
	off_t from = 20, to = 0;

	did_write(copy_file_range(source, &from, destination, &to, ASKED, 0), ASKED);
}

NOINLINE static void by_failing(void)
{
	did_read(read(-1, buffer, ASKED), ASKED);
	did_read(recv(one_end, buffer, ASKED, MSG_DONTWAIT), ASKED);
	did_write(write(-1, buffer, ASKED), ASKED);
	did_write(send(source, buffer, ASKED, 0), ASKED);
}

static const struct {
	const char *name;
	void (*move)(void);
} calls[] = {
	{ "by_read", by_read },         { "by_pread", by_pread },       { "by_readv", by_readv },
	{ "by_preadv2", by_preadv2 },   { "by_recv", by_recv },         { "by_recvfrom", by_recvfrom },
	{ "by_recvmsg", by_recvmsg },   { "by_recvmmsg", by_recvmmsg }, { "by_write", by_write },
	{ "by_writev", by_writev },     { "by_pwrite", by_pwrite },     { "by_pwritev2", by_pwritev2 },
	{ "by_send", by_send },         { "by_sendto", by_sendto },     { "by_sendmsg", by_sendmsg },
	{ "by_sendmmsg", by_sendmmsg }, { "by_sendfile", by_sendfile }, { "by_copy_file_range", by_copy_file_range },
	{ "by_failing", by_failing },
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]), CALLERS = 2 };

static struct tally tallies[CALLERS][CALLS];

NOINLINE static void heavy(void)
{
	for (int i = 0; i < 3 * CALLS; i++) {
		tally = &tallies[0][i % CALLS];
		calls[i % CALLS].move();
	}
}

NOINLINE static void light(void)
{
	for (int i = 0; i < CALLS; i++) {
		tally = &tallies[1][i];
		calls[i].move();
	}
}

static int prepare(void)
{
	int ends[2], pipes[2];

	source = memfd_create("source", 0);
	destination = memfd_create("destination", 0);
	if (source < 0 || destination < 0 || write(source, buffer, FILE_BYTES) != FILE_BYTES ||
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) || pipe2(pipes, O_NONBLOCK) ||
	    fcntl(pipes[0], F_SETPIPE_SZ, 4096) < 0)
		return -1;
	one_end = ends[0];
	other_end = ends[1];
	pipe_out = pipes[0];
	pipe_in = pipes[1];
	return 0;
}

static void state(const char *caller, const char *call, const struct tally *used)
{
	char path[64];

	snprintf(path, sizeof(path), "main;%s;%s", caller, call);
	amount("read-bytes", path, used->read);
	amount("write-bytes", path, used->written);
	amount("io-bytes", path, used->read + used->written);
	amount("read-bytes:requested", path, used->read_asked);
	amount("write-bytes:requested", path, used->write_asked);
	amount("io-calls", path, used->calls);
}

int main(int argc, char **argv)
{
	static const char *const callers[CALLERS] = { "heavy", "light" };
	int rounds = rounds_wanted(argc, argv, 3);

	if (prepare())
		return 1;
	for (int i = 0; i < rounds; i++) {
		heavy();
		light();
	}
	for (int caller = 0; caller < CALLERS; caller++)
		for (int i = 0; i < CALLS; i++)
			state(callers[caller], calls[i].name, &tallies[caller][i]);
	share("main;heavy", 0.75);
	share("main;light", 0.25);
	return 0;
}
