/*
 * Takes from a new process everything that it does not need to read files and compute.
 *
 *   memory     shared memory is unmapped, so that nothing that it writes can reach other processes
 *   files      all descriptors are closed but one socket; 0 to 2 are /dev/null
 *   user       root becomes a user of its own, without groups; all capabilities are dropped
 *   limits     address space, CPU time; no files may grow, no core is dumped
 *   calls      a seccomp filter permits memory, reading of descriptors, and the socket. To open a file or to read a link
 *              raises SIGSYS, whose handler may request it from somebody else
 *
 * Files cannot be mapped, and no memory can become executable.
 *
 * A process that talks with servers is confined less: confine_client.
 */
#ifndef FRAMES_JAIL_CONFINE_H
#define FRAMES_JAIL_CONFINE_H

#include <stdint.h>
#include <sys/types.h>

struct confinement {
	int socket;            /* it becomes CONFINED_SOCKET */
	pid_t parent;          /* the process ends with it */
	uint64_t memory_bytes; /* in addition to what the process has */
	uint64_t cpu_seconds;
	uint64_t file_bytes; /* files that it writes may grow to this size */
};

enum { CONFINED_SOCKET = 3 };

/* Confines this process. Returns NULL, or the step that failed, with errno set. Call it in a process with one thread. */
const char *confine(const struct confinement *confinement);

/*
 * Confines a process that uses the network and writes files of its user's. Memory, descriptors and limits are as above. Root under
 * sudo becomes the user who called it. All capabilities are dropped: root without sudo may change its own files, and no more. A
 * filter forbids to execute programs, to trace, to send signals, and to load code into the kernel. Returns as confine.
 */
const char *confine_client(const struct confinement *confinement);

#endif
