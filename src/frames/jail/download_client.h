/* The process that downloads one file for the recorder, of whose memory it has a copy. */
#ifndef FRAMES_JAIL_DOWNLOAD_CLIENT_H
#define FRAMES_JAIL_DOWNLOAD_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "frames/jail/confine.h"
#include "frames/jail/download.h"

/* One message over a socket that keeps the bounds of messages (SOCK_SEQPACKET). A file comes with a descriptor. */
struct download_message {
	int32_t is_last;  /* 0: only the progress */
	int32_t status;   /* of the last: 0 with a descriptor, or an error_code */
	int32_t is_final; /* further files would fail for the same reason */
	uint64_t done, total;
	char reason[DOWNLOAD_REASON_BYTES];
};

struct download_job {
	const uint8_t *build_id;
	size_t build_id_bytes;
	uint64_t file_bytes; /* the largest file */
};

/* Runs in a process that has just been forked: gives up its privileges, downloads the file and sends messages. */
_Noreturn void download_client_run(const struct confinement *confinement, const struct download_job *job);

#endif
