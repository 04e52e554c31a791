/* The names of the kernel's functions, by the program on_names (programs/names.bpf.h). */
#ifndef COLLECT_SAMPLE_BPF_KERNEL_NAMES_H
#define COLLECT_SAMPLE_BPF_KERNEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "collect/sample/backend.h"

struct programs;

struct bpf_kernel_names {
	struct programs *programs;       /* not owned */
	struct hash_map is_tracing_code; /* address -> 1: it is in code that only calls our programs; 0: it is not */
};

void bpf_kernel_names_init(struct bpf_kernel_names *names, struct programs *programs);
void bpf_kernel_names_release(struct bpf_kernel_names *names);

/* Removes the innermost frames of a sample's kernel stack that belong to our program, and the frames of the code between it and
 * the tracepoint that called it. */
void bpf_kernel_names_trim(struct bpf_kernel_names *names, struct backend_sample *sample);

/* See write_kernel_names in collect/sample/backend.h. */
int bpf_kernel_names_write(struct bpf_kernel_names *names, const uint64_t *addresses, size_t count, int fd);

#endif
