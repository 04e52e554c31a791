/*
 * The FDEs of a file that count: of all that its sections hold, those inside
 * its text, sorted, without overlaps. Life cycle: zeroed, fde_list_read once
 * per section, fde_list_settle, fde_list_release.
 */
#ifndef UNWIND_FDE_LIST_H
#define UNWIND_FDE_LIST_H

#include "unwind/cfi.h"

struct fde_item {
	uint32_t start; /* minus base */
	uint32_t size;
	struct cfi_position position;
};

struct fde_list {
	struct fde_item *items; /* owned */
	size_t count;
	size_t capacity;
	uint64_t base; /* set by the caller: the text range */
	uint64_t end;
};

void fde_list_release(struct fde_list *list);

/* Adds the FDEs of a section as those of cfi part `part`; damaged ones and
 * those outside of the text are counted in *skipped. The section's CIEs are
 * handed over to *cies (owned by the caller, also on failure). Returns 0 or
 * ERROR_MEMORY. */
int fde_list_read(struct fde_list *list, const struct cfi_section *section, unsigned part, struct cfi_cie **cies,
		  size_t *cie_count, uint64_t *skipped);

/* Sorts and makes each address belong to one FDE: .eh_frame's before
 * .debug_frame's, and of two overlapping ones the later start wins, as in the
 * search of .eh_frame_hdr by the language runtimes. Returns 0 or ERROR_MEMORY. */
int fde_list_settle(struct fde_list *list);

#endif
