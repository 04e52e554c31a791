/* What the kernel permits of eBPF, and how to say what it refuses. */
#ifndef RECORD_BPF_ACCESS_H
#define RECORD_BPF_ACCESS_H

#include "base/error.h"

/* Whether eBPF programs as ours may be loaded: 0; or why not, and the remedy.
 * Tried once, with a program of two instructions. */
int bpf_access(struct error *error);

#endif
