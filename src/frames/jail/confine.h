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
};

enum { CONFINED_SOCKET = 3 };

/* Confines this process. Returns NULL, or the step that failed, with errno set. Call it in a process with one thread. */
const char *confine(const struct confinement *confinement);

#endif
