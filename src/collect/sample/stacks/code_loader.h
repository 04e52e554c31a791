/*
 * Writes the unwind rows and the maps of the watched processes (abi/code_table.h) to the storage in which
 * walks look them up. Each backend that unwinds stacks itself has its own storage. The rows of a table are
 * loaded once for all processes that map it.
 *
 * A run is never changed in place: a new run is written, and then replaces the old one, whose room is used
 * again only when no walk can still use it.
 */
#ifndef COLLECT_SAMPLE_STACKS_CODE_LOADER_H
#define COLLECT_SAMPLE_STACKS_CODE_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "abi/code_table.h"
#include "base/error.h"
#include "collect/sample/backend.h"

struct code_loader;

/* The storage of code. All members are required. */
struct code_storage {
	void *context;
	struct walk_code *codes; /* WALK_CODES of them */
	/* Returns the memory of chunk `number`, or NULL if there is none. The first number is 0, and each
	 * further one is one more; the previous chunk is then not written any more. */
	uint8_t *(*add_chunk)(void *context, uint32_t number);
	/* Replaces the run of a process. Returns 0, or a negative error after which the previous run is
	 * still set. */
	int (*set_process)(void *context, uint32_t pid, const struct walk_process *process);
	/* Removes the run of a process: its code is unknown. */
	void (*drop_process)(void *context, uint32_t pid);
	void (*release)(void *context);
};

/* Owns the storage from now on, and releases it even in case of an error. Returns NULL if that fails, with
 * the reason in `error`. */
struct code_loader *code_loader_new(const struct code_storage *storage, struct error *error);
void code_loader_free(struct code_loader *loader); /* NULL is fine */

/* As backend_vtable.load_code. Returns 0, ERROR_LIMIT if there is no room for more processes or rows,
 * ERROR_MEMORY or ERROR_SYSTEM. */
int code_loader_load(struct code_loader *loader, uint32_t pid, const struct backend_code *code, size_t count);

/* Return the number of rows that were loaded, and the bytes of their page indexes. */
uint64_t code_loader_rows(const struct code_loader *loader);
uint64_t code_loader_index_bytes(const struct code_loader *loader);

#endif
