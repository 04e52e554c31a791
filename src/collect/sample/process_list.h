/*
 * The running processes that a recording attaches to: those that the user gave by number or by name, and the
 * processes that these have started.
 *
 *   zeros -> process_list_add_id, process_list_add_named... -> process_list_add_children -> process_list_release
 */
#ifndef COLLECT_SAMPLE_PROCESS_LIST_H
#define COLLECT_SAMPLE_PROCESS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* Why a process is recorded. */
enum process_origin {
	PROCESS_BY_ID,   /* the user requires this process */
	PROCESS_BY_NAME, /* it had the name that the user gave */
	PROCESS_CHILD    /* a listed process has started it, or one of its children has */
};

struct listed_process {
	pid_t pid;
	enum process_origin origin;
};

struct process_list {
	struct listed_process *items; /* owned; without repetitions; the children are at the end */
	size_t count, capacity;
};

/* Adds a process by its number, unless it is listed. Returns 0 or ERROR_MEMORY. */
int process_list_add_id(struct process_list *list, pid_t pid, struct error *error);

/* Adds the running processes that have this name (/proc/PID/comm, which the kernel cuts to 15 bytes), except our own
 * process and the kernel's threads. Returns 0; ERROR_NOT_FOUND if there is none; or another negative error. */
int process_list_add_named(struct process_list *list, const char *name, struct error *error);

/* Adds the running processes that listed processes have started, and those that these have started, and so on. Our
 * own process is never added. A process whose creator has ended is not found. Returns how many were added, or a
 * negative error. */
int process_list_add_children(struct process_list *list, struct error *error);

/* Returns whether a process that exists has ended, and only its parent's wait for it is missing. */
bool process_has_ended(pid_t pid);

/* Returns whether a running process was started with the variable `entry`, "NAME=VALUE", in its
 * environment. Processes that may not be read do not count, and neither do those that have ended
 * but were not waited for yet. */
bool processes_have_variable(const char *entry);

/* NULL is an empty list. */
bool process_list_is_empty(const struct process_list *list);

void process_list_release(struct process_list *list);

#endif
