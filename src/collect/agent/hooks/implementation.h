/* The user's own implementation (cpprof/implementation.h). It is loaded at start if CPPROF_MEASURE is the path of
 * one. */
#ifndef COLLECT_AGENT_HOOKS_IMPLEMENTATION_H
#define COLLECT_AGENT_HOOKS_IMPLEMENTATION_H

#include <stdbool.h>

/* Returns true if a value of CPPROF_MEASURE is a library's path, and libraries can be loaded here. */
bool implementation_is_named(const char *value);

/* Call the implementation's finish (the process exits or is about to call exec) and forked (this is the child of a
 * fork). They do nothing if no implementation is loaded. */
void implementation_finish(void);
void implementation_forked(void);

#endif
