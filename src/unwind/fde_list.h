/*
 * The FDEs of a file that make rows: those inside the text, sorted, without overlaps. Life cycle: zeroed,
 * fde_list_read once for each section, fde_list_settle, fde_list_release.
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

/* Adds the FDEs of a section to the list, with the number `part` of the section in unwind_cfi.parts. Counts damaged
 * FDEs and those outside of the text in *skipped. Passes the section's CIEs to the caller in *cies, also on
 * failure; the caller frees them. Returns 0 or ERROR_MEMORY. */
int fde_list_read(struct fde_list *list, const struct cfi_section *section, unsigned part, struct cfi_cie **cies,
		  size_t *cie_count, uint64_t *skipped);

/* Sorts, and assigns each address to one FDE: .eh_frame precedes .debug_frame, and of two overlapping FDEs the one
 * that starts later wins, as in the language runtimes' search of .eh_frame_hdr. Returns 0 or ERROR_MEMORY. */
int fde_list_settle(struct fde_list *list);

#endif
