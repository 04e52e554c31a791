/*
 * Messages between the recorder and the process in the jail, over a stream socket:
 *
 *   kind u32 | size u32 | `size` bytes        and perhaps a descriptor, with the first byte
 *
 * The recorder never receives descriptors, and reads a message as far as it has arrived; the other process waits.
 */
#ifndef FRAMES_JAIL_WIRE_H
#define FRAMES_JAIL_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum wire_kind {
	/* from the jail */
	WIRE_READY = 1,     /* i32 0, or an errno; text: the step that failed */
	WIRE_OPEN,          /* the path of a file: WIRE_OPENED */
	WIRE_OPEN_BUILD_ID, /* a build-id, on debuginfod's servers: WIRE_OPENED */
	WIRE_READ_LINK,     /* the path of a link: WIRE_LINK */
	WIRE_PROGRESS,      /* u64: how much of the task is done */
	WIRE_DONE,          /* i32 0, or an error_code; text: u32 size | the error's message; the answer */
	/* to the jail */
	WIRE_RUN,    /* struct wire_run, the path, the request; the file, unless there is none: WIRE_DONE */
	WIRE_OPENED, /* i32: 0 and a descriptor, or an errno */
	WIRE_LINK,   /* i32: 0 or an errno; the target */
};

struct wire_run {
	const void *task; /* struct jail_task, whose address is the same in both processes */
	uint64_t path_bytes;
};

struct wire_message {
	uint32_t kind;
	uint32_t size;
	uint8_t *bytes; /* owned */
	int fd;         /* owned; -1: none */
};

enum { WIRE_SIZE_MAX = 256 << 20 };

/* Sends a message, with a descriptor unless it is -1. Returns 0 or ERROR_SYSTEM. */
int wire_send(int socket, uint32_t kind, const void *bytes, size_t size, int fd);

/* Waits for a message. Returns 0, ERROR_SYSTEM (also at the end) or ERROR_MEMORY. */
int wire_wait(int socket, struct wire_message *message);
void wire_message_release(struct wire_message *message);

/* Reads what has arrived. Returns 1 if `message` is complete, 0 if more is to come, or ERROR_CORRUPT, ERROR_SYSTEM (also
 * at the end) or ERROR_MEMORY. The message's bytes are the inbox's, and valid until the next call; it has no descriptor. */
int wire_poll(int socket, struct buffer *inbox, struct wire_message *message);

#endif
