/* The places that the program's source tells of (cpprof/profiler.h), as this process knows them. */
#ifndef RUNTIME_SITES_H
#define RUNTIME_SITES_H

#include <stdint.h>

#include <cpprof/profiler.h>

/* A place is reached first, by code at `code`: it is written into the tally, and on unless a rule says otherwise. Another thread
 * may be about to do the same: once is enough. Async-signal-safe. */
void sites_register(struct cpprof_site *site, uint64_t code);

/* The child of a fork: what its parent knows is written again for it. */
void sites_forked(void);

#endif
