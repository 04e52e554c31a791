/* mlockall, as the program's calls of the function and of the system call with its number are carried out. */
#ifndef COLLECT_AGENT_INTERPOSE_MLOCK_H
#define COLLECT_AGENT_INTERPOSE_MLOCK_H

/* As mlockall(2), but leaves the channel unlocked. */
int mlock_all(int flags);

#endif
