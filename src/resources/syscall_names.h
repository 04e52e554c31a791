/* The system calls of this machine by name. The build makes the list from the kernel's asm/unistd.h. */
#ifndef RESOURCES_SYSCALL_NAMES_H
#define RESOURCES_SYSCALL_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Returns the number of a system call, or -1 if the name is unknown. */
int syscall_number(const char *name);

/* Returns the name of a system call, or NULL if there is none with this number. */
const char *syscall_name(int number);

/* Returns the name of the error that a system call's result is, "ENOENT" of -2; or NULL if it is none, or one without
 * a name. */
const char *syscall_error_name(int64_t result);

/* Returns the highest number plus 1. */
size_t syscall_limit(void);

#endif
