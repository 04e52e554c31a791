/* The functions of interpreted programs in a profile, and the native code that interprets them. */
#ifndef PROFILE_INTERPRETER_H
#define PROFILE_INTERPRETER_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* Returns whether a location is in a function that is interpreted. */
bool interpreter_is_function(const struct profile *profile, uint32_t location);

/* Returns whether the profile has such functions. */
bool interpreter_has_functions(const struct profile *profile);

/* Returns the node that a node follows in reports: its parent or, for such a function below a native frame, the nearest node
 * that is not of that frame's file, which is the interpreter, nor generated code that is listed under the function's name and
 * calls the interpreter for it. */
uint32_t interpreter_caller(const struct profile *profile, uint32_t node);

#endif
