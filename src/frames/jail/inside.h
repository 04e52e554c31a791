/* The process in the jail: runs tasks for the recorder, of whose memory it has a copy. */
#ifndef FRAMES_JAIL_INSIDE_H
#define FRAMES_JAIL_INSIDE_H

#include "frames/jail/confine.h"

/* Confines this process, which has just been forked, and answers requests until the recorder ends it. */
_Noreturn void inside_run(const struct confinement *confinement, void *context);

/* Reports to the recorder how much of a task is done. Only for tasks that never run outside of a jail. */
void inside_progress(uint64_t done);

#endif
