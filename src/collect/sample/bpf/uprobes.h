/* Many functions of one file watched by one link (kernels from 6.6 on), which is
 * quicker at each call, and at the end: the kernel waits once for all of them to be
 * gone, not for each. libbpf knows it from 1.3 on; here it is asked of the kernel. */
#ifndef COLLECT_SAMPLE_BPF_UPROBES_H
#define COLLECT_SAMPLE_BPF_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a program's expected attach type must be, to be so attached. */
enum { BPF_UPROBES_ATTACH_TYPE = 48 }; /* BPF_TRACE_UPROBE_MULTI in the kernel's uapi/linux/bpf.h */

/* Whether this kernel has it: tried once. */
bool bpf_uprobes_can_group(void);

/* A link, to be closed, or -1 with errno. `offsets` in the file, with a cookie each; of
 * process `pid`, or of all if it is 0. */
int bpf_uprobes_attach(int program_fd, const char *path, const uint64_t *offsets, const uint64_t *cookies, size_t count,
		       bool at_return, pid_t pid);

#endif
