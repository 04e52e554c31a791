/* Code that is loaded and unloaded while the program runs. */
#ifndef COLLECT_AGENT_INTERPOSE_LOADING_H
#define COLLECT_AGENT_INTERPOSE_LOADING_H

#include <stdbool.h>

/* True: code may have been loaded since the last loading_check. */
extern bool loading_is_due;

/* Informs the monitor if objects were loaded or unloaded since the last call. Not async-signal-safe. */
void loading_check(void);

/* Return the function that dlopen, dlmopen and dlsym (the processor's caller_calls.c) jump to, with all their
 * arguments. The parameters are the arguments that matter here. */
void *loading_by_dlopen(const char *file, int mode);
void *loading_by_dlmopen(long space, const char *file, int mode);
void *loading_by_dlsym(void);

#endif
