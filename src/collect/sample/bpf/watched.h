/*
 * Filters the side events of the whole machine: passes on the events of watched processes. Events that are
 * bound to a process end where it runs a set-user-ID program, and cost it time at each fork; events of the
 * whole machine do neither.
 */
#ifndef COLLECT_SAMPLE_BPF_WATCHED_H
#define COLLECT_SAMPLE_BPF_WATCHED_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/hash_map.h"
#include "collect/sample/backend.h"

struct bpf_watched {
	struct hash_map pids; /* pid -> 1: watched, 0: no longer watched */
	bool everything;
	bool no_children;                /* do not watch the processes that watched processes start */
	bool has_children;               /* a watched process has started another */
	const struct backend_sink *sink; /* of the current drain */
};

void bpf_watched_init(struct bpf_watched *watched, bool everything, bool no_children);
void bpf_watched_release(struct bpf_watched *watched);

/* Watches a process and, unless no_children, those that it will start. Returns 0 or ERROR_MEMORY. */
int bpf_watched_add(struct bpf_watched *watched, pid_t pid);

/* Returns whether a process is watched: it was added, or started by a watched one. */
bool bpf_watched_has(const struct bpf_watched *watched, uint32_t pid);

/* Returns a sink that passes on to watched->sink, which the caller sets. */
struct backend_sink bpf_watched_filter(struct bpf_watched *watched);

#endif
