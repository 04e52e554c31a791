/* Attaches the eBPF programs to the kernel's hooks, and owns the links. */
#ifndef COLLECT_SAMPLE_BPF_HOOKS_H
#define COLLECT_SAMPLE_BPF_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "collect/sample/backend.h"
#include "collect/sample/bpf/allocators.h"
#include "collect/sample/cpus.h"

/*
 * functions.c: functions that are watched by uprobes, file by file. A uprobe slows every process that calls the
 * function, so at first only the target's calls trap. When the target starts another process, the calls of
 * all processes trap, and the eBPF program skips the calls of processes that are not watched: a uprobe bound
 * to a child would be attached too late for most of its calls.
 */

enum { BPF_GROUP_MAX = 64 };

/* Probes in one file. */
struct bpf_group {
	char *path; /* owned */
	bool at_return;
	size_t count;
	uint64_t offsets[BPF_GROUP_MAX];
	uint64_t cookies[BPF_GROUP_MAX]; /* numbers of their probes */
};

struct bpf_functions {
	struct bpf_group *groups;
	size_t count, capacity;
	int *links;
	size_t link_count, link_capacity;
	pid_t pid; /* the process whose calls trap; 0: all processes */
};

/* Adds an empty group for a file. Returns it, or NULL if memory ran out. It is valid until the next call. */
struct bpf_group *bpf_functions_add(struct bpf_functions *functions, const char *path, bool at_return);

/* Returns whether this kernel can trap the calls of a single process (Linux 6.10). */
bool bpf_functions_can_limit(void);

/* Traps the functions' calls: of process `pid`, or of all processes if it is 0. Returns 0 or a negative
 * error. */
int bpf_functions_attach(struct bpf_functions *functions, int program_fd, pid_t pid, struct error *error);

/* From now on traps the calls of all processes, by additional probes that skip the first process.
 * `add_probe` makes a copy of a probe that skips the process `but_not`, and stores the copy's number in
 * *copy. Returns 0 or a negative error. */
int bpf_functions_widen(struct bpf_functions *functions, int program_fd,
			int (*add_probe)(void *context, uint64_t number, pid_t but_not, uint64_t *copy), void *context);

void bpf_functions_release(struct bpf_functions *functions); /* {0} is fine */

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
	struct bpf_allocators allocators;
};

/* Attaches the loaded programs to all hooks that the request needs. Nothing is counted yet. Returns 0, or
 * an error that names the probe and the remedy; the caller releases the hooks in both cases. */
int bpf_hooks_attach(struct bpf_hooks *hooks, struct programs *programs, const struct backend_request *request,
		     const struct cpus *cpus, struct error *error);

/* Traps the functions' calls of process `pid`, if the kernel can trap the calls of a single process; otherwise
 * bpf_hooks_attach has trapped all calls. Called before a command runs; repeated calls do nothing. Returns
 * 0 or a negative error. */
int bpf_hooks_limit(struct bpf_hooks *hooks, struct programs *programs, pid_t pid, struct error *error);

/* Called when that process has started another one: traps the calls of all processes. Returns 0, also if
 * there is nothing to do, or an error after which calls in other processes are not counted. */
int bpf_hooks_widen(struct bpf_hooks *hooks, struct programs *programs);

void bpf_hooks_release(struct bpf_hooks *hooks); /* {0} is fine */

#endif
