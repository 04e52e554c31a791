/*
 * The code of the watched processes, in the kernel: rows and maps, as the eBPF
 * programs look them up. The rows of a table are loaded once, whoever maps it.
 *
 *   processes   pid -> a run of codes
 *   codes       a run: the maps of one process, sorted
 *   chunks      slots: the rows, and behind each table's rows its page index
 *
 * A run is never changed in place: a new one is written and then put in the old
 * one's stead, whose room is used again only when no walk can still be in it.
 */
#ifndef RECORD_BPF_CODE_H
#define RECORD_BPF_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/backend.h"

struct bpf_code_loader;

struct bpf_code_maps { /* descriptors: not owned */
	int processes, codes, first_chunk, chunks;
};

/* NULL: `error` says why. */
struct bpf_code_loader *bpf_code_loader_new(const struct bpf_code_maps *maps, struct error *error);
void bpf_code_loader_free(struct bpf_code_loader *loader); /* NULL is fine */

/* As backend_vtable.load_code. ERROR_LIMIT: there is no room for more processes or
 * rows; ERROR_MEMORY; ERROR_SYSTEM. */
int bpf_code_load(struct bpf_code_loader *loader, uint32_t pid, const struct backend_code *code, size_t count);

/* Rows in the kernel, and bytes of their page indexes. */
uint64_t bpf_code_rows(const struct bpf_code_loader *loader);
uint64_t bpf_code_index_bytes(const struct bpf_code_loader *loader);

#endif
