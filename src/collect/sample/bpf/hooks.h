/* Attaches the eBPF programs to the kernel's hooks, and owns the links. */
#ifndef COLLECT_SAMPLE_BPF_HOOKS_H
#define COLLECT_SAMPLE_BPF_HOOKS_H

#include <stddef.h>

#include "base/error.h"
#include "collect/sample/backend.h"
#include "collect/sample/bpf/functions.h"
#include "collect/sample/cpus.h"

struct bpf_link;
struct programs;

/* The program is attached to a tracepoint once: `last` is the last probe of the chain that begins with its cookie. */
struct bpf_attached_tracepoint {
	uint64_t id;
	uint32_t last;
};

struct bpf_hooks {
	struct bpf_link **links; /* owned */
	size_t count, capacity;
	struct bpf_functions functions;
	size_t probe_count; /* uprobes and tracepoints so far */
	struct bpf_attached_tracepoint tracepoints[RESOURCE_REQUESTS_MAX];
	size_t tracepoint_count;
};

/* Attaches the loaded programs to all hooks that the request needs. Nothing is counted yet. Returns 0, or
 * an error that names the probe and the remedy; the caller releases the hooks in both cases. */
int bpf_hooks_attach(struct bpf_hooks *hooks, struct programs *programs, const struct backend_request *request,
		     const struct cpus *cpus, struct error *error);

/* Traps the functions' calls of process `pid`, if the kernel can trap those of a single process; otherwise
 * bpf_hooks_attach has trapped all calls. Called before a command runs; repeated calls do nothing. Returns
 * 0 or a negative error. */
int bpf_hooks_limit(struct bpf_hooks *hooks, struct programs *programs, pid_t pid, struct error *error);

/* Called when that process has started another one: traps the calls of all processes. Returns 0, also if
 * there is nothing to do, or an error after which calls in other processes are not counted. */
int bpf_hooks_widen(struct bpf_hooks *hooks, struct programs *programs);

void bpf_hooks_release(struct bpf_hooks *hooks); /* {0} is fine */

#endif
