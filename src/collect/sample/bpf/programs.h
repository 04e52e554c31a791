/* The eBPF programs of a run: chosen, set up and loaded, but not attached yet. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "collect/sample/backend.h"
#include "collect/sample/bpf/programs/shared.h"

/* Generated from programs/programs.bpf.c by the build. It does not include the headers that it needs. */
#include "programs.skel.h"

/* The ring of samples. At a low rate the small one has room for longer than the monitor ever waits. */
enum { BPF_RING_BYTES = 8 * 1024 * 1024, BPF_RING_SMALL_BYTES = 2 * 1024 * 1024 };
size_t bpf_ring_bytes(const struct backend_request *request);

/* Returns the part of a request that the programs use. */
struct bpf_request bpf_request_of(const struct resource_request *request);

/* Loads the programs that the request needs; the caller frees them with programs__destroy. `cpus` is one
 * more than the highest CPU's number. Returns NULL if that fails, with the kernel's reason and the remedy
 * in `error`. */
struct programs *bpf_programs_load(const struct backend_request *request, size_t cpus, struct error *error);

/* Runs the program that visits all tasks. Returns 0 or ERROR_SYSTEM. */
int bpf_programs_pass(struct programs *programs, enum bpf_task_pass pass);

/* Returns the number of events that the kernel did not pass to a program because it was already active on
 * the same CPU. Interrupts of clocks are not included. */
uint64_t bpf_programs_missed(const struct programs *programs);

#endif
