/* What the kernel permits of eBPF, and how to say what it refuses. */
#ifndef COLLECT_SAMPLE_BPF_ACCESS_H
#define COLLECT_SAMPLE_BPF_ACCESS_H

#include <stdbool.h>

#include "base/error.h"

/* Whether eBPF programs as ours may be loaded: 0; or why not, and the remedy.
 * Tried once, with a program of two instructions. */
int bpf_access(struct error *error);

/* Whether the running kernel has a tracepoint, also one that tracefs does not list. */
bool bpf_access_has_tracepoint(const char *name);

#endif
