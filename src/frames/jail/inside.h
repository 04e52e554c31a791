/* The process in the jail: names modules for the recorder, of whose profile it has a copy. */
#ifndef FRAMES_JAIL_INSIDE_H
#define FRAMES_JAIL_INSIDE_H

#include "frames/jail/confine.h"
#include "frames/provider.h"

/* Confines this process, which has just been forked, and answers requests until the recorder ends it. */
_Noreturn void inside_run(const struct confinement *confinement, struct frames_naming *naming);

#endif
