/*
 * DWARF's description of the addresses of one module: the function that contains each, the functions inlined there,
 * and its line.
 *
 * Every address gets a scope; scopes form a forest. Following `outer` from the scope of an address gives its frames,
 * the innermost first:
 *
 *   scope 7 (inlined: min)  ->  scope 5 (inlined: clamp)  ->  scope 2 (subprogram: draw)  ->  none
 *
 * The tree of DIEs of each unit is walked once for all its addresses. A subprogram that contains none of them is
 * skipped.
 */
#ifndef FRAMES_NATIVE_SCOPES_H
#define FRAMES_NATIVE_SCOPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frames/native/lines.h"
#include "frames/native/module_file.h"
#include "frames/progress.h"

enum { SCOPE_NONE = UINT32_MAX };

struct scope {
	Dwarf_Die die;  /* DW_TAG_subprogram or DW_TAG_inlined_subroutine */
	uint32_t outer; /* index in scopes, or SCOPE_NONE */
	uint32_t unit;  /* index in units */
	bool is_part;   /* an inlined function that is no frame of its own: die_is_part_of_caller */
	Dwarf_Die host; /* of a nested function (GNU C, Ada, D): DW_TAG_subprogram around it; addr is NULL: none */
};

struct scoped_address {
	uint64_t address; /* as in DWARF */
	uint32_t index;   /* index in the caller's array */
	uint32_t unit;    /* index in units, or SCOPE_NONE */
	uint32_t scope;   /* index in scopes, or SCOPE_NONE */
	uint32_t line;    /* 0: unknown */
	uint32_t discriminator;
	const char *file; /* NULL: unknown */
};

struct scopes {
	struct scoped_address *addresses; /* in the caller's order after scopes_find */
	size_t address_count;
	Dwarf_Die *units;
	size_t unit_count, unit_capacity;
	struct scope *scopes;
	size_t scope_count, scope_capacity;
	struct line_tables lines;
	uint64_t first_code; /* live_code_start */
};

/* Finds the scopes of addresses, which are distinct and ascending. Without debug information, or where it is
 * damaged, addresses have no unit or scope; that is not an error. Returns 0 or ERROR_MEMORY; call scopes_release in
 * any case. */
int scopes_find(struct scopes *scopes, struct module_file *file, const uint64_t *addresses, size_t count,
		struct progress *progress);
/* The same, also for few addresses in the C library, whose debug information may take long to unpack. */
int scopes_find_at_any_cost(struct scopes *scopes, struct module_file *file, const uint64_t *addresses, size_t count,
			    struct progress *progress);
void scopes_release(struct scopes *scopes);

/* A position in the source. `file` (NULL: unknown), like the files of addresses, is valid until scopes_release. */
struct source_place {
	const char *file;
	uint32_t line; /* 0: unknown */
	uint32_t discriminator;
};

/* Returns the place of the call that a scope was inlined for. */
struct source_place scope_call_place(struct scopes *scopes, struct scope *scope);

/* A range of addresses, as indexes. scopes_slice returns the part of `within` that [start, end) contains. */
struct slice {
	size_t first;
	size_t end;
};
struct slice scopes_slice(const struct scopes *scopes, struct slice within, uint64_t start, uint64_t end);

/* --- shared by scopes.c and scope_walk.c --- */

/* Gives scopes to the addresses of a slice, which are all in one unit. */
int scopes_walk_unit(struct scopes *scopes, uint32_t unit, struct slice slice, struct progress *progress);

#endif
