/* Whether a loaded object defines a function. dlsym reports one that is not defined by an error message, which it
 * allocates with the program's malloc: that could have hooks, and count. */
#ifndef COLLECT_AGENT_CORE_DEFINED_H
#define COLLECT_AGENT_CORE_DEFINED_H

#include <stdbool.h>

/* Returns false if dlsym would not find `name`: in all objects, or if `behind_us` in those that were loaded after this
 * library. May return true if it is not certain. Must not run while another thread may load or unload objects. */
bool defined_somewhere(const char *name, bool behind_us);

/* Returns whether the program's own file uses a function of another file, by its relocations. False in a statically
 * linked program. Async-signal-safe. */
bool defined_program_uses(const char *name);

#endif
