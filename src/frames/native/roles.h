/*
 * Which functions are the bottom of a stack, the C library's or our own: above
 * main, or above a thread's start function.
 */
#ifndef FRAMES_NATIVE_ROLES_H
#define FRAMES_NATIVE_ROLES_H

#include <stdint.h>

#include "frames/native/module_file.h"
#include "profile/profile.h"

/* Returns the enum function_role of a function, by its name and the kind of its
 * file. */
uint8_t role_of_name(const struct module_file *file, const char *name);

/*
 * Debian's C library has no names for its own start functions. One of its
 * nameless functions is a start function if, wherever it occurs in the
 * profile (except below pthread_create, which starts the next stack with some of
 * them), nothing but start functions stands above it, and it calls, itself or
 * through another such one, code outside of the C library. Among them, the
 * one that calls main is __libc_start_call_main, and the one that clone calls
 * is start_thread. In a program with a stripped C library inside, one is a
 * start function only if main is below it.
 * Returns 0 or ERROR_MEMORY.
 */
int roles_assign(struct profile *profile);

#endif
