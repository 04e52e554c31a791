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
 * Finds start functions without names: Debian's C library has no names for its own. A function is a start function if
 *   1. it is a nameless function of the C library,
 *   2. wherever it occurs in the profile, only start functions are above it (nodes below pthread_create do not count, because
 *      it starts the next stack with some of these functions), and
 *   3. it calls code outside of the C library, itself or through another start function.
 * In a program that contains a stripped C library, main must be below it, too. The start function that calls main is
 * __libc_start_call_main, and the start function that clone calls is start_thread. Returns 0 or ERROR_MEMORY.
 */
int roles_assign(struct profile *profile);

#endif
