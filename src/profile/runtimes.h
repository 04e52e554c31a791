/*
 * The runtimes that compile code while a program runs, one row each: the name of their processes, and how each is made to list the code that
 * it generates and to keep frame pointers in it. `record --jit` sets the variables; the summary suggests it.
 */
#ifndef PROFILE_RUNTIMES_H
#define PROFILE_RUNTIMES_H

#include <stdbool.h>

struct runtime {
	const char *process;  /* begins the names of its processes */
	const char *variable; /* of the environment, which the runtime reads; NULL: it reads none */
	const char *value;    /* of the variable */
	const char *
		with_jvm_library; /* the value if libcpprof-jvm.so is installed: a format with its path; NULL: the same */
	const char *by_hand;      /* a command with the same effect */
	bool is_list;             /* the variable is a list of options, separated by spaces: the value is appended */
};

/* All rows; the last one has process NULL. */
extern const struct runtime runtimes[];

/* Returns the row of a process's name, or NULL. */
const struct runtime *runtime_of_process(const char *name);

#endif
