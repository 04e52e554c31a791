/* Attaches many functions of one file by one link (kernels from 6.6 on). That is faster at each call and at
 * the end, where the kernel waits once until all of them are gone, not for each. libbpf supports it from 1.3
 * on; this code uses the kernel's interface directly. */
#ifndef COLLECT_SAMPLE_BPF_UPROBES_H
#define COLLECT_SAMPLE_BPF_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The expected attach type that such a program must have. */
enum { BPF_UPROBES_ATTACH_TYPE = 48 }; /* BPF_TRACE_UPROBE_MULTI in the kernel's uapi/linux/bpf.h */

/* Returns whether this kernel supports it. Tries it once. */
bool bpf_uprobes_can_group(void);

/* Attaches a program at `offsets` in a file, with a cookie for each, in process `pid`, or in all processes
 * if it is 0. Returns the link's descriptor, which the caller closes, or -1 with errno. */
int bpf_uprobes_attach(int program_fd, const char *path, const uint64_t *offsets, const uint64_t *cookies, size_t count,
		       bool at_return, pid_t pid);

#endif
