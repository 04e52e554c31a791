/* The end of a child process, as a descriptor. */
#ifndef COLLECT_SAMPLE_CHILD_END_H
#define COLLECT_SAMPLE_CHILD_END_H

#include <sys/types.h>

/* Returns a descriptor that is readable, or hung up, when the child has ended and until it is closed; the caller owns
 * it. It is a pidfd or, where the kernel or a seccomp profile has none, a pipe that a thread closes. Returns -1 with
 * errno if neither can be made. */
int child_end_open(pid_t child);

#endif
