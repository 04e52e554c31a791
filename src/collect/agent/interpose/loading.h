/* Code that comes and goes while the program runs. */
#ifndef COLLECT_AGENT_INTERPOSE_LOADING_H
#define COLLECT_AGENT_INTERPOSE_LOADING_H

#include <stdbool.h>

/* Something may have been loaded that was not looked at. */
extern bool loading_is_due;

/* Tells the monitor if objects were loaded or unloaded since it was told last. In no handler. */
void loading_look(void);

/* What dlopen, dlmopen and dlsym (the processor's caller_calls.c) jump to, with the arguments that
 * they were called with; these are as much as is needed of them. */
void *loading_by_dlopen(const char *file);
void *loading_by_dlmopen(void);
void *loading_by_dlsym(void);

#endif
