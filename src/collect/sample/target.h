/*
 * The command to be recorded: found, checked and started, but held before its
 * first instruction until the backend watches it. Its input, output, signals,
 * limits and exit status are its own.
 */
#ifndef COLLECT_SAMPLE_TARGET_H
#define COLLECT_SAMPLE_TARGET_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

struct target {
	pid_t pid;
	int pidfd;   /* readable when it has ended */
	int go_fd;   /* a byte written here lets it exec */
	int fail_fd; /* gives the errno of a failed exec */
	bool ended;
	uint64_t user_ns, system_ns; /* CPU time that it and its children used, once it has ended */
	int status;                  /* as the shell says it: 0 to 255, 128 + N for a signal */
};

/* Finds the file that `name` means (with PATH, as a shell would) and checks that
 * it can be run and recorded: it exists, is executable, is a script with an
 * interpreter or an ELF file for this machine. Returns its path, which the
 * caller frees; NULL: `error` says what is wrong and what would do. */
char *target_find(const char *name, struct error *error);

/* Why the kernel will not let an ordinary user see into this file's program; NULL:
 * nothing in the way. */
const char *target_hidden(const char *path);

/* Forks the process that is to become the command. `signals` and `files` are
 * what the command gets back as its signal mask and limit of open files; `environment`,
 * "NAME=value" and a NULL, is added to its own (NULL: nothing is). */
int target_fork(struct target *target, const char *path, char *const *arguments, char *const *environment,
		const sigset_t *signals, const struct rlimit *files, struct error *error);

/* Lets it exec. An error if that fails: the process is then gone. */
int target_go(struct target *target, const char *path, struct error *error);

/* Takes the status of a target whose pidfd is readable. */
void target_reap(struct target *target);

/* Kills a target that has not been let go; closes descriptors. */
void target_release(struct target *target);

#endif
