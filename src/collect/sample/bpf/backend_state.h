/* The state of the bpf backend, which bpf.c owns. Private to the files of this folder. */
#ifndef COLLECT_SAMPLE_BPF_BACKEND_STATE_H
#define COLLECT_SAMPLE_BPF_BACKEND_STATE_H

#include "base/hash_map.h"
#include "collect/sample/backend.h"
#include "collect/sample/bpf/hooks.h"
#include "collect/sample/bpf/kernel_names.h"
#include "collect/sample/bpf/programs.h"
#include "collect/sample/bpf/ring.h"
#include "collect/sample/bpf/watched.h"
#include "collect/sample/cpus.h"
#include "collect/sample/perf/events.h"
#include "collect/sample/stacks/code_loader.h"
#include "collect/sample/state/side_events.h"

struct backend {
	struct backend_request request;
	struct resource_request resources[RESOURCE_REQUESTS_MAX];
	struct cpus cpus;
	struct programs *programs;
	struct bpf_hooks hooks;
	struct bpf_ring *ring;
	struct bpf_kernel_names names;
	struct code_loader *code;
	struct side_events *side;
	size_t side_bytes; /* the size of their rings */
	bool has_side;     /* they are attached */
	struct bpf_watched watched;
	pid_t first;              /* the process that was attached first; 0: none yet */
	bool is_wide;             /* functions are probed in all processes, not only in the first */
	bool was_late;            /* ... but some had run before */
	bool is_blind;            /* probing them failed */
	struct hash_map attached; /* thread ids */
	struct hash_map attached_processes;
	struct perf_events counters; /* totals of resources that clocks sample: tag is the request */
	bool stopped;
	bool unfinished;            /* the totals lack the use of threads that still run */
	struct bpf_results results; /* as of stop */
	uint8_t *stack;             /* room for a stack that is read from the target */
};

/* struct backend_vtable.add_findings (findings.c). */
void bpf_add_findings(const struct backend *backend, struct profile *profile);

#endif
