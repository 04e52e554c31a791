/* The eBPF programs' maps as a storage of code (collect/sample/stacks/code_loader.h). */
#ifndef COLLECT_SAMPLE_BPF_CODE_H
#define COLLECT_SAMPLE_BPF_CODE_H

#include "base/error.h"
#include "collect/sample/stacks/code_loader.h"

struct bpf_code_maps { /* descriptors: not owned */
	int processes, codes, first_chunk, chunks;
};

/* A loader that writes into them. NULL: `error` says why. */
struct code_loader *bpf_code_loader_new(const struct bpf_code_maps *maps, struct error *error);

#endif
