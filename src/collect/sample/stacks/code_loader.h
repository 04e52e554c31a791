/*
 * Rows and maps of the watched processes (abi/code_table.h), put where the walks look
 * them up: each backend that walks stacks itself has its own storage. The rows of a
 * table are loaded once, whoever maps it.
 *
 * A run is never changed in place: a new one is written and then put in the old
 * one's stead, whose room is used again only when no walk can still be in it.
 */
#ifndef COLLECT_SAMPLE_STACKS_CODE_LOADER_H
#define COLLECT_SAMPLE_STACKS_CODE_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "abi/code_table.h"
#include "base/error.h"
#include "collect/sample/backend.h"

struct code_loader;

/* Where code is written to. All members are required. */
struct code_storage {
	void *context;
	struct walk_code *codes; /* WALK_CODES of them */
	/* The memory of chunk `number`, which is 0 first and then one more each time: the
	 * one before is not written to any more. NULL: it cannot be had. */
	uint8_t *(*add_chunk)(void *context, uint32_t number);
	/* Puts a run in the stead of a process's last one. 0, or a negative error, and
	 * then the last one stays. */
	int (*set_process)(void *context, uint32_t pid, const struct walk_process *process);
	/* The process has no code that is known. */
	void (*drop_process)(void *context, uint32_t pid);
	void (*release)(void *context);
};

/* Takes the storage over, and releases it in any case. NULL: `error` says why. */
struct code_loader *code_loader_new(const struct code_storage *storage, struct error *error);
void code_loader_free(struct code_loader *loader); /* NULL is fine */

/* As backend_vtable.load_code. ERROR_LIMIT: there is no room for more processes or
 * rows; ERROR_MEMORY; ERROR_SYSTEM. */
int code_loader_load(struct code_loader *loader, uint32_t pid, const struct backend_code *code, size_t count);

/* Rows that were loaded, and bytes of their page indexes. */
uint64_t code_loader_rows(const struct code_loader *loader);
uint64_t code_loader_index_bytes(const struct code_loader *loader);

#endif
