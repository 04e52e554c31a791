/* Checks which eBPF programs and tracepoints the kernel permits, and explains its refusals. */
#ifndef COLLECT_SAMPLE_BPF_ACCESS_H
#define COLLECT_SAMPLE_BPF_ACCESS_H

#include <stdbool.h>

#include "base/error.h"

/* Returns 0 if the kernel loads programs like ours, or an error with the reason and the remedy. Tries it
 * once, with a program of two instructions, and keeps the result. */
int bpf_access(struct error *error);

/* Returns whether the running kernel has a tracepoint, even one that tracefs does not list. */
bool bpf_access_has_tracepoint(const char *name);

#endif
