/*
 * The code of the watched processes, as it is looked up where a sample is taken:
 * in the kernel's maps, or in memory that the monitor shares with the target.
 * collect/sample/stacks/code_loader.h writes it.
 *
 *   processes   -> a run of codes
 *   codes       a run: the maps of one process, sorted
 *   slots       8 bytes each: rows (abi/unwind_row.h), and behind each table's rows its
 *               page index
 */
#ifndef ABI_CODE_TABLE_H
#define ABI_CODE_TABLE_H

#include "abi/integers.h"

enum {
	/* Slots lie in chunks of 2 MB. The first is always there, others are made as they
	 * are needed. */
	CODE_SLOT_BYTES = 8,
	CODE_CHUNK_SHIFT = 18,
	CODE_CHUNK_SLOTS = 1 << CODE_CHUNK_SHIFT,
	CODE_CHUNKS = 256,
	WALK_CODES = 64 * 1024, /* maps of all processes */
};

/* Executable memory of one process. pc of rows count from `base`. */
struct walk_code {
	uint64_t start, end; /* run time */
	uint64_t base;       /* run-time address that rows count from */
	uint32_t rows;       /* number of the first row, over all chunks */
	uint32_t row_count;  /* 0: this code has no rules */
	uint32_t pages;      /* number of the slot, over all chunks, where its page index begins: two pages a slot */
	uint32_t page_count;
	uint32_t page_shift;
	uint32_t spare;
};

/* The code of one process: a run of `struct walk_code`, sorted. */
struct walk_process {
	uint32_t first, count;
};

/* The monitor writes them, the target reads them: another size needs another CHANNEL_VERSION. */
_Static_assert(sizeof(struct walk_code) == 48 && sizeof(struct walk_process) == 8, "sizes of the code table");

#endif
