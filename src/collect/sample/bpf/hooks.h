/* Where the eBPF programs hang: everything that was attached, or opened for it. */
#ifndef COLLECT_SAMPLE_BPF_HOOKS_H
#define COLLECT_SAMPLE_BPF_HOOKS_H

#include <stddef.h>

#include "base/error.h"
#include "collect/sample/backend.h"
#include "collect/sample/bpf/functions.h"
#include "collect/sample/cpus.h"

struct bpf_link;
struct programs;

struct bpf_hooks {
	struct bpf_link **links; /* owned */
	size_t count, capacity;
	struct bpf_functions functions;
	size_t probe_count; /* uprobes and tracepoints so far */
};

/* Attaches the loaded programs to what the request needs. Nothing is counted yet.
 * On an error, which names the probe and what would do, the hooks are still to be
 * released. */
int bpf_hooks_attach(struct bpf_hooks *hooks, struct programs *programs, const struct backend_request *request,
		     const struct cpus *cpus, struct error *error);

/* Traps the functions' calls of process `pid`, where that can be told apart; otherwise
 * it was done for all already. To be called once, before it runs. */
int bpf_hooks_limit(struct bpf_hooks *hooks, struct programs *programs, pid_t pid, struct error *error);

/* That process has started another one. 0, also where nothing is to be done, or an error
 * after which calls of functions in other processes are not seen. */
int bpf_hooks_widen(struct bpf_hooks *hooks, struct programs *programs);

void bpf_hooks_release(struct bpf_hooks *hooks); /* {0} is fine */

#endif
