/* Words for the completion that come from the machine: the running processes. */
#ifndef CMD_COMPLETION_PROCESSES_H
#define CMD_COMPLETION_PROCESSES_H

#include <stdbool.h>

#include "cmd/completion_profile.h"
#include "cmd/subject.h"

/* Offers what the value of an option that chooses running processes can be: SUBJECT_PID, with the names of the processes as their help, or
 * SUBJECT_COMM, each name once. The processes are those whose program can be seen, which leaves out the kernel's threads. Returns false if
 * the option is another one. */
bool completion_processes_each(const struct command_option *option, completion_offer *offer, void *context);

#endif
