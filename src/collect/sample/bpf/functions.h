/*
 * Functions that are watched by uprobes, file by file. A probe slows every process
 * that calls the function, so at first only the target's calls are trapped. When it
 * starts another process, all are, and the eBPF program passes over strangers' calls:
 * a probe bound to a child would come too late for most of its life.
 */
#ifndef COLLECT_SAMPLE_BPF_FUNCTIONS_H
#define COLLECT_SAMPLE_BPF_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum { BPF_GROUP_MAX = 64 };

/* Probes in one file. */
struct bpf_group {
	char *path; /* owned */
	bool at_return;
	size_t count;
	uint64_t offsets[BPF_GROUP_MAX];
	uint64_t cookies[BPF_GROUP_MAX]; /* numbers of their probes */
};

struct bpf_functions {
	struct bpf_group *groups;
	size_t count, capacity;
	int *links;
	size_t link_count, link_capacity;
	pid_t pid; /* whose calls alone are trapped; 0: everybody's */
};

/* Adds an empty group for a file. NULL: out of memory. Valid until the next. */
struct bpf_group *bpf_functions_add(struct bpf_functions *functions, const char *path, bool at_return);

/* Whether this kernel can trap one process's calls alone (Linux 6.10). */
bool bpf_functions_can_limit(void);

/* Traps them: of process `pid`, or of all if it is 0. */
int bpf_functions_attach(struct bpf_functions *functions, int program_fd, pid_t pid, struct error *error);

/* From now on everybody's, by probes of their own that pass over the first process's.
 * `add_probe` makes a copy of a probe that passes over a process, and gives its number. */
int bpf_functions_widen(struct bpf_functions *functions, int program_fd,
			int (*add_probe)(void *context, uint64_t number, pid_t but_not, uint64_t *copy), void *context);

void bpf_functions_release(struct bpf_functions *functions); /* {0} is fine */

#endif
