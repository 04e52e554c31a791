/* The eBPF programs of a run: chosen, set up and loaded, but not attached yet. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "collect/sample/backend.h"
#include "collect/sample/bpf/programs/shared.h"

/* Made from bpf/programs.bpf.c when this is built; it does not include what it needs. */
#include "programs.skel.h"

enum { BPF_RING_BYTES = 8 * 1024 * 1024 };

/* What the programs need to know of a request. */
struct bpf_request bpf_request_of(const struct resource_request *request);

/* Loads those that the request needs: to be freed with programs__destroy. `cpus`:
 * one more than the highest CPU's number. NULL: `error` says what the kernel
 * refuses, and what would do. */
struct programs *bpf_programs_load(const struct backend_request *request, size_t cpus, struct error *error);

/* Runs the program that looks at all tasks. 0 or ERROR_SYSTEM. */
int bpf_programs_pass(struct programs *programs, enum bpf_task_pass pass);

/* Events that the kernel did not show to a program that was at work on the same CPU
 * already; those that count something. */
uint64_t bpf_programs_missed(const struct programs *programs);

/* What libbpf complained of last, "" if nothing: for error messages. */
const char *bpf_programs_complaint(void);

#endif
