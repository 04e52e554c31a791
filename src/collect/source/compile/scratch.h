/* The temporary folder of one compilation, and the only process that runs in it
 * at a time. A signal that ends our process is first passed to that process; then
 * the folder is removed, and the signal takes its usual effect. There is one
 * folder at a time, and one that is adopted. */
#ifndef COLLECT_SOURCE_COMPILE_SCRATCH_H
#define COLLECT_SOURCE_COMPILE_SCRATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct scratch {
	char path[512]; /* absolute */
};

/* Creates the folder below TMPDIR, or /tmp. Returns 0, or a negative error as error_set_errno. */
int scratch_init(struct scratch *scratch, struct error *error);
void scratch_release(struct scratch *scratch);

/* Call it in a child of the process that made the folder, so that only the parent removes the folder. */
void scratch_disown(void);

/* Lets such a signal also remove the folder of a caller, whose path is absolute. NULL: no longer. Call it with blocked signals when you make the
 * folder. */
void scratch_adopt(const char *path);
/* Removes a folder with all that it contains. */
void scratch_remove(const char *path);

struct process_streams {
	const char *input;  /* a file; NULL: our own standard input */
	const char *errors; /* a file that is created; NULL: our own standard error */
};

/* Runs a command to its end; searches PATH. Returns wait()'s status, or -1 and
 * sets errno if the command cannot be run. */
int process_run(char *const *words, const struct process_streams *streams);
/* Waits for a forked child, as process_run does for its own. */
int process_wait(pid_t pid);
/* Block and unblock the signals that scratch handles, around a fork(), so that none arrives between the fork and the
 * record of the child. */
void process_block_signals(void);
void process_unblock_signals(void);
void process_set_child(pid_t child);

/* Returns the exit status, or ends this process by the same signal. */
int process_exit_status(int status);

#endif
