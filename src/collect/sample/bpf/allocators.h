/*
 * The allocators that the probes of `allocs` and `alloc-bytes` watch, and those that they do not: a library
 * that is loaded with dlopen may export a malloc of its own, and call it where the dynamic linker prefers
 * the library's own definitions. The probes are attached before such a library is known.
 */
#ifndef COLLECT_SAMPLE_BPF_ALLOCATORS_H
#define COLLECT_SAMPLE_BPF_ALLOCATORS_H

#include <sys/types.h>

#include "collect/sample/probes/probe_points.h"
#include "profile/profile.h"

struct watched_file {
	dev_t device;
	ino_t inode;
};

struct bpf_allocators {
	struct watched_file *items; /* owned; {0} is fine: nothing is watched */
	size_t count, capacity;
};

/* Notes the files of the points. A file that cannot be examined is left out. Returns 0 or ERROR_MEMORY. */
int bpf_allocators_add(struct bpf_allocators *allocators, const struct probe_points *points);

/* Adds a finding if allocators are watched, and a file that the target mapped has another one. The C library is none:
 * its malloc is there in each process, used or not. */
void bpf_allocators_add_finding(const struct bpf_allocators *allocators, struct profile *profile);

void bpf_allocators_release(struct bpf_allocators *allocators); /* {0} is fine */

#endif
