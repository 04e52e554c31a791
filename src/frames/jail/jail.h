/*
 * Examines files in a process without privileges.
 *
 * A recorder that runs as root reads symbols and debug information of programs whose files anybody may have made, by
 * libraries that were not made for hostile files. So a child process does that, in a jail (jail/confine.h): it may read
 * the files that the recorder has opened for it, compute, and answer. Whatever happens in it costs the answer about one
 * file:
 *
 *   recorder                                        child, a copy of the recorder
 *   opens the file                      --- run -->
 *                                       <-- open -- a debug file, by its path or build-id
 *   opens it: only a regular ELF file   - opened ->
 *     (by build-id: jail/download.h)
 *                                       <-- done -- the answer
 *   checks and uses it
 *
 *   struct jail         no child  --jail_run-->  child  --it ends, errs, or exceeds a limit-->  no child
 *
 * 1. Nothing that the child sends is trusted: each task validates its answer like an untrusted file.
 * 2. A child that has erred is killed, and the next file gets a new one.
 * 3. Each file has the CPU time that a file of its size needs. A budget for all files of the jail has what some need beyond that: a hostile
 *    file can use it up, and the others are still named.
 * 4. A signal that asks the recorder to end ends the child's work.
 *
 * The tasks: jail/naming.h names the addresses of profiles; jail/once.h has the tasks on single files.
 */
#ifndef FRAMES_JAIL_JAIL_H
#define FRAMES_JAIL_JAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"
#include "frames/jail/desk.h"
#include "frames/jail/download.h"
#include "frames/jail/interruption.h"
#include "frames/jail/task.h"
#include "frames/options.h"

struct jail_request {
	const struct jail_task *task;
	int fd; /* not owned; -1: the task has no file */
	const char *path;
	const void *bytes; /* `input.request` of the task */
	size_t size;
};

struct jail {
	void *context; /* of the tasks; not owned */
	/* Called with the numbers that a task sends by inside_progress; may be NULL. */
	void (*progress)(void *context, uint64_t done);
	/* Where debug files come from that are not installed; not owned. NULL: nowhere. */
	struct download *download;
	pid_t child; /* 0: none */
	int socket;
	struct buffer inbox;
	uint64_t budget_ns;      /* CPU time that is left for files beyond what their size permits */
	uint64_t last_ns;        /* the limit of the last file */
	struct desk_files files; /* that the child got */
	struct interruption interruption;
	bool is_interrupted;
	uint64_t memory_bytes;
	bool impossible;    /* there can be no child */
	char obstacle[160]; /* why */
};

void jail_init(struct jail *jail, const struct frames_limits *limits, void *context);
void jail_release(struct jail *jail);

/* Makes a child if there is none. Returns 0, ERROR_UNSUPPORTED: there can be none, and `obstacle` has the reason; or ERROR_LIMIT if
 * `is_interrupted`. */
int jail_prepare(struct jail *jail);

/* Runs a task in the child, which jail_prepare has made. Returns what the task returned, with its answer, which is
 * valid until the next call; or, with `error` set, ERROR_LIMIT (it exceeded a limit, or `is_interrupted`), ERROR_CORRUPT (the child ended,
 * or broke the rules of the conversation) or ERROR_MEMORY (of this process). */
int jail_run(struct jail *jail, const struct jail_request *request, struct cursor *answer, struct error *error);

/* Ends the child after an error: of the conversation, or in its answer. Returns ERROR_LIMIT or ERROR_CORRUPT, with
 * `error` set. `status`: ERROR_LIMIT (time), ERROR_MEMORY (its own), ERROR_SYSTEM (it ended) or ERROR_CORRUPT. */
int jail_fail(struct jail *jail, const struct jail_request *request, int status, struct error *error);

/* Reports that an answer makes no sense. Returns ERROR_CORRUPT. */
int jail_refuse_answer(const struct jail_task *task, const char *path, struct error *error);

/* Returns whether only root or our user can have made a file: it may be examined without a jail, if there can be none. */
bool jail_trusts(int fd);

#endif
