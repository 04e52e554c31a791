/*
 * The runtimes that compile code while a program runs, one row each: the name of their processes, and how each is made to list the code that
 * it generates and to keep frame pointers in it. `record --jit` sets the variables; the summary suggests it.
 */
#ifndef PROFILE_RUNTIMES_H
#define PROFILE_RUNTIMES_H

#include <stdbool.h>

#include "profile/profile.h"

struct runtime {
	const char *process;  /* begins the names of its processes */
	const char *variable; /* of the environment, which the runtime reads; NULL: it reads none */
	const char *value;    /* of the variable */
	const char *
		with_jvm_library; /* the value if libcpprof-jvm.so is installed: a format with its path; NULL: the same */
	const char *by_hand;      /* a command with the same effect */
	bool is_list;             /* the variable is a list of options, separated by spaces: the value is appended */
	const char *library;      /* in the names of its files, because other programs load it; NULL: in no others */
	const char *nameless;     /* how its code gets names, where the variable does not help; NULL: as by hand */
	const char *running;      /* how the code of a running process gets names; NULL: only as by hand */
	const char *frameless;    /* what helps where its code keeps no frame pointers; NULL: unknown */
};

/* All rows; the last one has process NULL. */
extern const struct runtime runtimes[];

/* Returns the row of a process's name, or NULL. */
const struct runtime *runtime_of_process(const char *name);

/* Returns the row of the first file or process of a profile that has one, or NULL. */
const struct runtime *runtime_of_profile(const struct profile *profile);

#endif
