/*
 * The command to record: found, checked and started, but held before its exec until the backend watches
 * it. The command keeps its own input, output, signals, limits and exit status.
 */
#ifndef COLLECT_SAMPLE_TARGET_H
#define COLLECT_SAMPLE_TARGET_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "profile/profile.h"

struct signalfd_siginfo;

struct target {
	pid_t pid;
	int pidfd;   /* readable or hung up when the process has ended (target_end_open) */
	int go_fd;   /* a byte written here lets the process exec */
	int fail_fd; /* delivers the errno of a failed exec */
	bool ended;
	uint64_t user_ns, system_ns; /* CPU time with the children that it waited for, once it has ended */
	int status;                  /* as in a shell: 0 to 255, 128 + N for a signal */
	int killed_by;               /* the signal; 0: none, or one that a shell does not report */
	int interrupted_by;          /* a signal that asked it to end, or ended it and is not reported; 0: none */
};

/* Finds the file of the command `name` (in PATH, as a shell does) and checks that it can be run and
 * recorded: it exists, is executable, and is a script with a '#!' line or an ELF file for this machine.
 * Returns its path, which the caller frees, or NULL with the reason and the remedy in `error`. */
char *target_find(const char *name, struct error *error);

/* Returns why the kernel does not let an unprivileged user observe this file's program, or NULL if it
 * does. */
const char *target_hidden(const char *path);

/* The environment and streams of the command. */
struct target_start {
	/* "NAME=value" entries, each list ended by NULL, that are added to its environment or
	 * replace variables there (NULL: none). No name is in both lists. */
	char *const *environment;
	char *const *user_environment;
	const sigset_t *signals;    /* its signal mask */
	const struct rlimit *files; /* its limit of open files */
	const int *streams;         /* its standard input, output and error, none of them 0, 1 or 2; NULL: ours */
};

/* Forks the process that will execute the command, and holds it. Returns 0 or a negative error. */
int target_fork(struct target *target, const char *path, char *const *arguments, const struct target_start *how,
		struct error *error);

/* Lets the process exec. Returns 0, or an error if the command could not be executed. */
int target_exec(struct target *target, const char *path, struct error *error);

/* Waits for the end of the target, and stores its exit status and CPU time. */
void target_reap(struct target *target);

/* Passes a signal of ours on to the target, unless the terminal has sent it there already. */
void target_interrupt(struct target *target, const struct signalfd_siginfo *signal);

/* Adds the signal that ended the target, or asked it to end, to the findings. */
void target_add_finding(const struct target *target, struct profile *profile);

/* Ends a target that was not let go, and closes the descriptors. */
void target_release(struct target *target);

#endif
