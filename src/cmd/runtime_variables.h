/* The environment by which the runtimes of generated code list it, for `record --jit` (profile/runtimes.h). */
#ifndef CMD_RUNTIME_VARIABLES_H
#define CMD_RUNTIME_VARIABLES_H

#include "base/error.h"

struct runtime_variables {
	char **entries; /* "NAME=value", NULL-terminated; owned */
};

/* Sets the variables of all runtimes, joined with the values that they have in our environment. The command may be a script or a build
 * tool that starts any of them, and the others do not read a variable that is not theirs. Returns 0 or ERROR_MEMORY; release in any case. */
int runtime_variables_init(struct runtime_variables *variables, struct error *error);
void runtime_variables_release(struct runtime_variables *variables);

#endif
