/* A storage of code (collect/sample/stacks/code_loader.h) in the maps of the eBPF programs. */
#ifndef COLLECT_SAMPLE_BPF_CODE_H
#define COLLECT_SAMPLE_BPF_CODE_H

#include "base/error.h"
#include "collect/sample/stacks/code_loader.h"

struct bpf_code_maps { /* descriptors: not owned */
	int processes, codes, first_chunk, chunks;
};

/* Returns a loader that writes into these maps, or NULL with the reason in `error`. */
struct code_loader *bpf_code_loader_new(const struct bpf_code_maps *maps, struct error *error);

#endif
