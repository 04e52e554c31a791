/*
 * The code tables of the observed processes, in the form in which walks look them up where a sample is taken: in the
 * kernel's maps, or in memory that the monitor shares with the target. collect/sample/stacks/code_loader.h writes
 * them.
 *
 *   processes   -> a run of codes
 *   codes       a run: the mappings of one process, sorted
 *   slots       8 bytes each: the rows of a table (abi/unwind_row.h), then its page index
 */
#ifndef ABI_CODE_TABLE_H
#define ABI_CODE_TABLE_H

#include "abi/interpreter.h"

enum {
	/* Chunks of slots are 2 MB. The first always exists, the others are created when they are needed. */
	CODE_SLOT_BYTES = 8,
	CODE_CHUNK_SHIFT = 18,
	CODE_CHUNK_SLOTS = 1 << CODE_CHUNK_SHIFT,
	CODE_CHUNKS = 256,
	WALK_CODES = 64 * 1024, /* mappings of all processes together */
};

/* An executable mapping of one process. The `pc` of its rows is relative to `base`. */
struct walk_code {
	uint64_t start, end; /* run-time addresses */
	uint64_t base;       /* run-time address to which the `pc` of rows is relative */
	uint32_t rows;       /* index of the first row, counted over all chunks */
	uint32_t row_count;  /* 0: this code has no unwind rows */
	uint32_t pages;      /* index of the first slot of its page index, over all chunks: two pages per slot */
	uint32_t page_count;
	uint32_t page_shift;
	uint32_t spare;
};

/* The code table of one process: a run of `struct walk_code`, sorted by address; and its interpreter. */
struct walk_process {
	uint32_t first, count;
	struct interpreter interpreter;
};

/* The monitor writes these structs and the target reads them: another size needs another CHANNEL_VERSION. */
_Static_assert(sizeof(struct walk_code) == 48 && sizeof(struct walk_process) == 72, "sizes of the code table");

#endif
