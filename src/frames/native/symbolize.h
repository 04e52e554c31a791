/*
 * Gives every location of a profile its frames: function, file, line, inlined
 * functions. Each address is looked at once; each unit's DIE tree is walked
 * once, however many addresses lie in it, and so is its line table.
 *
 * Symbols come from the first of these that has any: the file's .symtab, the
 * separate debug file's (by build-id, then .gnu_debuglink; debuginfod only
 * when DEBUGINFOD_URLS is set), .gnu_debugdata together with .dynsym, .dynsym.
 * The outermost function of an address is named by its symbol (symbols.h says
 * by which of several), so that names do not depend on debug information;
 * inlined functions, files and lines come from DWARF. Without a symbol it is,
 * in this order: DWARF's name; "qsort@plt" in a PLT; `_start` and `main` of
 * a stripped program; "module+0x1a40" after the function's start in .eh_frame;
 * "module+" the address itself.
 *
 * Clones and parts of a function (`parse.cold`, `parse.constprop.0`) and its
 * inlined copies are one function, `parse`; its `linkage` is the shortest
 * symbol that was met.
 */
#ifndef FRAMES_NATIVE_SYMBOLIZE_H
#define FRAMES_NATIVE_SYMBOLIZE_H

#include <stddef.h>

#include "base/error.h"
#include "profile/profile.h"

struct symbolize_options {
	/* Opens the ELF file behind a module, or returns -1; NULL: open the
	 * module's path. The recorder uses it to reach files in a container's
	 * root or already deleted. The caller of it closes the descriptor. */
	int (*open_module)(void *context, uint32_t module);
	/* Called every 20 ms or so, and once at the end, with locations done and
	 * locations in all; may be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	void *context;
};

/* Sets `symbolized`. What cannot be read or named is named after its module
 * and counted in the profile's notes as "warning" (file changed since it was
 * recorded: other build-id; not readable; ...). Fails only for want of memory.
 * Of a profile that has gained locations since, only those are named, once
 * `symbolized` is taken back. */
int symbolize_profile(struct profile *profile, const struct symbolize_options *options, struct error *error);

#endif
