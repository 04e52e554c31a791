/*
 * The kernel's own threads, of which a machine may have thousands. A recording of the whole machine has one process
 * with one thread for all of them.
 */
#ifndef COLLECT_SAMPLE_STATE_KERNEL_THREADS_H
#define COLLECT_SAMPLE_STATE_KERNEL_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_map.h"

/* The process and the thread that represent all kernel threads. */
enum { KERNEL_THREADS = 0 };
#define KERNEL_THREADS_NAME "[kernel threads]"

struct kernel_threads {
	struct hash_map by_pid; /* pid -> 1: a kernel thread, 0: a process */
};

void kernel_threads_init(struct kernel_threads *threads);
void kernel_threads_release(struct kernel_threads *threads);

/* Returns whether a process is a kernel thread. For the first question about a number, reads /proc; a process that has
 * ended by then is none, unless it was added. */
bool kernel_threads_has(struct kernel_threads *threads, uint32_t pid);

/* Notes that `parent` started the process `pid`: a kernel thread starts kernel threads. Returns 0 or ERROR_MEMORY. */
int kernel_threads_fork(struct kernel_threads *threads, uint32_t parent, uint32_t pid);

/* Notes that a process has executed a program, which makes it an ordinary one. Returns 0 or ERROR_MEMORY. */
int kernel_threads_exec(struct kernel_threads *threads, uint32_t pid);

#endif
