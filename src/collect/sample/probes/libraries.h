/*
 * The files that contain the code of a target, in the order in which its dynamic linker searches them for
 * a function: the program first. For a command they are found before it runs; for a process they are those
 * that it has mapped. Libraries that a command will load with dlopen are not among them. The probes of a
 * request (a function to count, the allocator) are looked up in them, in this order.
 */
#ifndef COLLECT_SAMPLE_PROBES_LIBRARIES_H
#define COLLECT_SAMPLE_PROBES_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct library {
	char *name; /* path as the target uses it; owned */
	char *path; /* path under which we can open it; owned */
	dev_t device;
	ino_t inode;
};

struct libraries {
	struct library *items; /* owned */
	size_t count;
	size_t capacity;
};

/* Finds the libraries of a command's file, or of its interpreter if it is a script. Returns 0 or a
 * negative error. */
int libraries_of_command(struct libraries *libraries, const char *command, struct error *error);

/* The same without running the dynamic linker: by the libraries that each file lists. */
int libraries_by_needs(struct libraries *libraries, const char *program, struct error *error);

int libraries_of_process(struct libraries *libraries, pid_t pid, struct error *error);

/* Returns the path of a library by its file's name, where a dynamic linker
 * finds it without further information from a program, or NULL. The caller
 * frees it. */
char *libraries_search(const char *name);

/* Adds a file unless the list has it, under any name. Returns 0 or ERROR_MEMORY. */
int libraries_add(struct libraries *libraries, const char *name, const char *path);

/* Returns whether a user's `module` is this one: its path, its file's name, or
 * that without the version: "libc.so.6", "libc.so", "libc". */
bool library_is(const struct library *library, const char *module);

/* Returns whether the file's name is the name of libcpprof, the library for programs that use cpprof/runtime.h. */
bool library_is_libcpprof(const char *path);

/* Returns whether one of the files calls libcpprof's function `name`: it needs the library and imports the function, or
 * it is a static program that contains it. Files that cannot be read count as those that do not. */
bool libraries_call(const struct libraries *libraries, const char *name);

/* Sets exported[i] to whether the file exports a symbol names[i]; false for a file that cannot be read. */
void library_exports(int fd, const char *path, const char *const *names, size_t count, bool *exported);

void libraries_release(struct libraries *libraries); /* {0} is fine */

#endif
