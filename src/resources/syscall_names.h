/* The system calls of this machine by name, from the kernel's own list
 * (asm/unistd.h), made when this is built. */
#ifndef RESOURCES_SYSCALL_NAMES_H
#define RESOURCES_SYSCALL_NAMES_H

#include <stddef.h>

/* Its number, or -1. */
int syscall_number(const char *name);

/* NULL: there is none of that number. */
const char *syscall_name(int number);

/* One more than the highest number. */
size_t syscall_limit(void);

#endif
