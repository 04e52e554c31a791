/*
 * The temporary folder of one compilation, and the one process that runs in it at a time. A signal that ends this process
 * goes to that one first; then the folder is removed, and the signal does what it would have done. One folder at a time.
 */
#ifndef COLLECT_SOURCE_COMPILE_SCRATCH_H
#define COLLECT_SOURCE_COMPILE_SCRATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct scratch {
	char path[512]; /* absolute */
};

/* Below TMPDIR, or /tmp. 0, or as error_set_errno. */
int scratch_init(struct scratch *scratch, struct error *error);
void scratch_release(struct scratch *scratch);

/* In a child of the process that made it: who removes it is the parent. */
void scratch_disown(void);

struct process_streams {
	const char *input;  /* a file; NULL: as ours */
	const char *errors; /* a file that is made; NULL: as ours */
};

/* Runs a command to its end; PATH is searched. Returns wait()'s status; -1: it cannot be run, errno tells why. */
int process_run(char *const *words, const struct process_streams *streams);
/* Waits for a child that was forked, as process_run does for its own. */
int process_wait(pid_t pid);
/* Blocks the signals that scratch is about around a fork(), so that none falls between; and lets them in again. */
void process_hold(void);
void process_let_go(void);
void process_set_child(pid_t child);

/* Ends as the status says: the same exit status, or by the same signal. */
int process_exit_status(int status);

#endif
