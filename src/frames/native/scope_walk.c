/* Walks the DIEs of one unit. */
#include <dwarf.h>

#include "base/array.h"
#include "frames/native/die_names.h"
#include "frames/native/live_code.h"
#include "frames/native/scopes.h"

/* Compilers do not write deeper trees; only damaged files have them. */
enum { DEPTH_MAX = 400 };

struct walk {
	struct scopes *scopes;
	uint32_t unit;
	struct slice slice; /* the unit's addresses */
	size_t without;     /* number of them that have no subprogram yet */
	bool everywhere;    /* also look into DIEs that do not contain an address themselves */
	Dwarf_Die *host;    /* the subprogram whose inside is walked, or NULL */
	struct progress *progress;
};

struct slice scopes_slice(const struct scopes *scopes, struct slice within, uint64_t start, uint64_t end)
{
	size_t low = within.first, high = within.end;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (scopes->addresses[middle].address < start)
			low = middle + 1;
		else
			high = middle;
	}
	struct slice slice = { low, low };
	while (slice.end < within.end && scopes->addresses[slice.end].address < end)
		slice.end++;
	return slice;
}

/* Goes to the next sibling. Returns false at the end, or if a damaged reference leads back. */
static bool next_sibling(Dwarf_Die *die)
{
	Dwarf_Die next;
	if (dwarf_siblingof(die, &next) != 0 || (uintptr_t)next.addr <= (uintptr_t)die->addr)
		return false;
	*die = next;
	return true;
}

/* Makes the DIE the scope of those addresses in it whose scope is `outer`. Sets *reached to a slice that contains
 * these addresses, empty if there are none, and *scope to the new scope or SCOPE_NONE. */
static int assign_scope(struct walk *walk, Dwarf_Die *die, uint32_t outer, struct slice within, uint32_t *scope,
			struct slice *reached)
{
	struct scopes *scopes = walk->scopes;
	struct live_ranges ranges = { .first_code = scopes->first_code };
	*reached = (struct slice){ within.end, within.first };
	*scope = SCOPE_NONE;
	while (live_range_next(&ranges, die)) {
		struct slice slice = scopes_slice(scopes, within, ranges.start, ranges.end);
		for (size_t i = slice.first; i < slice.end; i++) {
			if (scopes->addresses[i].scope != outer)
				continue;
			if (*scope == SCOPE_NONE) {
				if (ARRAY_RESERVE(scopes->scopes, scopes->scope_capacity, scopes->scope_count + 1) < 0)
					return ERROR_MEMORY;
				*scope = (uint32_t)scopes->scope_count;
				struct scope *added = &scopes->scopes[scopes->scope_count++];
				*added = (struct scope){ .die = *die,
							 .outer = outer,
							 .unit = walk->unit,
							 .is_part = outer != SCOPE_NONE && die_is_part_of_caller(die) };
				if (outer == SCOPE_NONE && walk->host)
					added->host = *walk->host;
			}
			scopes->addresses[i].scope = *scope;
			walk->without -= outer == SCOPE_NONE;
			if (i < reached->first)
				reached->first = i;
			if (i + 1 > reached->end)
				reached->end = i + 1;
		}
	}
	return 0;
}

/* Returns whether a block may contain an address of the slice. It may if it has no ranges. */
static bool may_contain(struct walk *walk, Dwarf_Die *die, struct slice within)
{
	struct live_ranges ranges = { .first_code = walk->scopes->first_code };
	bool has_ranges = false;
	if (walk->everywhere)
		return true;
	while (live_range_next(&ranges, die)) {
		struct slice slice = scopes_slice(walk->scopes, within, ranges.start, ranges.end);
		if (slice.first < slice.end)
			return true;
		has_ranges = true;
	}
	return !has_ranges;
}

static int walk_subprogram(struct walk *walk, Dwarf_Die *die, int depth);
static int walk_declarations(struct walk *walk, Dwarf_Die *parent, int depth);

/* Walks a type that is declared in a function. Its functions are not nested functions. */
static int walk_members(struct walk *walk, Dwarf_Die *type, int depth)
{
	Dwarf_Die *host = walk->host;
	walk->host = NULL;
	int status = walk_declarations(walk, type, depth);
	walk->host = host;
	return status;
}

/* Walks the inside of a function: inlined functions, and blocks around them. */
static int walk_block(struct walk *walk, Dwarf_Die *parent, uint32_t outer, struct slice within, int depth)
{
	Dwarf_Die die;
	int status = 0;
	if (depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		uint32_t scope;
		struct slice reached;
		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			status = assign_scope(walk, &die, outer, within, &scope, &reached);
			if (status == 0 && reached.first < reached.end)
				status = walk_block(walk, &die, scope, reached, depth + 1);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if (may_contain(walk, &die, within))
				status = walk_block(walk, &die, outer, within, depth + 1);
			break;
		case DW_TAG_subprogram: /* a nested function (GNU C, Ada, D) is outside of its parent's code */
			status = walk_subprogram(walk, &die, depth + 1);
			break;
		case DW_TAG_class_type: /* the type of a lambda: so is its operator() */
		case DW_TAG_structure_type:
			status = walk_members(walk, &die, depth + 1);
			break;
		default:
			break;
		}
	} while (status == 0 && next_sibling(&die));
	return status;
}

static int walk_subprogram(struct walk *walk, Dwarf_Die *die, int depth)
{
	uint32_t scope;
	struct slice reached;
	progress_tick(walk->progress);
	int status = assign_scope(walk, die, SCOPE_NONE, walk->slice, &scope, &reached);
	if (status < 0 || depth > DEPTH_MAX)
		return status;
	Dwarf_Die *host = walk->host;
	/* Looks for nested functions in a function that has none of the addresses. The slice for its inlined functions
	 * is empty. */
	struct slice nothing = { walk->slice.first, walk->slice.first };
	walk->host = die;
	if (reached.first < reached.end)
		status = walk_block(walk, die, scope, reached, depth + 1);
	else if (walk->everywhere)
		status = walk_block(walk, die, SCOPE_NONE, nothing, depth + 1);
	walk->host = host;
	return status;
}

/* Walks the outside of functions: units, namespaces and types. */
static int walk_declarations(struct walk *walk, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;
	int status = 0;
	if (depth > DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			status = walk_subprogram(walk, &die, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
			status = walk_declarations(walk, &die, depth + 1);
			break;
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			if (walk->everywhere)
				status = walk_declarations(walk, &die, depth + 1);
			break;
		default:
			break;
		}
		/* When all addresses are found, the rest of the unit is not needed. */
	} while (status == 0 && walk->without > 0 && next_sibling(&die));
	return status;
}

int scopes_walk_unit(struct scopes *scopes, uint32_t unit, struct slice slice, struct progress *progress)
{
	struct walk walk = {
		.scopes = scopes, .unit = unit, .slice = slice, .without = slice.end - slice.first, .progress = progress
	};
	Dwarf_Die die = scopes->units[unit];
	int status = walk_declarations(&walk, &die, 0);
	if (status == 0 && walk.without > 0) {
		/* Some code is in a function at an unusual position of the tree, which compilers rarely write: look inside types
		 * and functions too. */
		walk.everywhere = true;
		status = walk_declarations(&walk, &die, 0);
	}
	return status;
}
