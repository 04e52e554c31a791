/*
 * What DWARF says about the addresses of one module: the function that each
 * lies in, the functions inlined there, and its line.
 *
 * Every address gets a scope; scopes form a forest. Following `outer` from an
 * address' scope gives its frames, the innermost first:
 *
 *	scope 7 (inlined: min)  ->  scope 5 (inlined: clamp)  ->  scope 2 (subprogram: draw)  ->  none
 *
 * The tree of DIEs of each unit is walked once, whatever the number of its
 * addresses; a subprogram that contains none of them is passed over.
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
};

struct scoped_address {
	uint64_t address; /* numbered as in DWARF */
	uint32_t index;   /* the caller's */
	uint32_t unit;    /* index in units, or SCOPE_NONE */
	uint32_t scope;   /* index in scopes, or SCOPE_NONE */
	uint32_t line;    /* 0: unknown */
	const char *file; /* NULL: unknown */
};

struct scopes {
	struct scoped_address *addresses; /* in the caller's order once scopes_find has returned */
	size_t address_count;
	Dwarf_Die *units;
	size_t unit_count, unit_capacity;
	struct scope *scopes;
	size_t scope_count, scope_capacity;
	struct line_tables lines;
};

/* The addresses ascend and differ. Without debug information, or where it is
 * damaged, addresses stay without unit or scope: that is no error. Returns 0
 * or ERROR_MEMORY; call scopes_release in any case. */
int scopes_find(struct scopes *scopes, struct module_file *file, const uint64_t *addresses, size_t count,
		struct progress *progress);
void scopes_release(struct scopes *scopes);

/* Source file (NULL: not known) and line of the call that a scope was inlined
 * for; the file's name, as those of addresses, is valid until scopes_release. */
const char *scope_call_line(struct scopes *scopes, struct scope *scope, uint32_t *line);

/* The slice of addresses that [start, end) contains, between two indices. */
struct slice {
	size_t first;
	size_t end;
};
struct slice scopes_slice(const struct scopes *scopes, struct slice within, uint64_t start, uint64_t end);

/* --- for scopes.c: scope_walk.c --- */

/* Gives scopes to the addresses of a slice, all of which are of one unit. */
int scopes_walk_unit(struct scopes *scopes, uint32_t unit, struct slice slice, struct progress *progress);

#endif
