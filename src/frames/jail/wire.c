#include "frames/jail/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

struct header {
	uint32_t kind;
	uint32_t size;
};

/* Room for the control message of one descriptor. */
union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static int send_all(int socket, const void *bytes, size_t size)
{
	const char *at = bytes;
	while (size > 0) {
		ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return ERROR_SYSTEM;
		at += sent;
		size -= (size_t)sent;
	}
	return 0;
}

int wire_send(int socket, uint32_t kind, const void *bytes, size_t size, int fd)
{
	struct header header = { kind, (uint32_t)size };
	struct iovec part = { &header, sizeof(header) };
	union control control = { { 0 } };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	if (size > WIRE_SIZE_MAX)
		return ERROR_SYSTEM;
	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	}
	ssize_t sent;
	while ((sent = sendmsg(socket, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
		;
	if (sent <= 0 || send_all(socket, (const char *)&header + (size_t)sent, sizeof(header) - (size_t)sent) < 0)
		return ERROR_SYSTEM;
	return send_all(socket, bytes, size);
}

static int receive_all(int socket, void *bytes, size_t size)
{
	char *at = bytes;
	while (size > 0) {
		struct iovec part = { at, size };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
		ssize_t got = recvmsg(socket, &message, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return ERROR_SYSTEM;
		at += got;
		size -= (size_t)got;
	}
	return 0;
}

int wire_wait(int socket, struct wire_message *message)
{
	struct header header;
	union control control;
	struct iovec part = { &header, sizeof(header) };
	struct msghdr received = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)
	};
	*message = (struct wire_message){ .fd = -1 };
	ssize_t got;
	while ((got = recvmsg(socket, &received, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	if (got <= 0)
		return ERROR_SYSTEM;
	struct cmsghdr *rights = CMSG_FIRSTHDR(&received);
	if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS &&
	    rights->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&message->fd, CMSG_DATA(rights), sizeof(message->fd));
	int status = receive_all(socket, (char *)&header + got, sizeof(header) - (size_t)got);
	message->kind = header.kind;
	message->size = header.size;
	if (status == 0 && header.size > 0) {
		message->bytes = malloc(header.size);
		status = message->bytes ? receive_all(socket, message->bytes, header.size) : ERROR_MEMORY;
	}
	if (status < 0)
		wire_message_release(message);
	return status;
}

void wire_message_release(struct wire_message *message)
{
	free(message->bytes);
	if (message->fd >= 0)
		close(message->fd);
	*message = (struct wire_message){ .fd = -1 };
}

/* Reads what is there, up to `wanted` bytes in the inbox. Returns 1 if they are there, or as wire_poll. */
static int fill(int socket, struct buffer *inbox, size_t wanted)
{
	enum { PIECE = 64 * 1024 };
	char piece[PIECE];
	while (inbox->size < wanted) {
		size_t left = wanted - inbox->size;
		/* Without room for control messages, the kernel closes descriptors that are sent to us. */
		ssize_t got = recv(socket, piece, left < PIECE ? left : PIECE, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got <= 0)
			return ERROR_SYSTEM;
		buffer_append(inbox, piece, (size_t)got);
		if (buffer_error(inbox))
			return ERROR_MEMORY;
	}
	return 1;
}

int wire_poll(int socket, struct buffer *inbox, struct wire_message *message)
{
	struct header header;
	/* Removes the message that was complete before. */
	if (inbox->size >= sizeof(header)) {
		memcpy(&header, inbox->bytes, sizeof(header));
		if (inbox->size == sizeof(header) + header.size)
			buffer_clear(inbox);
	}
	int status = fill(socket, inbox, sizeof(header));
	if (status <= 0)
		return status;
	memcpy(&header, inbox->bytes, sizeof(header));
	if (header.size > WIRE_SIZE_MAX)
		return ERROR_CORRUPT;
	status = fill(socket, inbox, sizeof(header) + header.size);
	if (status <= 0)
		return status;
	*message = (struct wire_message){
		.kind = header.kind, .size = header.size, .bytes = inbox->bytes + sizeof(header), .fd = -1
	};
	return 1;
}
