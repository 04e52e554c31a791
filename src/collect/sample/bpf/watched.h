/*
 * Side events of the whole machine, of which only those of watched processes are
 * passed on. Events that are bound to a process end where it runs a set-user-ID
 * program, and cost it something at each fork; these do neither.
 */
#ifndef COLLECT_SAMPLE_BPF_WATCHED_H
#define COLLECT_SAMPLE_BPF_WATCHED_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/hash_map.h"
#include "collect/sample/backend.h"

struct bpf_watched {
	struct hash_map pids; /* pid -> 1: watched, 0: not any more */
	bool everything;
	bool has_children;               /* a watched process has started another */
	bool out_of_memory;              /* some child is not passed on */
	const struct backend_sink *sink; /* of the drain at hand */
};

void bpf_watched_init(struct bpf_watched *watched, bool everything);
void bpf_watched_release(struct bpf_watched *watched);

/* Watches a process, and those that it will start. 0 or ERROR_MEMORY. */
int bpf_watched_add(struct bpf_watched *watched, pid_t pid);

/* A sink that passes on to watched->sink, which is to be set. */
struct backend_sink bpf_watched_filter(struct bpf_watched *watched);

#endif
