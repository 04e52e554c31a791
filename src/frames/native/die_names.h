/* Reads names from a function's DIE and from the DIEs that it refers to. */
#ifndef FRAMES_NATIVE_DIE_NAMES_H
#define FRAMES_NATIVE_DIE_NAMES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/hash_map.h"
#include "frames/native/lines.h"

struct die_name {
	Dwarf_Die origin;    /* the abstract instance, the same for all copies of a function in a unit */
	const char *name;    /* DW_AT_name, or NULL */
	const char *linkage; /* DW_AT_linkage_name; in a language without mangled names, the name; or NULL */
	const char *file;    /* file of its declaration, or NULL */
	uint32_t line;       /* line of its declaration, or 0 */
	bool is_external;    /* visible outside of its unit */
	bool is_scoped;      /* its language has namespaces */
};

/* Reads the names of a DIE. All texts are valid until the module's file is closed, `file` until `lines` is released. */
void die_name_read(Dwarf_Die *die, struct line_tables *lines, struct die_name *name);
/* Returns only `origin`, which is cheap. */
Dwarf_Die die_origin(Dwarf_Die *die);

/* Returns whether an inlined function is no frame of its own, but a part of the function that calls it. So is the part of
 * cpprof_tick that include/cpprof/runtime.h inlines into the program: its caller counts as the function that ticks. So
 * is each function with the attribute `artificial`, which gcc's manual describes as useful "for small inline wrappers that
 * if possible should appear during debugging as a unit". The C library declares the wrappers of _FORTIFY_SOURCE so; they have the
 * names of the functions that they call. The inlined code of probe points (include/cpprof/profiler.h) is artificial, too, but
 * stays frames: collect/count charges its time to [hooks]. */
bool die_is_part_of_caller(Dwarf_Die *inlined);

/* A cache of children of DIEs, to find the parents of a DIE, which DWARF does not store. Life cycle: init, any
 * number of die_qualified_name for one module, release. */
struct die_parents {
	struct hash_map first_by_die; /* DIE -> index of its first child in children */
	struct die_child {
		uint64_t offset; /* in its section; the end of a DIE's list is UINT64_MAX */
		uint64_t end;    /* offset of its next sibling */
		Dwarf_Die die;
	} * children;
	size_t child_count, child_capacity;
};

void die_parents_init(struct die_parents *parents);
void die_parents_release(struct die_parents *parents);

/* Appends "ns::(anonymous namespace)::type::name" for a function without a linkage name. Returns 0 or a negative
 * error. */
int die_qualified_name(struct die_parents *parents, const struct die_name *name, struct buffer *text);

#endif
