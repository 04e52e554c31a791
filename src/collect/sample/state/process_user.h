/* The user whose files a process may read. */
#ifndef COLLECT_SAMPLE_STATE_PROCESS_USER_H
#define COLLECT_SAMPLE_STATE_PROCESS_USER_H

#include <stdint.h>
#include <sys/types.h>

/* Returns the real user id of a process, plus 1. Returns 0 if it is not known, or if the process has another root or other mounts than we,
 * so that its paths and its privileges are not ours: root in a container is not root here. */
uint32_t process_user_read(pid_t pid);

#endif
