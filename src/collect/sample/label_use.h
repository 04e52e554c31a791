/* Finds programs that label their work (cpprof_label): only a backend inside the program records labels. */
#ifndef COLLECT_SAMPLE_LABEL_USE_H
#define COLLECT_SAMPLE_LABEL_USE_H

#include <stdbool.h>
#include <sys/types.h>

struct profile;

/* Return whether the code labels its work: the code of the command's file and of the libraries that
 * it needs, and the code that a process has mapped. Unreadable files, and libraries that are loaded
 * later, count as those that do not. */
bool label_use_of_command(const char *path);
bool label_use_of_process(pid_t pid);

/* The same for the modules of a profile. Opens no file unless one of them is libcpprof. */
bool label_use_of_modules(const struct profile *profile);

#endif
