/*
 * The program that this process executes next. Seccomp filters stay over exec, but the agent in the
 * new program does not have their copies: it would make system calls for which they end the
 * program. Where they would, the new program gets an environment without our libraries.
 */
#ifndef COLLECT_AGENT_INTERPOSE_SUCCESSOR_H
#define COLLECT_AGENT_INTERPOSE_SUCCESSOR_H

#include <stdbool.h>
#include <stddef.h>

struct machine_filter;

/* Returns whether these filters, or the filters of all threads, would end a program that loads our library. */
bool successor_dies(const struct machine_filter *filters);

/* Returns the bytes that successor_environment needs, or 0 if the environment is to be passed on
 * as it is: this thread's filters do not harm, it has none of our libraries, or it is not
 * readable. */
size_t successor_room(char *const environment[]);
/* Makes the environment without our libraries, in `room`. */
char *const *successor_environment(char *const environment[], void *room);

/* Before and after a harmful filter is installed, for programs that the C library executes
 * itself (system, popen): these get the process's own environment. Returns the text that will
 * replace an entry of `environ`, or NULL if there is none. */
char *successor_prepare(void);
/* Replaces the entry if the filter was installed; else frees the text. Makes no system call if it was. */
void successor_prepared(char *text, bool is_installed);

#endif
