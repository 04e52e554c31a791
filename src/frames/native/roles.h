/*
 * Finds the functions of the C library or of cpprof at the outer end of a stack: above main, or above a thread's
 * start function.
 */
#ifndef FRAMES_NATIVE_ROLES_H
#define FRAMES_NATIVE_ROLES_H

#include <stdint.h>

#include "frames/native/module_file.h"
#include "profile/profile.h"

/* Returns the enum function_role of a function, from its name and the kind of its file. */
uint8_t role_of_name(const struct module_file *file, const char *name);

/*
 * Finds start functions without names: Debian's C library has no names for its own. A nameless function of the C
 * library is a start function if, wherever it occurs in the profile, only start functions are above it, and it calls
 * code outside of the C library, itself or through another such function. (Nodes below pthread_create are not
 * considered: it starts the next stack with some of these functions.) Among them, the function that calls main is
 * __libc_start_call_main, and the function that clone calls is start_thread. In a program that contains a stripped C
 * library, a function is a start function only if main is below it. Returns 0 or ERROR_MEMORY.
 */
int roles_assign(struct profile *profile);

#endif
