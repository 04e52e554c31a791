/* The implementation that the user has written (cpprof/implementation.h): loaded at start if CPPROF_MEASURE is the path of one. */
#ifndef COLLECT_AGENT_HOOKS_IMPLEMENTATION_H
#define COLLECT_AGENT_HOOKS_IMPLEMENTATION_H

#include <stdbool.h>

/* Whether a value of CPPROF_MEASURE is a library's name, of such as can be loaded here. */
bool implementation_is_named(const char *value);

/* The process ends, or becomes another program; and it is the child of a fork. Nothing where there is none. */
void implementation_finish(void);
void implementation_forked(void);

#endif
